#pragma once
// What the submit thread counts, for readers on any thread.

#include <array>
#include <string>

#include "core/account/frame_account.hpp"
#include "core/accumulators/pixel_histogram/pixel_counts.hpp"
#include "service/metrics/duration_histogram.hpp"

namespace pixhist {

/// One per source.
struct SourceProgress {
  explicit SourceProgress(std::string source) : name(std::move(source)) {}
  const std::string name;
  SubmitCounters counters;
  SingleWriterCounter frames_in_run;
  SingleWriterCounter batches_in_run;
  SingleWriterCounter numbers_known;  // 0 until a numbered frame of this run is submitted, then 1
  SingleWriterCounter first_frame;    // lowest and highest number submitted in this run
  SingleWriterCounter last_frame;
  SingleWriterCounter last_number_known;  // the same since process start, for the final account
  SingleWriterCounter last_number;
  SingleWriterCounter accumulated_unix_ms;    // when a batch was last accumulated; 0: never
  // Device totals over the life of the process (they come back with each batch).
  SingleWriterCounter values_below;
  SingleWriterCounter values_above;
  SingleWriterCounter values_invalid;
  SingleWriterCounter values_other_stage;
  SingleWriterCounter cells_saturated;                              // a gauge, of the last cut
  std::array<SingleWriterCounter, most_kernels> batches_of_kernel;  // in the order of PixelCounts::kernels()
};

struct PipelineProgressBoard {
  SingleWriterCounter batches;
  SingleWriterCounter batches_in_flight;  // a gauge
  DurationHistogram batch_copy;           // to the device; nothing where nothing is copied
  DurationHistogram batch_kernel;
  DurationHistogram frame_latency;        // receipt of a batch's first frame to accumulated
  DurationHistogram snapshot;             // cut taken to result complete
  std::atomic<std::uint64_t> busy_ns{0};  // submit thread at work, for pixhist_stage_busy_ratio
};

}  // namespace pixhist
