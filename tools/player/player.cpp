#include "tools/player/player.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <thread>

namespace pixhist {

namespace {

constexpr std::chrono::milliseconds longest_nap{50};
constexpr std::size_t huge_part_bytes = 32ULL << 20;
constexpr std::uint64_t all_steps = std::numeric_limits<std::uint64_t>::max();

std::optional<std::uint64_t> numbers_shown(const PlayerSettings& settings) {
  if (!settings.faults.frames || !settings.runs.numbers_go_on) return settings.faults.frames;
  return *settings.faults.frames * settings.runs.runs;
}

ImagePool make_pool(const PlayerSettings& settings) {
  const auto bits = settings.sls ? settings.sls->bits : 0;
  const auto packing = bits == 4    ? PixelPacking::four_bit
                       : bits == 12 ? PixelPacking::twelve_bit
                                    : PixelPacking::none;
  return ImagePool(SimulatedDetector(settings.shape, settings.pixel_type, settings.seed, settings.physics),
                   packing, settings.images, settings.faults.first, numbers_shown(settings));
}

std::unique_ptr<WireEncoder> make_wire(const PlayerSettings& settings) {
  if (!settings.sls) {
    return make_array10_wire(settings.shape, settings.pixel_type, settings.run, settings.runs.keys);
  }
  auto sls = *settings.sls;
  sls.shape = settings.shape;
  sls.frames = settings.faults.frames;
  sls.file_index_goes_on = settings.runs.keys == RunKeys::fresh;
  return make_sls_wire(std::move(sls));
}

void check(const PlayerSettings& settings) {
  const auto& runs = settings.runs;
  if (runs.runs == 0) throw std::invalid_argument("runs is 0; allowed: 1 or more");
  if (!settings.sls && !settings.incomplete.empty()) {
    throw std::invalid_argument("array10 cannot say that a frame is incomplete; sls can");
  }
  if (settings.sls && runs.keys == RunKeys::none) {
    throw std::invalid_argument("sls always names the acquisition; allowed run keys: fresh, same");
  }
  if (settings.endpoints.empty()) throw std::invalid_argument("no endpoint given");
  if (runs.runs > 1 && !settings.faults.frames) {
    throw std::invalid_argument("more than one run needs a number of frames, else the first never ends");
  }
  FaultSettings all = settings.faults;
  all.frames = numbers_shown(settings);
  FaultPlan{all};
}

}  // namespace

Player::Player(PlayerSettings settings)
    : settings_((check(settings), std::move(settings))),
      wire_(make_wire(settings_)),
      pool_(make_pool(settings_)),
      account_(settings_.receiver_window) {
  report_.run = settings_.run;
  report_.row = settings_.row;
  report_.column = settings_.column;
  for (const auto& endpoint : settings_.endpoints) {
    auto socket = settings_.socket;
    socket.endpoint = endpoint;
    sockets_.push_back(std::make_unique<PlayerSocket>(socket, pool_.frame_bytes()));
    report_.endpoints.push_back(sockets_.back()->endpoint());
  }
  if (sockets_.size() > 1) {
    account_.inexact("the order in which frames of several sockets are taken is the receiver's");
  }
}

PlayerReport Player::play(const std::atomic<bool>& stop, const Progress& progress) {
  stop_ = &stop;
  progress_ = &progress;
  wait_for_subscribers();
  start_ = next_progress_ = Clock::now();
  report_.began = std::chrono::duration<double>(start_.time_since_epoch()).count();
  for (run_ = 0; run_ < settings_.runs.runs; ++run_) {
    if (run_ > 0) {
      const auto pause = std::chrono::duration_cast<Clock::duration>(settings_.runs.pause);
      if (must_stop() || !wait_until(Clock::now() + pause)) break;
    }
    auto faults = settings_.faults;
    faults.first = first_of(run_);
    play_run(FaultPlan(faults));
  }
  close_sockets();
  report_.expected_account = account_.numbers();
  return report_;
}

void Player::wait_for_subscribers() {
  if (!settings_.wait_subscriber) return;
  const auto until = Clock::now() + *settings_.wait_subscriber;
  for (auto& socket : sockets_) {
    const bool came = socket->wait_for_subscriber([&] { return stop_->load() || Clock::now() >= until; });
    if (!came && !stop_->load())
      throw PlayerSocketError("no subscriber at " + socket->endpoint() + " within the time allowed");
  }
}

void Player::play_run(const FaultPlan& plan) {
  ++report_.runs;
  run_numbers_ = 0;
  early_end_sent_ = false;
  const auto begin = Clock::now();
  for (std::uint64_t s = 0; plan.has_step(s); ++s) {
    // The second half of a swap is always sent: the run has passed its number already.
    phase_ = plan.closes_swap(s) ? Phase::emptying : Phase::playing;
    if (phase_ == Phase::playing && must_stop()) break;
    if (phase_ == Phase::playing && settings_.rate_hz > 0) {
      // Counted from the start, so that a late frame is made up for and the mean rate holds.
      const std::chrono::duration<double> due(static_cast<double>(s) / settings_.rate_hz);
      if (!wait_until(begin + std::chrono::duration_cast<Clock::duration>(due))) break;
    }
    if (!step(plan, s)) break;
    show_progress();
  }
  report_.seconds = std::chrono::duration<double>(Clock::now() - start_).count();
  end_run();
}

bool Player::step(const FaultPlan& plan, std::uint64_t step) {
  const auto number = plan.number_at(step);
  const auto fault = plan.fault_at(step);
  if (fault == FrameFault::skipped) {
    ++report_.of(fault);
  } else if (fault == FrameFault::late) {
    const auto never = std::numeric_limits<std::uint64_t>::max() - settings_.faults.late_by < step;
    held_.push_back({never ? all_steps : step + settings_.faults.late_by, plan.position_at(step)});
  } else if (!send_number(number, fault)) {
    return false;
  }
  pass_position(plan.position_at(step));
  report_.reordered += plan.closes_swap(step) ? 1 : 0;
  send_held(step);
  if (!early_end_sent_ && settings_.runs.early_end && run_numbers_ >= *settings_.runs.early_end) {
    early_end_sent_ = true;
    send_end(1);
    if (!must_stop()) give_up_at_.reset();
  }
  return true;
}

void Player::pass_position(std::uint64_t position) {
  if (position < run_numbers_) return;
  report_.numbers += position + 1 - run_numbers_;
  run_numbers_ = position + 1;
}

bool Player::send_number(std::uint64_t number, FrameFault fault) {
  auto frame = frame_of(run_, number);
  frame.complete = is_rejected(fault) || !settings_.incomplete.contains(frame.position, number);
  const auto outcome = send(frame, fault);
  if (outcome == Outcome::gave_up && phase_ == Phase::playing) return false;
  if (outcome != Outcome::sent) {
    ++report_.refused;
    all_sent_ = all_sent_ && outcome == Outcome::refused;
    return true;
  }
  if (is_rejected(fault)) {
    ++report_.of(fault);
    return true;
  }
  report_.note_frame(number);
  report_.incomplete += frame.complete ? 0 : 1;
  bool as_planned = fault != FrameFault::none;
  if (fault == FrameFault::duplicated) as_planned = send(frame, fault) == Outcome::sent;
  if (fault == FrameFault::stale) {
    as_planned = run_ > 0 && send(frame_of(run_ - 1, number), fault) == Outcome::sent;
  }
  if (as_planned) ++report_.of(fault);
  return true;
}

void Player::send_held(std::uint64_t step) {
  while (!held_.empty() && held_.front().due <= step) {
    phase_ = Phase::emptying;
    send_number(first_of(run_) + held_.front().position, FrameFault::late);
    held_.pop_front();
  }
}

Player::Outcome Player::send(const WireFrame& frame, FrameFault fault) {
  wire_->header(frame, fault, header_);
  const auto bytes = bytes_of(fault);
  std::array<zmq::message_t, 3> parts{
      zmq::message_t(header_.data(), header_.size()),
      frame.complete ? pool_.pixels(frame.number, bytes) : pool_.pixels_with_hole(frame.number),
      zmq::message_t("more", 4)};
  const std::size_t count = fault == FrameFault::extra_part ? 3 : fault == FrameFault::missing_part ? 1 : 2;
  auto& socket = *sockets_[frame.position % sockets_.size()];
  const auto outcome =
      socket.send({parts.data(), count}, PlayerSocket::OnFullQueue::refuse, [this] { return gives_up(); });
  if (outcome == Outcome::sent) note_sent(frame, fault, count > 1 ? bytes : 0);
  return outcome;
}

void Player::note_sent(const WireFrame& frame, FrameFault fault, std::size_t bytes) {
  ++report_.messages;
  report_.bytes += bytes;
  if (fault == FrameFault::huge_part)
    account_.inexact("what is lost with a connection that was cut for a huge part cannot be foretold");
  else if (is_rejected(fault))
    account_.rejected(reject_reason(fault));
  else
    account_.frame(wire_->run_key(frame), frame.number);
}

std::size_t Player::bytes_of(FrameFault fault) const {
  const auto whole = pool_.frame_bytes();
  switch (fault) {
    case FrameFault::wrong_size: return whole - 1;
    case FrameFault::long_size: return whole + 1;
    case FrameFault::wrong_shape: return whole / settings_.shape.rows * (settings_.shape.rows + 1);
    case FrameFault::huge_part: return whole + huge_part_bytes;
    default: return whole;
  }
}

void Player::end_run() {
  send_held(all_steps);
  send_end(settings_.runs.end_marks);
  if (run_ + 1 < settings_.runs.runs && !must_stop()) give_up_at_.reset();
}

void Player::send_end(std::uint64_t marks) {
  phase_ = Phase::ending;
  const auto text = wire_->end_mark(run_, run_numbers_);
  for (std::uint64_t i = 0; i < marks; ++i) {
    for (auto& socket : sockets_) {
      zmq::message_t part(text.data(), text.size());
      const auto outcome =
          socket->send({&part, 1}, PlayerSocket::OnFullQueue::wait, [this] { return gives_up(); });
      if (outcome != Outcome::sent) {
        all_sent_ = false;
        continue;
      }
      ++report_.end_marks;
      const auto end = wire_->read_end(run_, run_numbers_);
      account_.end_mark(end.key, end.frames);
    }
  }
}

void Player::close_sockets() {
  const auto until = give_up_at_.value_or(Clock::now() + settings_.linger);
  report_.end_sent = all_sent_ && report_.end_marks > 0;
  report_.flushed = all_sent_;
  for (auto& socket : sockets_) report_.flushed = socket->close(until) && report_.flushed;
}

WireFrame Player::frame_of(std::uint64_t run, std::uint64_t number) const {
  const auto first = first_of(run);
  return {run, first, number, number - first, true};
}

std::uint64_t Player::first_of(std::uint64_t run) const {
  const auto& s = settings_;
  return s.faults.first + (s.runs.numbers_go_on ? run * s.faults.frames.value_or(0) : 0);
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

bool Player::gives_up() {
  if (phase_ != Phase::ending && !must_stop()) return false;
  if (phase_ == Phase::playing) return true;
  if (!give_up_at_) give_up_at_ = Clock::now() + settings_.linger;
  return Clock::now() >= *give_up_at_;
}

bool Player::wait_until(Clock::time_point due) {
  for (auto now = Clock::now(); now < due; now = Clock::now()) {
    if (must_stop()) return false;
    std::this_thread::sleep_for(std::min<Clock::duration>(due - now, longest_nap));
  }
  return true;
}

void Player::show_progress() {
  const auto now = Clock::now();
  if (!*progress_ || now < next_progress_) return;
  next_progress_ = now + std::chrono::milliseconds(200);
  report_.seconds = std::chrono::duration<double>(now - start_).count();
  (*progress_)(report_);
}

}  // namespace pixhist
