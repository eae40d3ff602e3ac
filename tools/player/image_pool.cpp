#include "tools/player/image_pool.hpp"

#include <algorithm>
#include <cstring>

namespace pixhist {

namespace {

constexpr std::uint64_t most_images = 4096;

std::uint64_t images_of(const ImagePoolSettings& settings, std::size_t frame_bytes) {
  if (settings.images) return *settings.images;
  return std::clamp<std::uint64_t>(settings.bytes / std::max<std::size_t>(frame_bytes, 1), 1, most_images);
}

}  // namespace

ImagePool::ImagePool(SimulatedDetector detector, PixelPacking packing, const ImagePoolSettings& settings,
                     std::uint64_t first, std::optional<std::uint64_t> frames)
    : detector_(std::move(detector)),
      packing_(packing),
      frame_bytes_(packed_bytes(packing, detector_.shape().pixels(), detector_.pixel_type())),
      images_(images_of(settings, frame_bytes_)),
      pool_(images_) {
  const auto used = std::min(images_, frames.value_or(images_));
  for (std::uint64_t i = 0; i < used; ++i) {
    const auto image = (first + i) % images_;
    pool_[image].resize(frame_bytes_);
    make(image, pool_[image].data());
  }
}

void ImagePool::make(std::uint64_t image, std::byte* out) const {
  if (packing_ == PixelPacking::none) return detector_.render(image, {out, frame_bytes_});
  std::vector<std::byte> whole(detector_.frame_bytes());
  detector_.render(image, whole);
  pack_pixels(packing_, whole, {out, frame_bytes_});
}

zmq::message_t ImagePool::pixels(std::uint64_t number, std::size_t bytes) const {
  if (images_ != 0 && bytes <= frame_bytes_) {
    return zmq::message_t(
        pool_[number % images_].data(), bytes, [](void*, void*) {}, nullptr);
  }
  // The message owns its memory: nothing of ours then runs in a thread of libzmq.
  zmq::message_t message(std::max(bytes, frame_bytes_));
  auto* out = message.data<std::byte>();
  if (images_ != 0)
    std::memcpy(out, pool_[number % images_].data(), frame_bytes_);
  else
    make(number, out);
  if (bytes > frame_bytes_) std::memset(out + frame_bytes_, 0, bytes - frame_bytes_);
  return bytes < frame_bytes_ ? zmq::message_t(out, bytes) : std::move(message);
}

zmq::message_t ImagePool::pixels_with_hole(std::uint64_t number) const {
  const auto whole = pixels(number, frame_bytes_);
  zmq::message_t message(whole.data(), whole.size());
  const auto quarter = frame_bytes_ / 4;
  std::memset(message.data<std::byte>() + quarter, 0xFF, quarter);
  return message;
}

}  // namespace pixhist
