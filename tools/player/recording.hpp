#pragma once
// Files of ZeroMQ messages as they were (container zmqrec, docs/player.md): per message a u32 number of
// parts, then per part a u64 size and the bytes; little-endian, nothing before, between or behind. A name
// that ends in .gz is gzip of the same. Readers and writers are used by one thread each.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

struct gzFile_s;

namespace pixhist {

using RecordedMessage = std::vector<std::vector<std::byte>>;

/// A file that cannot be read or written, or is torn; the message names it and says where.
class RecordingError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class RecordingFile {
 public:
  /// Throws RecordingError.
  RecordingFile(const std::string& path, const char* mode);
  gzFile_s* get() const { return file_.get(); }
  const std::string& path() const { return path_; }
  [[noreturn]] void fail(const std::string& what) const;
  /// Writes what is left; throws RecordingError if that fails.
  void close();

 private:
  struct Close {
    void operator()(gzFile_s* file) const;
  };
  std::string path_;
  std::unique_ptr<gzFile_s, Close> file_;
};

class RecordingReader {
 public:
  /// Reads gzip whatever the name is. Throws RecordingError.
  explicit RecordingReader(const std::string& path) : file_(path, "rb") {}

  /// False at the end of the file. Throws RecordingError where the file is torn, or no recording. Allocates
  /// no more than the file holds, whatever its numbers say.
  bool next(RecordedMessage& message);

 private:
  std::size_t read_some(std::byte* out, std::size_t bytes);
  void read(std::byte* out, std::size_t bytes);
  std::vector<std::byte> read_part();
  [[noreturn]] void fail_torn() const;

  RecordingFile file_;
  std::uint64_t messages_ = 0;  // read whole
};

class RecordingWriter {
 public:
  /// Makes the file, which must not be there unless `overwrite`. Throws RecordingError.
  RecordingWriter(const std::string& path, bool overwrite);

  void write(std::span<const std::span<const std::byte>> parts);
  /// Hands everything to the operating system, so that a file cut off later ends behind a whole message.
  void flush();
  void close() { file_.close(); }

 private:
  void write_bytes(const void* bytes, std::size_t size);

  RecordingFile file_;
};

}  // namespace pixhist
