// The way out: what senders have handed over is received, accumulated and accounted for.

#include <algorithm>
#include <thread>

#include "service/service_parts.hpp"

namespace pixhist {
namespace {

constexpr auto poll_interval = std::chrono::milliseconds(5);
/// A connection that was silent this long has nothing more queued.
constexpr auto quiet_before_close = std::chrono::milliseconds(100);

template <class Done>
bool wait_for(Done&& done, const std::function<bool()>& give_up) {
  while (!done()) {
    if (give_up()) return false;
    std::this_thread::sleep_for(poll_interval);
  }
  return true;
}

}  // namespace

bool Service::Parts::finish_receiving(const std::function<bool()>& give_up) {
  for (auto& receiver : receivers) receiver.agent->request_finish(quiet_before_close, config.receive_grace);
  bool complete = wait_for(
      [this] {
        return std::all_of(receivers.begin(), receivers.end(),
                           [](const auto& r) { return r.agent->finished(); });
      },
      give_up);
  for (auto& receiver : receivers) {
    receiver.runner->stop();
    if (receiver.agent->abandon_waiting()) complete = false;
    receiver.socket.reset();
  }
  return complete;
}

void Service::Parts::finish_queries(const std::function<bool()>& give_up) {
  wait_for([this] { return query->pending() == 0; }, give_up);
}

void Service::Parts::log_final_account(bool complete) {
  for (std::size_t i = 0; i < progress.size(); ++i) {
    const FrameAccount a = lifetime_account(*service_view, i);
    const auto& source = *progress[i];
    log->info(
        "final account of {}: received {}, accumulated {}, rejected {}, dropped {}, discarded {}, missing "
        "{}, "
        "late {}, last frame {}",
        source.name, a.received(), a.accumulated, a.rejected_total(), a.dropped, a.discarded_total(),
        a.missing, a.late,
        source.last_number_known.get() != 0 ? std::to_string(source.last_number.get()) : "none");
    if (a.in_ring + a.in_flight != 0)
      log->error("{}: {} frames were received and not accumulated", source.name, a.in_ring + a.in_flight);
  }
  if (complete)
    log->info("drained");
  else
    log->error(
        "cut short: not everything that was received is accumulated, or senders still had frames queued");
}

ExitCode Service::stop(const std::function<bool()>& cut_short) {
  auto& p = *parts_;
  p.log->info("draining");
  p.run_board.set_draining();
  const auto deadline = p.clock.now() + p.config.shutdown_timeout;
  const auto give_up = [&] { return cut_short() || failure().has_value() || p.clock.now() >= deadline; };
  bool complete = p.finish_receiving(give_up);
  p.finish_queries(give_up);
  p.submit_runner->stop();
  if (!failure()) complete = p.submit->drain(give_up) && complete;
  p.query_runner->stop();
  p.repeated.flush(p.clock.now(), true);
  p.log_final_account(complete && !failure());
  p.http.reset();
  if (const auto code = failure()) return *code;
  return complete ? ExitCode::done : ExitCode::cut_short;
}

}  // namespace pixhist
