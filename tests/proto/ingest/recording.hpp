#pragma once
// Reads recorded streams: gzip of message after message, each u32 part count, then per part u64 size and
// bytes, little-endian.

#include <zlib.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace pixhist::test {

class Recording {
 public:
  explicit Recording(const std::string& path) : file_(gzopen(path.c_str(), "rb")), path_(path) {
    if (!file_) throw std::runtime_error("cannot read " + path);
  }

  /// The parts of the next message; nothing at the end.
  std::optional<std::vector<std::vector<std::byte>>> next() {
    std::uint32_t count = 0;
    if (!read(&count, sizeof count)) return std::nullopt;
    std::vector<std::vector<std::byte>> parts(count);
    for (auto& part : parts) {
      std::uint64_t size = 0;
      if (!read(&size, sizeof size)) throw std::runtime_error(path_ + " is cut");
      part.resize(size);
      if (size > 0 && !read(part.data(), size)) throw std::runtime_error(path_ + " is cut");
    }
    return parts;
  }

 private:
  struct Close {
    void operator()(gzFile file) const { gzclose(file); }
  };

  /// False at the end of the file.
  bool read(void* to, std::size_t bytes) {
    const int got = gzread(file_.get(), to, static_cast<unsigned>(bytes));
    if (got != 0 && static_cast<std::size_t>(got) != bytes) throw std::runtime_error(path_ + " is cut");
    return got != 0;
  }

  std::unique_ptr<gzFile_s, Close> file_;
  std::string path_;
};

}  // namespace pixhist::test
