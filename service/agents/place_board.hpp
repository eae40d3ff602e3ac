#pragma once
// Where each source lies in the detector: as configured, or taken from the first header that says it. Writers
// are the receive threads, each only when a header says something else than the one before; readers are any
// thread. One mutex, never taken for a frame whose header says what the last one said.
//
// A place, once taken, stays for the life of the process. A receive thread has its header judged before it
// commits the frame, so whoever has seen the frame sees its place here.

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/snapshot/assembly.hpp"

namespace pixhist {

enum class PlaceOrigin : std::uint8_t { unknown, configuration, header };
inline constexpr std::string_view place_origin_names[] = {"unknown yet", "configuration", "header"};
constexpr std::string_view name_of(PlaceOrigin o) { return place_origin_names[static_cast<std::size_t>(o)]; }

/// A source as the configuration knows it.
struct SourceSite {
  std::string name;
  FrameShape shape;
  std::optional<Place> configured;  // nothing: the header will say; flip_rows is always the header's to say
};

/// What a header's place means for its frame. message: what was given, what is allowed, what to do.
struct PlaceVerdict {
  enum class News : std::uint8_t {
    none,
    taken,    // the source lies there from now on
    differs,  // the configuration says otherwise and wins; told once a source
    refused   // the frame is rejected
  };
  News news = News::none;
  std::string message;
  bool accepted() const { return news != News::refused; }
};

class PlaceBoard {
 public:
  /// Configured places have passed check_placement().
  PlaceBoard(FrameShape detector, const std::vector<SourceSite>& sites);

  /// Any thread; sockets of one source share its place.
  PlaceVerdict judge(std::size_t source, const Place& header);

  /// All sources at one instant.
  std::vector<PlacedSource> placed() const;
  PlaceOrigin origin(std::size_t source) const;

 private:
  struct Site {
    std::string name;
    bool configured;
    std::optional<Place> header;  // the first one accepted
    bool differs_told = false;
  };
  PlaceVerdict judge_configured(std::size_t source, const Place& header);
  PlaceVerdict take(std::size_t source, const Place& header);
  std::string described(std::size_t source, const Place& place) const;

  const FrameShape detector_;
  mutable std::mutex mutex_;
  std::vector<Site> sites_;
  std::vector<PlacedSource> placed_;
};

}  // namespace pixhist
