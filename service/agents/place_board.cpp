#include "service/agents/place_board.hpp"

namespace pixhist {

PlaceBoard::PlaceBoard(FrameShape detector, const std::vector<SourceSite>& sites) : detector_(detector) {
  for (const auto& site : sites) {
    sites_.push_back({site.name, site.configured.has_value(), std::nullopt});
    placed_.push_back({site.shape, site.configured});
  }
}

PlaceVerdict PlaceBoard::judge(std::size_t source, const Place& header) {
  const std::lock_guard lock(mutex_);
  const auto& site = sites_.at(source);
  if (site.header == header) return {};
  if (site.header && site.header->flip_rows != header.flip_rows)
    return {PlaceVerdict::News::refused,
            "the header places " + described(source, header) + "; earlier headers placed " +
                described(source, *site.header) +
                ". The order of rows is fixed while the service runs: restart it after changing fliprows"};
  return site.configured ? judge_configured(source, header) : take(source, header);
}

PlaceVerdict PlaceBoard::judge_configured(std::size_t source, const Place& header) {
  auto& site = sites_[source];
  Place& place = *placed_[source].place;
  if (!site.header) {
    site.header = header;
    place.flip_rows = header.flip_rows;
  }
  if ((header.row == place.row && header.col == place.col) || site.differs_told) return {};
  site.differs_told = true;
  return {PlaceVerdict::News::differs, "the header places " + described(source, header) +
                                           "; the configured origin puts " + described(source, place) +
                                           " and is taken"};
}

PlaceVerdict PlaceBoard::take(std::size_t source, const Place& header) {
  auto& site = sites_[source];
  auto& placed = placed_[source];
  if (placed.place)
    return {PlaceVerdict::News::refused,
            "the header places " + described(source, header) + "; earlier headers placed " +
                described(source, *placed.place) +
                ". A place is fixed while the service runs: restart it after moving modules, or set the "
                "source's origin"};
  placed.place = header;
  if (const auto fault = placement_fault(placed_, source, detector_)) {
    placed.place.reset();
    const std::string mine = "the header places " + described(source, header);
    if (!fault->overlaps)
      return {PlaceVerdict::News::refused, mine + ", which leaves the detector of " +
                                               footprint_text(detector_, {}) +
                                               ". Set detector.rows and cols to the whole detector and "
                                               "shape to that of one port, or set the source's origin"};
    return {PlaceVerdict::News::refused,
            mine + ", which overlaps " + described(*fault->overlaps, *placed_[*fault->overlaps].place) +
                ". Set the origin of one of the two, or correct row and column at the detector"};
  }
  site.header = header;
  return {PlaceVerdict::News::taken, described(source, header) + ", as its header says"};
}

/// "module0 at rows [0, 512) cols [0, 1024)".
std::string PlaceBoard::described(std::size_t source, const Place& place) const {
  return sites_[source].name + " at " + footprint_text(placed_[source].shape, place) +
         (place.flip_rows ? " with flipped rows" : "");
}

std::vector<PlacedSource> PlaceBoard::placed() const {
  const std::lock_guard lock(mutex_);
  return placed_;
}

PlaceOrigin PlaceBoard::origin(std::size_t source) const {
  const std::lock_guard lock(mutex_);
  if (sites_.at(source).configured) return PlaceOrigin::configuration;
  return placed_[source].place ? PlaceOrigin::header : PlaceOrigin::unknown;
}

}  // namespace pixhist
