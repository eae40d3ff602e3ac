#pragma once
// The last errors and the mismatches, for `status`. Any thread; a mutex, taken per rejected message (rare)
// and per status.

#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "core/model/frame_fate.hpp"
#include "core/snapshot/cut.hpp"

namespace pixhist {

struct ErrorNote {
  WallTime last_seen;
  std::string source;
  std::string reason;
  std::string message;  // of the last one
  std::uint64_t count = 0;
};

class ErrorBoard {
 public:
  static constexpr std::size_t max_notes = 32;

  /// Equal (source, reason) share one note. The oldest note goes when there are more than max_notes.
  void note(WallTime when, const std::string& source, std::string_view reason, const std::string& message) {
    const std::lock_guard lock(mutex_);
    for (auto& entry : notes_) {
      if (entry.source != source || entry.reason != reason) continue;
      entry.last_seen = when;
      entry.message = message;
      ++entry.count;
      return;
    }
    notes_.push_back({when, source, std::string(reason), message, 1});
    if (notes_.size() > max_notes) notes_.pop_front();
  }

  std::vector<ErrorNote> notes() const {
    const std::lock_guard lock(mutex_);
    return {notes_.begin(), notes_.end()};
  }

  /// The stream of `source` has another geometry or pixel type than configured. True the first time.
  bool mismatch(const std::string& source, const std::string& message) {
    const std::lock_guard lock(mutex_);
    return mismatches_.emplace(source, message).second;
  }

  std::map<std::string, std::string> mismatches() const {
    const std::lock_guard lock(mutex_);
    return mismatches_;
  }

 private:
  mutable std::mutex mutex_;
  std::deque<ErrorNote> notes_;
  std::map<std::string, std::string> mismatches_;  // at most one per source
};

}  // namespace pixhist
