#include "service/query/query_agent.hpp"

#include <algorithm>
#include <utility>

#include "proto/query/reply.hpp"
#include "service/query/count_reads.hpp"
#include "service/query/count_replies.hpp"
#include "service/status/status_document.hpp"

namespace pixhist {
namespace {

constexpr int requests_per_step = 64;
constexpr auto longest_wait = std::chrono::milliseconds(100);
/// A client that asks for more than it may leave unread gets so long to read what it has; ZeroMQ lets go of
/// what was read a moment after the client has the last byte, and nobody rings when it does.
constexpr auto time_to_read = std::chrono::seconds(1);
constexpr auto reading_poll = std::chrono::milliseconds(1);
constexpr auto accounts_sweep = std::chrono::seconds(1);
/// Replies up to here are not counted against a client's share: their number is bounded.
constexpr std::size_t small_reply = std::size_t{64} << 10;

Reply no_memory(const Request& request, std::size_t bytes, const SnapshotMemory& memory) {
  return error_reply(
      request.id, ErrorCode::no_memory,
      "the result needs " + std::to_string(bytes) + " bytes; " + std::to_string(memory.used()) +
          " of snapshot.max_bytes " + std::to_string(memory.max_bytes()) +
          " are in use. Release held snapshots, ask for fewer rows or bins or a narrower dtype, or "
          "try again when other replies have been read");
}

/// Blocks of rows that fit, for an answer that has as many bytes in every row.
std::string row_blocks(const Rect& roi, std::size_t bytes, std::uint64_t limit) {
  const auto rows = limit / (bytes / roi.rows());
  if (rows == 0) return "ask for fewer columns or bins, or a narrower dtype";
  const std::uint64_t end = std::min<std::uint64_t>(roi.row_begin + rows, roi.row_end);
  return "take op snapshot first and ask it for blocks of at most " + std::to_string(rows) + " rows: roi [" +
         std::to_string(roi.row_begin) + ", " + std::to_string(end) + ", " + std::to_string(roi.col_begin) +
         ", " + std::to_string(roi.col_end) + "], and so on";
}

Reply too_large(const Request& request, std::size_t bytes, std::uint64_t limit) {
  const bool by_rows = request.op != Op::image && request.op != Op::spectrum;
  return error_reply(
      request.id, ErrorCode::reply_too_large,
      "the reply would have " + std::to_string(bytes) + " bytes, query.max_reply_bytes is " +
          std::to_string(limit) + "; " +
          (by_rows ? row_blocks(request.roi, bytes, limit) : "ask for a smaller roi, or give max_px"));
}

Reply no_snapshot(const Request& request, const std::string& id) {
  return error_reply(request.id, ErrorCode::no_snapshot,
                     "no held snapshot and no closed run '" + id +
                         "'; it may have expired or been replaced, status and runs list those there are");
}

}  // namespace

QueryAgent::QueryAgent(Parts parts) : parts_(parts) {}

bool QueryAgent::step() {
  bool worked = false;
  for (auto& completion : completions_->take()) {
    complete(std::move(completion));
    worked = true;
  }
  for (int i = 0; i < requests_per_step; ++i) {
    auto message = parts_.socket.receive();
    if (!message) break;
    handle(std::move(*message));
    worked = true;
  }
  for (const auto& pending : std::exchange(held_back_, {})) {
    pending->account->let_go();
    parts_.stats.pending.fetch_sub(1);
    serve(pending);
  }
  parts_.held.expire();
  if (parts_.view.clock.now() - accounts_swept_ >= accounts_sweep) {
    accounts_.forget_idle();
    accounts_swept_ = parts_.view.clock.now();
  }
  return worked;
}

void QueryAgent::wait() {
  parts_.socket.wait(completions_->event_fd(), held_back_.empty() ? longest_wait : reading_poll);
}

void QueryAgent::handle(QueryMessage message) {
  auto pending = std::make_shared<PendingRequest>();
  pending->client = std::move(message.client);
  pending->received = parts_.view.clock.now();
  const auto refuse = [&](const RequestError& error) {
    Reply reply = error_reply(error.id, error.code, error.message);
    parts_.stats.count(std::nullopt, error.code, parts_.view.clock.now() - pending->received);
    send(*pending, std::move(reply));
  };
  if (!message.fault.empty()) return refuse({nullptr, ErrorCode::bad_request, message.fault});
  const RequestLimits limits{parts_.view.config.detector, parts_.view.config.axis};
  auto parsed = parse_request(std::as_bytes(std::span(message.request)), limits);
  if (const auto* error = std::get_if<RequestError>(&parsed)) return refuse(*error);
  pending->request = std::move(std::get<Request>(parsed));
  pending->account = accounts_.of(pending->client.routing_id);
  serve(pending);
}

void QueryAgent::serve(const std::shared_ptr<PendingRequest>& pending) {
  auto reply = answer(pending);
  if (!reply) return;
  parts_.stats.count(pending->request.op, reply->error, parts_.view.clock.now() - pending->received);
  send(*pending, std::move(*reply));
}

std::optional<Reply> QueryAgent::answer(const std::shared_ptr<PendingRequest>& pending) {
  const Request& request = pending->request;
  if (auto refusal = refuse_control(*pending)) return refusal;
  switch (request.op) {
    case Op::ping: return result_reply(request.id, nlohmann::json::object());
    case Op::info: return result_reply(request.id, info_document(parts_.view));
    case Op::status: return result_reply(request.id, status_document(parts_.view));
    case Op::runs: return result_reply(request.id, runs_json(parts_.view.closed_runs));
    case Op::edges:
    case Op::centers: return axis_reply(request, parts_.view.config.axis);
    case Op::values:
    case Op::pixel:
    case Op::spectrum:
    case Op::image:
    case Op::moments:
    case Op::snapshot: return count_op(pending);
    case Op::release:
      if (!parts_.held.release(*request.snapshot))
        return error_reply(
            request.id, ErrorCode::no_snapshot,
            "no held snapshot '" + *request.snapshot +
                "'; status lists those there are. A closed run stays until the next is closed");
      return result_reply(request.id, {{"released", *request.snapshot}});
    case Op::reset: return control_run(pending, CommandKind::reset);
    case Op::start: return control_run(pending, CommandKind::start);
    case Op::stop: return control_run(pending, CommandKind::stop);
    default:
      return error_reply(request.id, ErrorCode::not_built,
                         std::string(name_of(request.op)) + " is not built yet");
  }
}

std::optional<Reply> QueryAgent::refuse_control(const PendingRequest& pending) const {
  if (!is_control(pending.request)) return std::nullopt;
  const auto allowed = parts_.view.config.allow_control;
  if (allowed == AllowControl::all || (allowed == AllowControl::loopback && pending.client.local))
    return std::nullopt;
  return error_reply(pending.request.id, ErrorCode::forbidden,
                     allowed == AllowControl::none
                         ? "query.allow_control is none: control is not allowed from anywhere"
                         : "query.allow_control is loopback: control is allowed from this machine only");
}

std::optional<Reply> QueryAgent::refuse_by_state(const Request& request) const {
  if (parts_.view.run.state() == RunState::device_lost)
    return error_reply(request.id, ErrorCode::device_lost, "the device failed; the service is about to exit");
  if (parts_.view.run.state() == RunState::draining)
    return error_reply(request.id, ErrorCode::wrong_state, "the service is draining and about to exit");
  return std::nullopt;
}

std::optional<Reply> QueryAgent::refuse_to_wait(const PendingRequest& pending) const {
  const Request& request = pending.request;
  if (auto refusal = refuse_by_state(request)) return refusal;
  const auto busy = [&request](const std::string& what) {
    return error_reply(request.id, ErrorCode::busy, what + "; try again when answers have come");
  };
  if (pending.account->requests() >= parts_.view.config.max_pending_per_client)
    return busy("this client has " + std::to_string(pending.account->requests()) +
                " requests waiting, query.max_pending_per_client");
  if (in_the_making_ >= parts_.view.config.max_pending)
    return busy(std::to_string(in_the_making_) + " requests are waiting, query.max_pending");
  return std::nullopt;
}

std::optional<Reply> QueryAgent::control_run(const std::shared_ptr<PendingRequest>& pending,
                                             CommandKind kind) {
  if (is_behind_held_back(*pending)) return hold_back(pending);
  if (auto refusal = refuse_to_wait(*pending)) return refusal;
  Command command;
  command.kind = kind;
  command.name = pending->request.name;
  return submit(pending, std::move(command));
}

std::optional<Reply> QueryAgent::count_op(const std::shared_ptr<PendingRequest>& pending) {
  const Request& request = pending->request;
  const auto limit = parts_.view.config.max_reply_bytes;
  if (request.op != Op::snapshot) pending->reply_bytes = reply_bytes(request);
  if (pending->reply_bytes > limit) return too_large(request, pending->reply_bytes, limit);
  if (is_behind_held_back(*pending)) return hold_back(pending);
  if (exceeds_share(*pending)) return wait_for_reading(pending);
  if (request.since) {
    pending->since = find_held(*request.since);
    if (!pending->since) return no_snapshot(request, *request.since);
  }
  if (!request.snapshot) return read_counts(pending);
  const SnapshotPtr held = find_held(*request.snapshot);
  if (!held) return no_snapshot(request, *request.snapshot);
  return made_of(*pending, held, std::nullopt);
}

bool QueryAgent::exceeds_share(const PendingRequest& pending) const {
  const std::size_t has = pending.account->bytes();
  return pending.reply_bytes > small_reply && has > small_reply &&
         has + pending.reply_bytes > unread_share(parts_.memory.max_bytes());
}

std::optional<Reply> QueryAgent::wait_for_reading(const std::shared_ptr<PendingRequest>& pending) {
  const bool too_late = parts_.view.clock.now() - pending->received >= time_to_read;
  // Who asks for several large answers at once can know how much that is.
  if (!too_late && !pending->account->in_the_making()) return hold_back(pending);
  return error_reply(
      pending->request.id, ErrorCode::busy,
      "this client has " + std::to_string(pending->account->bytes()) +
          " bytes of answers in the making or unread; with this one it would be more than its share of " +
          std::to_string(unread_share(parts_.memory.max_bytes())) +
          " bytes, a quarter of snapshot.max_bytes. Read them, then ask again");
}

std::optional<Reply> QueryAgent::hold_back(const std::shared_ptr<PendingRequest>& pending) {
  if (auto refusal = refuse_to_wait(*pending)) return refusal;
  pending->account->hold_back();
  parts_.stats.pending.fetch_add(1);
  held_back_.push_back(pending);
  return std::nullopt;
}

bool QueryAgent::is_behind_held_back(const PendingRequest& pending) const {
  return std::any_of(held_back_.begin(), held_back_.end(),
                     [&](const auto& other) { return other->account == pending.account; });
}

SnapshotPtr QueryAgent::find_held(const std::string& id) const {
  const SnapshotPtr held = parts_.held.find(id);
  return held ? held : parts_.view.closed_runs.find(id);
}

std::optional<Reply> QueryAgent::read_counts(const std::shared_ptr<PendingRequest>& pending) {
  const Request& request = pending->request;
  if (auto refusal = refuse_to_wait(*pending)) return refusal;
  if (is_held(request) && parts_.held.size() + pending_holds_ >= parts_.held.max_held())
    return error_reply(
        request.id, ErrorCode::no_memory,
        std::to_string(parts_.held.max_held()) +
            " snapshots are held, which is snapshot.max_held; release one or wait until one expires");
  const ReadWish wish = wish_of(request);
  Asker asker = asker_of(pending);
  if (!request.then_reset && parts_.commands.try_join(wish, asker)) {
    parts_.stats.shared.fetch_add(1, std::memory_order_relaxed);
    begin_waiting(*pending);
    return std::nullopt;
  }
  Command command;
  command.fresh = wish.fresh;
  command.pause = wish.pause;
  command.then_reset = request.then_reset;
  const auto placed = parts_.view.places.placed();
  try {
    command.snapshot = prepare_read(request, placed, parts_.view.config.detector, parts_.memory);
  } catch (const std::bad_alloc&) {
    return no_memory(request, bytes_to_read(request, placed.size()), parts_.memory);
  }
  return submit(pending, std::move(command));
}

Reply QueryAgent::made_of(const PendingRequest& pending, const SnapshotPtr& from,
                          const std::optional<std::string>& held_id) {
  const Request& request = pending.request;
  try {
    return count_reply({request, from, pending.since, held_id}, parts_.view.config.axis, parts_.memory);
  } catch (const std::invalid_argument& e) {
    return error_reply(request.id, ErrorCode::bad_argument, e.what());
  } catch (const RunChanged& e) {
    return error_reply(request.id, ErrorCode::run_changed, e.what());
  } catch (const std::bad_alloc&) {
    return no_memory(request, bytes_to_read(request, 1) + reply_bytes(request), parts_.memory);
  }
}

std::optional<Reply> QueryAgent::submit(const std::shared_ptr<PendingRequest>& pending, Command command) {
  command.askers.push_back(asker_of(pending));
  if (!parts_.commands.try_push(command))
    return error_reply(pending->request.id, ErrorCode::busy,
                       "the command queue is full; try again when answers have come");
  begin_waiting(*pending);
  parts_.submit_doorbell.ring();
  return std::nullopt;
}

Asker QueryAgent::asker_of(const std::shared_ptr<PendingRequest>& pending) const {
  return {pending->client.routing_id, [box = completions_, pending](CommandResult result) {
            box->put({pending, std::move(result)});
          }};
}

void QueryAgent::begin_waiting(const PendingRequest& pending) {
  pending.account->begin(pending.reply_bytes);
  ++in_the_making_;
  if (is_held(pending.request)) ++pending_holds_;
  parts_.stats.pending.fetch_add(1);
}

void QueryAgent::end_waiting(const PendingRequest& pending) {
  pending.account->end(pending.reply_bytes);
  --in_the_making_;
  if (is_held(pending.request)) --pending_holds_;
  parts_.stats.pending.fetch_sub(1);
}

void QueryAgent::complete(CompletionBox::Completion completion) {
  const auto& pending = *completion.pending;
  end_waiting(pending);
  Reply reply = completed_reply(pending, completion.result);
  parts_.stats.count(pending.request.op, reply.error, parts_.view.clock.now() - pending.received);
  send(pending, std::move(reply));
}

Reply QueryAgent::completed_reply(const PendingRequest& pending, const CommandResult& result) {
  const Request& request = pending.request;
  if (result.device_lost)
    return error_reply(request.id, ErrorCode::device_lost, "the device failed; the service is about to exit");
  if (result.no_memory) {
    const bool may_pause = request.op == Op::values && !request.pause;
    return error_reply(request.id, ErrorCode::no_memory,
                       *result.no_memory + "; ask for fewer rows or bins, " +
                           (may_pause ? "give pause true to have filling held meanwhile, " : "") +
                           "or try again when other answers are done");
  }
  const auto ttl = request.ttl.value_or(parts_.view.config.snapshot_ttl);
  if (request.op == Op::snapshot)
    return snapshot_reply(request, parts_.held.hold(result.snapshot, request.id, ttl));
  if (result.snapshot) {
    std::optional<std::string> held_id;
    if (request.then_reset) held_id = parts_.held.hold(result.snapshot, request.id, ttl).id;
    return made_of(pending, result.snapshot, held_id);
  }
  return result_reply(request.id, {{"run", result.run},
                                   {"state", name_of(result.state)},
                                   {"changed", result.changed},
                                   {"cut", to_json(result.cut)}});
}

void QueryAgent::send(const PendingRequest& pending, Reply reply) {
  for (auto& part : reply.parts) part = ClientAccounts::counted(pending.account, std::move(part));
  switch (parts_.socket.send(pending.client, reply.head, reply.parts)) {
    case SendOutcome::sent: break;
    case SendOutcome::client_slow: parts_.stats.replies_dropped_slow.fetch_add(1); break;
    case SendOutcome::client_gone: parts_.stats.replies_dropped_gone.fetch_add(1); break;
  }
}

}  // namespace pixhist
