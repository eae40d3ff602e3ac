#include "service/agents/paused_read.hpp"

#include <algorithm>
#include <chrono>
#include <thread>

#include "core/model/device_error.hpp"

namespace pixhist {
namespace {

constexpr auto device_poll = std::chrono::microseconds(200);

class PausedRead final : public CountRead {
 public:
  PausedRead(PixelCounts& counts, const AssemblyPiece& piece) {
    const std::uint32_t rows = piece.window.pixels.rows();
    std::uint32_t block = rows;
    for (std::uint32_t row = 0; row < rows;) {
      const std::uint32_t end = std::min(row + block, rows);
      try {
        wait_for(*begin_piece(counts, rows_of(piece, row, end)));
        row = end;
      } catch (const DeviceMemoryError&) {
        if (end - row == 1) throw;
        block = (end - row) / 2;
      }
    }
  }

  bool ready() override { return true; }
  std::uint64_t capped() const override { return capped_; }
  std::uint64_t frames() const override { return frames_; }

 private:
  void wait_for(CountRead& read) {
    while (!read.ready()) std::this_thread::sleep_for(device_poll);
    capped_ += read.capped();
    frames_ = read.frames();
  }

  std::uint64_t capped_ = 0;
  std::uint64_t frames_ = 0;
};

}  // namespace

std::unique_ptr<CountRead> begin_part(PixelCounts& counts, const AssemblyPiece& piece, bool pause) {
  try {
    return begin_piece(counts, piece);
  } catch (const DeviceMemoryError&) {
    if (!pause || piece.reduction) throw;
  }
  return std::make_unique<PausedRead>(counts, piece);
}

}  // namespace pixhist
