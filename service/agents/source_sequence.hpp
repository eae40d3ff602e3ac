#pragma once
// What the submit thread knows of one source's place in its sequence and in the run. Submit thread only.

#include <algorithm>
#include <vector>

#include "core/batch/sequence_ledger.hpp"

namespace pixhist {

/// One per source, shared by the feeds of its rings.
struct SourceSequence {
  explicit SourceSequence(SequenceRules rules) : ledger(rules) {}

  /// Under runs.policy per_run: whether `info`, a frame or a start mark, belongs to a later run than the one
  /// the source is in, so that its part of that run must be closed first. A source that has sent nothing
  /// while others have ended the run is late if it comes with their key (or without one), and in the next run
  /// if not.
  bool begins_run(const RecordInfo& info) const {
    if (!per_run) return false;
    if (frames_in_run) return ledger.begins(info);
    return !closing_keys.empty() && info.run.present() && !ledger.has_left(info.run) &&
           std::find(closing_keys.begin(), closing_keys.end(), info.run) == closing_keys.end();
  }

  SequenceLedger ledger;
  bool per_run = false;
  bool frames_in_run = false;        // it took a frame, not discarded, in the run it is in
  std::vector<RunKey> closing_keys;  // of the sources that have ended the run this one is still in
};

}  // namespace pixhist
