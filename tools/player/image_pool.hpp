#pragma once
// The pixels of a run as messages: from images made before the start, or made frame by frame. Messages of the
// pool refer to its memory, so it must outlive every socket they were given to. Used by one thread.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>
#include <zmq.hpp>

#include "tools/player/pixel_packing.hpp"
#include "tools/player/simulated_detector.hpp"

namespace pixhist {

struct ImagePoolSettings {
  /// Images shown in turn: frame n shows image n mod images. 0: frame n shows image n, made while sending.
  /// None given: as many as fit into `bytes`, from 1 to 4096.
  std::optional<std::uint64_t> images;
  std::uint64_t bytes = 256ULL << 20;
};

class ImagePool {
 public:
  /// Makes the images of the frames first, first + 1, ... of `frames` frames (none: all of the pool).
  ImagePool(SimulatedDetector detector, PixelPacking packing, const ImagePoolSettings& settings,
            std::uint64_t first, std::optional<std::uint64_t> frames);

  std::size_t frame_bytes() const { return frame_bytes_; }
  std::uint64_t images() const { return images_; }

  /// Pixels of frame `number`, cut or filled up with zeros to `bytes`.
  zmq::message_t pixels(std::uint64_t number, std::size_t bytes) const;
  /// The same with its second quarter overwritten by 0xFF, as a receiver fills what it has not caught.
  zmq::message_t pixels_with_hole(std::uint64_t number) const;

 private:
  void make(std::uint64_t image, std::byte* out) const;

  SimulatedDetector detector_;
  PixelPacking packing_;
  std::size_t frame_bytes_;
  std::uint64_t images_;
  mutable std::vector<std::vector<std::byte>> pool_;  // libzmq wants it writable, and only reads
};

}  // namespace pixhist
