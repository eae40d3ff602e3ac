#pragma once
// Some of the frame numbers of a run, as an option names them.

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace pixhist {

/// Some numbers of a run: every k-th position, or a list of frame numbers. Default: none.
class NumberSelection {
 public:
  NumberSelection() = default;
  static NumberSelection every(std::uint64_t k);

  /// Reads `every:K` (K >= 1: the K-th, 2K-th, ... frame of the run) or a list of frame numbers and closed
  /// ranges, `3,7,10-20`; `500-` is a range without end. Throws std::invalid_argument that says what was
  /// given and what is allowed.
  static NumberSelection parse(std::string_view text);

  bool contains(std::uint64_t position, std::uint64_t number) const;
  bool empty() const { return every_ == 0 && ranges_.empty(); }
  std::uint64_t period() const { return every_; }  // 0: a list

 private:
  std::uint64_t every_ = 0;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> ranges_;  // first and last, both in
};

}  // namespace pixhist
