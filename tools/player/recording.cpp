#include "tools/player/recording.hpp"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>

namespace pixhist {

namespace {

constexpr std::size_t piece_bytes = 16U << 20;  // read or written at once

template <std::size_t Bytes>
std::array<std::byte, Bytes> little_endian(std::uint64_t value) {
  std::array<std::byte, Bytes> bytes{};
  for (std::size_t i = 0; i < Bytes; ++i) bytes[i] = static_cast<std::byte>(value >> (8 * i) & 0xFF);
  return bytes;
}

template <std::size_t Bytes>
std::uint64_t value_of(const std::array<std::byte, Bytes>& bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < Bytes; ++i) value |= std::to_integer<std::uint64_t>(bytes[i]) << (8 * i);
  return value;
}

std::string mode_for(const std::string& path, bool overwrite) {
  // T: not compressed. 1: fast, since detectors are. x: fails if the file is there.
  return std::string(path.ends_with(".gz") ? "wb1" : "wbT") + (overwrite ? "" : "x");
}

}  // namespace

void RecordingFile::Close::operator()(gzFile_s* file) const { gzclose(file); }

RecordingFile::RecordingFile(const std::string& path, const char* mode)
    : path_(path), file_(gzopen(path.c_str(), mode)) {
  if (!file_) throw RecordingError("cannot open " + path + ": " + std::strerror(errno));
  gzbuffer(file_.get(), 1U << 18);
}

void RecordingFile::fail(const std::string& what) const {
  int error = 0;
  const std::string reason = gzerror(file_.get(), &error);
  throw RecordingError(what + ' ' + path_ + ": " + (error == Z_ERRNO ? std::strerror(errno) : reason));
}

void RecordingFile::close() {
  if (gzclose(file_.release()) != Z_OK)
    throw RecordingError("cannot write the end of " + path_ + ": " + std::strerror(errno));
}

std::size_t RecordingReader::read_some(std::byte* out, std::size_t bytes) {
  std::size_t there = 0;
  while (there < bytes) {
    const auto piece = static_cast<unsigned>(std::min(bytes - there, piece_bytes));
    const int got = gzread(file_.get(), out + there, piece);
    if (got < 0) file_.fail("cannot read");
    if (got == 0) break;
    there += static_cast<std::size_t>(got);
  }
  return there;
}

void RecordingReader::read(std::byte* out, std::size_t bytes) {
  if (read_some(out, bytes) != bytes) fail_torn();
}

void RecordingReader::fail_torn() const {
  throw RecordingError(file_.path() + " is torn, or no recording: it ends inside message " +
                       std::to_string(messages_ + 1) + ", behind " + std::to_string(messages_) +
                       " whole ones");
}

std::vector<std::byte> RecordingReader::read_part() {
  std::array<std::byte, 8> size_bytes{};
  read(size_bytes.data(), size_bytes.size());
  std::vector<std::byte> part;
  for (auto left = value_of(size_bytes); left > 0;) {
    const auto piece = static_cast<std::size_t>(std::min<std::uint64_t>(left, piece_bytes));
    part.resize(part.size() + piece);
    read(part.data() + part.size() - piece, piece);
    left -= piece;
  }
  return part;
}

bool RecordingReader::next(RecordedMessage& message) {
  message.clear();
  std::array<std::byte, 4> count_bytes{};
  const auto got = read_some(count_bytes.data(), count_bytes.size());
  if (got == 0) {
    int error = Z_OK;
    gzerror(file_.get(), &error);
    if (error == Z_BUF_ERROR) fail_torn();  // gzip that ends before its own end
    return false;
  }
  if (got != count_bytes.size()) fail_torn();
  const auto parts = value_of(count_bytes);
  if (parts == 0) {
    throw RecordingError(file_.path() + " is no recording: message " + std::to_string(messages_ + 1) +
                         " has no part");
  }
  for (std::uint64_t i = 0; i < parts; ++i) message.push_back(read_part());
  ++messages_;
  return true;
}

RecordingWriter::RecordingWriter(const std::string& path, bool overwrite)
    : file_([&] {
        if (!overwrite && std::filesystem::exists(path)) {
          throw RecordingError(path + " is there already; take another name, or --overwrite");
        }
        return RecordingFile(path, mode_for(path, overwrite).c_str());
      }()) {}

void RecordingWriter::write_bytes(const void* bytes, std::size_t size) {
  const auto* at = static_cast<const char*>(bytes);
  while (size > 0) {
    const auto piece = static_cast<unsigned>(std::min(size, piece_bytes));
    if (gzwrite(file_.get(), at, piece) != static_cast<int>(piece)) file_.fail("cannot write");
    at += piece;
    size -= piece;
  }
}

void RecordingWriter::write(std::span<const std::span<const std::byte>> parts) {
  const auto count = little_endian<4>(parts.size());
  write_bytes(count.data(), count.size());
  for (const auto part : parts) {
    const auto size = little_endian<8>(part.size());
    write_bytes(size.data(), size.size());
    write_bytes(part.data(), part.size());
  }
}

void RecordingWriter::flush() {
  if (gzflush(file_.get(), Z_SYNC_FLUSH) != Z_OK) file_.fail("cannot write");
}

}  // namespace pixhist
