#pragma once
// What the receive thread says about each record it puts into the ring.

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace pixhist {

/// Names the run (sequence) a frame belongs to: a 128-bit hash of the key in the stream, so that a record
/// stays fixed-size and nothing is stored per key. An absent key is all zero.
struct RunKey {
  std::array<std::uint64_t, 2> hash{};
  bool present() const { return hash[0] != 0 || hash[1] != 0; }
  friend bool operator==(const RunKey&, const RunKey&) = default;
};

/// Hashes a key that comes in pieces. The same in every process; allocates nothing. Texts are not delimited:
/// at most one of them may vary in length.
class RunKeyBuilder {
 public:
  void add(std::string_view text);
  void add(std::uint64_t number);  // as 8 bytes, little-endian
  /// Never the absent key, not even for nothing.
  RunKey key() const;

 private:
  std::uint64_t a_ = 0xCBF29CE484222325ULL;  // FNV-1a
  std::uint64_t b_ = 0x9E3779B97F4A7C15ULL;  // add, rotate, multiply
  std::uint64_t bytes_ = 0;
};

/// Hash of a key's text: two 64-bit hashes, mixed in different ways; the same in every process. Never the
/// absent key, not even for "".
RunKey make_run_key(std::string_view text);

/// How the payload is encoded. Everything but raw is decoded behind the copy (pipeline decode stage).
enum class Encoding : std::uint8_t { raw, bslz4, lz4, packed4, packed12 };

/// frame: carries pixels. start, end: run marks, no payload, in band so that they keep their place.
enum class RecordKind : std::uint8_t { frame, run_start, run_end };

/// Bits of RecordInfo::flags and FrameEntry::flags.
namespace frame_flags {
inline constexpr std::uint16_t complete = 1;  // no part of the frame was lost before it was published
}

struct RecordInfo {
  RecordKind kind = RecordKind::frame;
  Encoding encoding = Encoding::raw;
  std::uint16_t flags = frame_flags::complete;
  std::uint16_t tag = 0;       // 16 bits of the stream's own choice, travels to the device
  bool has_number = false;     // without a number the sequence ledger judges nothing
  bool has_expected = false;   // run_end: the stream said how many frames there were
  std::uint64_t number = 0;    // frame number
  std::uint64_t expected = 0;  // run_end: frames in the run
  RunKey run;
  std::chrono::nanoseconds received{};  // steady clock, at receipt of the message
};

/// A committed record. Offsets and sizes in bytes; positions count records' bytes and padding since the ring
/// was made.
struct Record {
  RecordInfo info;
  std::uint64_t end_position = 0;  // ring space up to here is free once the record is released
  std::uint64_t offset = 0;        // of the payload from the start of the ring's memory, 16-byte aligned
  std::uint32_t payload_bytes = 0;
  std::uint32_t table_bytes = 0;  // block table, right behind align16(payload)
};

}  // namespace pixhist
