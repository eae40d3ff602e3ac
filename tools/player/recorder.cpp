#include "tools/player/recorder.hpp"

#include <algorithm>

#include "tools/player/player_socket.hpp"

namespace pixhist {

namespace {

constexpr std::chrono::milliseconds longest_wait{50};
constexpr std::chrono::seconds flush_every{1};

}  // namespace

Recorder::Recorder(RecorderSettings settings)
    : settings_(std::move(settings)),
      writer_(settings_.file, settings_.overwrite),
      socket_(context_, settings_.subscribe ? zmq::socket_type::sub : zmq::socket_type::pull) {
  socket_.set(zmq::sockopt::rcvhwm, settings_.queue_messages);
  socket_.set(zmq::sockopt::linger, 0);
  if (settings_.subscribe) socket_.set(zmq::sockopt::subscribe, settings_.topic);
  for (const auto& endpoint : settings_.endpoints) {
    try {
      if (settings_.bind)
        socket_.bind(endpoint);
      else
        socket_.connect(endpoint);
    } catch (const zmq::error_t& error) {
      throw PlayerSocketError(std::string(settings_.bind ? "cannot bind " : "cannot connect to ") + endpoint +
                              ": " + error.what() + "; an endpoint is tcp://host:port or ipc:///path");
    }
    endpoints_.push_back(socket_.get(zmq::sockopt::last_endpoint));
  }
}

RecorderReport Recorder::record(const std::atomic<bool>& stop) {
  using StoppedBy = RecorderReport::StoppedBy;
  const auto start = Clock::now();
  for (;;) {
    if (settings_.messages && report_.messages >= *settings_.messages) {
      report_.stopped_by = StoppedBy::messages;
      break;
    }
    if (settings_.duration && Clock::now() - start >= *settings_.duration) {
      report_.stopped_by = StoppedBy::duration;
      break;
    }
    if (stop.load()) break;
    if (!receive()) {
      zmq::pollitem_t item{socket_.handle(), 0, ZMQ_POLLIN, 0};
      zmq_poll(&item, 1, static_cast<long>(longest_wait.count()));  // a signal may end it early
    }
    flush_if_due();
  }
  report_.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  writer_.close();
  return report_;
}

/// One whole message, if there is one: its further parts are there with the first.
bool Recorder::receive() {
  parts_.clear();
  for (bool more = true; more;) {
    zmq::message_t part;
    if (zmq_msg_recv(part.handle(), socket_.handle(), ZMQ_DONTWAIT) < 0) {
      if (zmq_errno() == EINTR && !parts_.empty()) continue;
      return false;
    }
    more = part.more();
    parts_.push_back(std::move(part));
  }
  write(parts_);
  return true;
}

void Recorder::write(std::vector<zmq::message_t>& parts) {
  std::vector<std::span<const std::byte>> views;
  for (const auto& part : parts) {
    views.emplace_back(part.data<std::byte>(), part.size());
    report_.bytes += part.size();
  }
  writer_.write(views);
  ++report_.messages;
  if (!flush_at_) flush_at_ = Clock::now() + flush_every;
}

void Recorder::flush_if_due() {
  if (!flush_at_ || Clock::now() < *flush_at_) return;
  writer_.flush();
  flush_at_.reset();
}

}  // namespace pixhist
