#pragma once
// The query thread: requests in, commands to the submit thread, replies out. Bounded in requests and in
// result memory, in all and per client, and in held cuts, so a client that never reads costs nobody else
// anything.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "service/agents/agent.hpp"
#include "service/agents/command_queue.hpp"
#include "service/agents/doorbell.hpp"
#include "service/query/client_accounts.hpp"
#include "service/query/completion_box.hpp"
#include "service/query/held_snapshots.hpp"
#include "service/query/query_replies.hpp"
#include "service/query/snapshot_memory.hpp"
#include "service/status/query_stats.hpp"
#include "service/status/service_view.hpp"
#include "service/transport/query_socket.hpp"

namespace pixhist {

class QueryAgent final : public Agent {
 public:
  struct Parts {
    const ServiceView& view;
    QuerySocket& socket;
    CommandQueue& commands;
    Doorbell& submit_doorbell;
    HeldSnapshots& held;
    SnapshotMemory& memory;
    QueryStats& stats;
  };
  explicit QueryAgent(Parts parts);

  bool step() override;
  void wait() override;

  /// Any thread: requests that were accepted and not yet answered.
  std::size_t pending() const { return parts_.stats.pending.load(std::memory_order_relaxed); }

 private:
  void handle(QueryMessage message);
  /// Sends the reply, unless it must wait.
  void serve(const std::shared_ptr<PendingRequest>& pending);
  /// The reply, or nothing if the submit thread will have to be asked first.
  std::optional<Reply> answer(const std::shared_ptr<PendingRequest>& pending);
  std::optional<Reply> refuse_control(const PendingRequest& pending) const;
  std::optional<Reply> refuse_by_state(const Request& request) const;
  /// Before a request waits for the submit thread: the state and the limits.
  std::optional<Reply> refuse_to_wait(const PendingRequest& pending) const;
  std::optional<Reply> count_op(const std::shared_ptr<PendingRequest>& pending);
  /// The client would have more than its share of memory in unread replies.
  bool exceeds_share(const PendingRequest& pending) const;
  std::optional<Reply> wait_for_reading(const std::shared_ptr<PendingRequest>& pending);
  /// Looked at again at each step, before what the client asks after it.
  std::optional<Reply> hold_back(const std::shared_ptr<PendingRequest>& pending);
  bool is_behind_held_back(const PendingRequest& pending) const;
  /// A held cut, or the last closed run; null if there is none of that id.
  SnapshotPtr find_held(const std::string& id) const;
  std::optional<Reply> read_counts(const std::shared_ptr<PendingRequest>& pending);
  /// The answer made of what was read, or of a held cut.
  Reply made_of(const PendingRequest& pending, const SnapshotPtr& from,
                const std::optional<std::string>& held_id);
  std::optional<Reply> control_run(const std::shared_ptr<PendingRequest>& pending, CommandKind kind);
  std::optional<Reply> submit(const std::shared_ptr<PendingRequest>& pending, Command command);
  Asker asker_of(const std::shared_ptr<PendingRequest>& pending) const;
  void begin_waiting(const PendingRequest& pending);
  void end_waiting(const PendingRequest& pending);
  void complete(CompletionBox::Completion completion);
  Reply completed_reply(const PendingRequest& pending, const CommandResult& result);
  void send(const PendingRequest& pending, Reply reply);

  Parts parts_;
  // Shared with commands that the submit thread may complete after this agent has gone.
  std::shared_ptr<CompletionBox> completions_ = std::make_shared<CompletionBox>();
  ClientAccounts accounts_;
  std::chrono::nanoseconds accounts_swept_{};
  std::vector<std::shared_ptr<PendingRequest>> held_back_;  // until their clients have read
  // Requests that the submit thread has; what is held back takes no place of others.
  std::size_t in_the_making_ = 0;
  std::size_t pending_holds_ = 0;  // commands whose result will be held
};

}  // namespace pixhist
