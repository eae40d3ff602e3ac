#pragma once
// A named range in the timeline of a profiler; costs next to nothing where none is attached.

#include <nvtx3/nvToolsExt.h>

namespace pixhist {

class NvtxRange {
 public:
  explicit NvtxRange(const char* name) { nvtxRangePushA(name); }
  ~NvtxRange() { nvtxRangePop(); }
  NvtxRange(const NvtxRange&) = delete;  // a range is its scope
  NvtxRange& operator=(const NvtxRange&) = delete;
};

}  // namespace pixhist
