#include "tools/player/player.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <thread>

#include "proto/ingest/array10_encoder.hpp"

namespace pixhist {

namespace {

using Outcome = PlayerSocket::Outcome;

constexpr std::uint64_t pool_bytes = 256ULL << 20;
constexpr std::uint64_t pool_images = 4096;
constexpr std::chrono::milliseconds longest_nap{50};

std::uint64_t default_images(std::size_t frame_bytes) {
  return std::clamp<std::uint64_t>(pool_bytes / std::max<std::size_t>(frame_bytes, 1), 1, pool_images);
}

std::string_view name_of(PlayerReport::StoppedBy by) {
  switch (by) {
    case PlayerReport::StoppedBy::frames: return "frames";
    case PlayerReport::StoppedBy::duration: return "seconds";
    case PlayerReport::StoppedBy::signal: break;
  }
  return "signal";
}

}  // namespace

Player::Player(PlayerSettings settings)
    : settings_(std::move(settings)),
      plan_(settings_.faults),
      detector_(settings_.shape, settings_.pixel_type, settings_.seed),
      images_(settings_.images.value_or(default_images(detector_.frame_bytes()))),
      socket_(settings_.socket, detector_.frame_bytes()) {
  report_.run = settings_.run;
  prepare_images();
}

void Player::prepare_images() {
  pool_.resize(images_);
  const auto used = std::min(images_, settings_.faults.frames.value_or(images_));
  for (std::uint64_t i = 0; i < used; ++i) {
    const auto image = (settings_.faults.first + i) % images_;
    pool_[image].resize(detector_.frame_bytes());
    detector_.render(image, pool_[image]);
  }
}

zmq::message_t Player::pixels_of(std::uint64_t number, std::size_t bytes) {
  if (images_ != 0) {
    auto& image = pool_[number % images_];
    return zmq::message_t(
        image.data(), bytes, [](void*, void*) {}, nullptr);
  }
  // The message owns its memory: nothing of ours then runs in a thread of libzmq.
  zmq::message_t message(detector_.frame_bytes());
  detector_.render(number, {message.data<std::byte>(), message.size()});
  return bytes == message.size() ? std::move(message) : zmq::message_t(message.data(), bytes);
}

PlayerReport Player::play(const std::atomic<bool>& stop, const Progress& progress) {
  stop_ = &stop;
  progress_ = &progress;
  if (settings_.wait_subscriber) {
    const auto until = Clock::now() + *settings_.wait_subscriber;
    const bool came = socket_.wait_for_subscriber([&] { return stop.load() || Clock::now() >= until; });
    if (!came && !stop.load())
      throw PlayerSocketError("no subscriber at " + endpoint() + " within the time allowed");
  }
  start_ = next_progress_ = Clock::now();
  for (std::uint64_t s = 0; plan_.has_step(s); ++s) {
    // The second half of a swap is always sent: the run has passed its number already.
    if (!plan_.closes_swap(s) && (must_stop() || !wait_until_due(s))) break;
    if (!step(s)) break;
    show_progress();
  }
  report_.seconds = std::chrono::duration<double>(Clock::now() - start_).count();
  if (settings_.send_end) send_end();
  report_.flushed = socket_.close();
  return report_;
}

bool Player::step(std::uint64_t step) {
  const auto number = plan_.number_at(step);
  const auto fault = plan_.fault_at(step);
  const auto outcome = fault == FrameFault::skipped ? Outcome::sent : send(number, fault);
  if (outcome == Outcome::gave_up) return false;

  report_.numbers = std::max(report_.numbers, plan_.position_at(step) + 1);
  report_.reordered += plan_.closes_swap(step) ? 1 : 0;
  if (fault == FrameFault::skipped)
    ++report_.skipped;
  else if (outcome == Outcome::refused)
    ++report_.refused;
  else if (fault == FrameFault::bad_header)
    ++report_.bad_header;
  else if (fault == FrameFault::wrong_size)
    ++report_.wrong_size;
  else
    note_sent(number);
  if (fault == FrameFault::duplicated && outcome == Outcome::sent && send(number, fault) == Outcome::sent) {
    ++report_.duplicated;
  }
  return true;
}

Outcome Player::send(std::uint64_t number, FrameFault fault) {
  encode_array10_header({settings_.shape, settings_.pixel_type, number, settings_.run}, header_);
  if (fault == FrameFault::bad_header) header_.pop_back();
  const auto bytes = detector_.frame_bytes() - (fault == FrameFault::wrong_size ? 1 : 0);
  auto pixels = pixels_of(number, bytes);
  const auto outcome = socket_.send_frame(header_, pixels, [this] { return must_stop(); });
  if (outcome == Outcome::sent) {
    ++report_.messages;
    report_.bytes += bytes;
  }
  return outcome;
}

void Player::note_sent(std::uint64_t number) {
  ++report_.frames;
  report_.first_frame = std::min(report_.first_frame.value_or(number), number);
  report_.last_frame = std::max(report_.last_frame.value_or(number), number);
}

bool Player::must_stop() {
  using StoppedBy = PlayerReport::StoppedBy;
  if (stop_->load())
    report_.stopped_by = StoppedBy::signal;
  else if (settings_.duration && Clock::now() - start_ >= *settings_.duration)
    report_.stopped_by = StoppedBy::duration;
  show_progress();
  return report_.stopped_by != StoppedBy::frames;
}

// Due times are counted from the start, so that a late frame is made up for and the mean rate holds.
bool Player::wait_until_due(std::uint64_t step) {
  if (settings_.rate_hz <= 0) return true;
  const auto due = start_ + std::chrono::duration_cast<Clock::duration>(
                                std::chrono::duration<double>(static_cast<double>(step) / settings_.rate_hz));
  for (auto now = Clock::now(); now < due; now = Clock::now()) {
    if (must_stop()) return false;
    std::this_thread::sleep_for(std::min<Clock::duration>(due - now, longest_nap));
  }
  return true;
}

void Player::send_end() {
  const auto until = Clock::now() + settings_.socket.linger;
  const auto outcome = socket_.send_control(encode_array10_end(settings_.run, report_.numbers),
                                            [until] { return Clock::now() >= until; });
  report_.end_sent = outcome == Outcome::sent;
}

void Player::show_progress() {
  const auto now = Clock::now();
  if (!*progress_ || now < next_progress_) return;
  next_progress_ = now + std::chrono::milliseconds(200);
  report_.seconds = std::chrono::duration<double>(now - start_).count();
  (*progress_)(report_);
}

std::string PlayerReport::to_json() const {
  const double per_second = seconds > 0 ? 1 / seconds : 0;
  nlohmann::ordered_json json{{"run", run}, {"frames", frames}, {"bytes", bytes}};
  json["first_frame"] = first_frame ? nlohmann::ordered_json(*first_frame) : nullptr;
  json["last_frame"] = last_frame ? nlohmann::ordered_json(*last_frame) : nullptr;
  json["seconds"] = seconds;
  json["frames_per_s"] = static_cast<double>(messages) * per_second;
  json["gigabytes_per_s"] = static_cast<double>(bytes) * 1e-9 * per_second;
  json["numbers"] = numbers;
  json["messages"] = messages;
  json["skipped"] = skipped;
  json["bad_header"] = bad_header;
  json["wrong_size"] = wrong_size;
  json["refused"] = refused;
  json["duplicated"] = duplicated;
  json["reordered"] = reordered;
  json["end_sent"] = end_sent;
  json["flushed"] = flushed;
  json["stopped_by"] = name_of(stopped_by);
  return json.dump();
}

}  // namespace pixhist
