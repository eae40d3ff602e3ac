#include "tools/player/replay.hpp"

#include <algorithm>
#include <thread>

namespace pixhist {

namespace {

constexpr std::chrono::milliseconds longest_nap{50};

std::uint64_t bytes_of(const RecordedMessage& message) {
  std::uint64_t bytes = 0;
  for (const auto& part : message) bytes += part.size();
  return bytes;
}

}  // namespace

Replay::Replay(ReplaySettings settings)
    : settings_(std::move(settings)), socket_(settings_.socket, static_cast<std::size_t>(load())) {
  report_.file = settings_.file;
  report_.endpoint = socket_.endpoint();
}

/// Returns the size of the largest message, by which the socket's queue is bounded.
std::uint64_t Replay::load() {
  RecordingReader reader(settings_.file);
  std::uint64_t largest = 0;
  std::uint64_t kept_bytes = 0;
  for (RecordedMessage message; reader.next(message);) {
    const auto bytes = bytes_of(message);
    largest = std::max(largest, bytes);
    kept_bytes += bytes + message.size() * sizeof(RecordedMessage::value_type);
    if (kept_ && kept_bytes > settings_.memory) {
      kept_ = false;
      messages_ = {};
    }
    if (kept_) messages_.push_back(std::move(message));
  }
  if (largest == 0 && kept_bytes == 0) throw RecordingError(settings_.file + " is empty: no message to send");
  return largest;
}

void Replay::play(const std::atomic<bool>& stop) {
  start_ = Clock::now();
  for (std::uint64_t loop = 0; settings_.loops == 0 || loop < settings_.loops; ++loop) {
    play_once(stop);
    if (report_.stopped) break;
    ++report_.loops;
  }
  report_.seconds = std::chrono::duration<double>(Clock::now() - start_).count();
}

void Replay::play_once(const std::atomic<bool>& stop) {
  if (kept_) {
    for (const auto& message : messages_) {
      play_message(message, true, stop);
      if (report_.stopped) return;
    }
    return;
  }
  RecordingReader reader(settings_.file);
  for (RecordedMessage message; !report_.stopped && reader.next(message);) {
    play_message(message, false, stop);
  }
}

void Replay::play_message(const RecordedMessage& message, bool stays, const std::atomic<bool>& stop) {
  if (!wait_until_due(stop)) {
    report_.stopped = true;
    return;
  }
  std::vector<zmq::message_t> parts;
  for (const auto& part : message) {
    // libzmq wants the memory writable, and only reads it.
    auto* bytes = const_cast<std::byte*>(part.data());
    if (stays)
      parts.emplace_back(
          bytes, part.size(), [](void*, void*) {}, nullptr);
    else
      parts.emplace_back(bytes, part.size());
  }
  const auto outcome =
      socket_.send(parts, PlayerSocket::OnFullQueue::refuse, [&stop] { return stop.load(); });
  ++turns_;
  if (outcome == PlayerSocket::Outcome::sent) {
    ++report_.messages;
    report_.bytes += bytes_of(message);
  } else if (outcome == PlayerSocket::Outcome::refused) {
    ++report_.refused;
  } else {
    report_.stopped = true;
  }
}

bool Replay::wait_until_due(const std::atomic<bool>& stop) const {
  if (settings_.rate_hz > 0) {
    const std::chrono::duration<double> offset(static_cast<double>(turns_) / settings_.rate_hz);
    const auto due = start_ + std::chrono::duration_cast<Clock::duration>(offset);
    for (auto now = Clock::now(); now < due && !stop.load(); now = Clock::now()) {
      std::this_thread::sleep_for(std::min<Clock::duration>(due - now, longest_nap));
    }
  }
  return !stop.load();
}

ReplayReport Replay::close(Clock::time_point until) {
  report_.flushed = socket_.close(until);
  return report_;
}

}  // namespace pixhist
