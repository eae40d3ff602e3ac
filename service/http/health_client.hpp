#pragma once
// `pixhistd --health URL`: a probe that needs no curl in the image.

#include <string>

namespace pixhist {

struct ProbeResult {
  bool healthy = false;
  std::string text;  // the answer's body, or why there was none
};

/// GET of http://host:port/path; healthy for 200. Waits a few seconds at most.
ProbeResult probe_health(const std::string& url);

}  // namespace pixhist
