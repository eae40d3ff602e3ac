#include "service/logging/line_formatters.hpp"

#include <pthread.h>
#include <spdlog/details/log_msg.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <ctime>

#include "proto/json.hpp"

namespace pixhist {
namespace {

std::string utc_time(spdlog::log_clock::time_point time) {
  const auto since_epoch =
      std::chrono::duration_cast<std::chrono::milliseconds>(time.time_since_epoch()).count();
  const std::time_t seconds = static_cast<std::time_t>(since_epoch / 1000);
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  std::array<char, 24> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%S", &parts);
  std::array<char, 32> whole{};
  std::snprintf(whole.data(), whole.size(), "%s.%03dZ", text.data(), static_cast<int>(since_epoch % 1000));
  return whole.data();
}

/// Sinks format in the thread that logs, so this is the name of the record's thread.
std::string thread_name() {
  std::array<char, 16> name{};  // the kernel's limit
  pthread_getname_np(pthread_self(), name.data(), name.size());
  return name.data();
}

std::string_view level_name(spdlog::level::level_enum level) {
  constexpr std::array<std::string_view, 7> names{"trace", "debug",    "info", "warn",
                                                  "error", "critical", "off"};
  return names[static_cast<std::size_t>(level)];
}

void append(spdlog::memory_buf_t& line, std::string_view text) {
  line.append(text.data(), text.data() + text.size());
}

}  // namespace

std::string printable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte != 0x7F) {
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else {
      std::array<char, 8> hex{};
      std::snprintf(hex.data(), hex.size(), "\\x%02x", static_cast<unsigned>(byte));
      out += hex.data();
    }
  }
  return out;
}

void TextLineFormatter::format(const spdlog::details::log_msg& message, spdlog::memory_buf_t& line) {
  constexpr std::array<std::string_view, 7> names{"TRACE", "DEBUG", "INFO ", "WARN ",
                                                  "ERROR", "CRIT ", "OFF  "};
  append(line, utc_time(message.time));
  append(line, " ");
  append(line, names[static_cast<std::size_t>(message.level)]);
  append(line, " [" + printable(thread_name()) + "] ");
  append(line, printable({message.payload.data(), message.payload.size()}));
  append(line, "\n");
}

std::unique_ptr<spdlog::formatter> TextLineFormatter::clone() const {
  return std::make_unique<TextLineFormatter>();
}

void JsonLineFormatter::format(const spdlog::details::log_msg& message, spdlog::memory_buf_t& line) {
  const nlohmann::ordered_json record = {
      {"time", utc_time(message.time)},
      {"level", level_name(message.level)},
      {"thread", thread_name()},
      {"message", std::string(message.payload.data(), message.payload.size())}};
  append(line, dump_json(record));
  append(line, "\n");
}

std::unique_ptr<spdlog::formatter> JsonLineFormatter::clone() const {
  return std::make_unique<JsonLineFormatter>();
}

}  // namespace pixhist
