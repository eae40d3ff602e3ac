#pragma once
// Configurations from text, for the tests of this folder.

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "service/config/config_loader.hpp"

namespace pixhist::test {

/// A file that lives as long as this.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& text) {
    static int count = 0;
    path_ = (std::filesystem::temp_directory_path() /
             ("pixhist_config_" + std::to_string(::getpid()) + "_" + std::to_string(count++) + ".json"))
                .string();
    std::ofstream(path_, std::ios::binary) << text;
  }
  TemporaryFile(const TemporaryFile&) = delete;  // one owner of the file
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() { std::filesystem::remove(path_); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

inline LoadResult load_set(std::vector<std::string> set) {
  return load_config({std::nullopt, {}, std::move(set)});
}

inline LoadResult load_text(const std::string& text, std::vector<std::string> set = {},
                            std::vector<std::pair<std::string, std::string>> environment = {}) {
  const TemporaryFile file(text);
  return load_config({file.path(), std::move(environment), std::move(set)});
}

/// The rule of the one error at `path`; "" if there is none or more than one.
inline std::string rule_at(const LoadResult& result, const std::string& path) {
  std::string rule;
  int found = 0;
  for (const auto& error : result.errors) {
    if (error.path != path) continue;
    rule = error.rule;
    ++found;
  }
  return found == 1 ? rule : "";
}

inline bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// Two modules, one above the other.
inline std::vector<std::string> two_modules(std::vector<std::string> more = {}) {
  std::vector<std::string> set{"detector.rows=1024",         "sources.0.shape=[512,1024]",
                               "sources.0.origin=[0,0]",     "sources.1.endpoint=tcp://127.0.0.1:30002",
                               "sources.1.shape=[512,1024]", "sources.1.origin=[512,0]"};
  set.insert(set.end(), more.begin(), more.end());
  return set;
}

}  // namespace pixhist::test
