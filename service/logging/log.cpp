#include "service/logging/log.hpp"

#include <spdlog/logger.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/sinks/stdout_sinks.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <utility>
#include <vector>

#include "service/logging/line_formatters.hpp"

namespace pixhist {
namespace {

/// Appends to a file that can be opened anew while other threads log. spdlog's own file sink would lose its
/// file if the new one could not be opened.
class ReopenableFileSink final : public spdlog::sinks::base_sink<std::mutex> {
 public:
  explicit ReopenableFileSink(std::string path) : path_(std::move(path)), file_(open(path_)) {}

  void reopen() {
    File fresh = open(path_);
    const std::lock_guard lock(mutex_);
    file_.swap(fresh);
  }

 protected:
  void sink_it_(const spdlog::details::log_msg& message) override {
    spdlog::memory_buf_t line;
    formatter_->format(message, line);
    if (std::fwrite(line.data(), 1, line.size(), file_.get()) != line.size())
      throw spdlog::spdlog_ex("cannot write to " + path_, errno);
  }
  void flush_() override {
    if (std::fflush(file_.get()) != 0) throw spdlog::spdlog_ex("cannot write to " + path_, errno);
  }

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  using File = std::unique_ptr<std::FILE, Close>;

  static File open(const std::string& path) {
    File file(std::fopen(path.c_str(), "ae"));
    if (!file)
      throw LogFileError("log.file is \"" + path +
                         "\", which cannot be opened for appending: " + std::strerror(errno) +
                         ". Make its directory writable for this user, or set log.file to null.");
    return file;
  }

  const std::string path_;
  File file_;  // under mutex_
};

std::unique_ptr<spdlog::formatter> make_formatter(const std::string& format) {
  if (format == "json") return std::make_unique<JsonLineFormatter>();
  return std::make_unique<TextLineFormatter>();
}

}  // namespace

std::shared_ptr<spdlog::logger> make_logger(const Config& config) {
  std::vector<spdlog::sink_ptr> sinks{std::make_shared<spdlog::sinks::stderr_sink_mt>()};
  if (config.log_file) sinks.push_back(std::make_shared<ReopenableFileSink>(*config.log_file));
  auto logger = std::make_shared<spdlog::logger>("pixhist", sinks.begin(), sinks.end());
  logger->set_formatter(make_formatter(config.log_format));
  logger->set_level(spdlog::level::from_str(config.log_level));
  logger->flush_on(spdlog::level::trace);
  return logger;
}

void reopen_logs(spdlog::logger& logger) {
  for (const auto& sink : logger.sinks()) {
    auto* const file = dynamic_cast<ReopenableFileSink*>(sink.get());
    if (file == nullptr) continue;
    try {
      file->reopen();
    } catch (const LogFileError& error) {
      logger.error("kept the old log file: {}", error.what());
    }
  }
}

}  // namespace pixhist
