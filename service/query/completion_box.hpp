#pragma once
// Requests that wait for the submit thread, and how their results come back to the query thread.

#include <chrono>
#include <memory>
#include <mutex>
#include <vector>

#include "proto/query/request.hpp"
#include "service/agents/command.hpp"
#include "service/query/client_accounts.hpp"
#include "service/transport/query_socket.hpp"

namespace pixhist {

/// A request whose command is with the submit thread.
struct PendingRequest {
  QueryClient client;
  Request request;
  std::chrono::nanoseconds received;
  SnapshotPtr since;  // the cut that the request names so, kept until it is answered
  ClientAccounts::Ptr account;
  std::size_t reply_bytes = 0;  // of its arrays
};

/// Where the submit thread leaves results; wakes the query thread's poll.
class CompletionBox {
 public:
  CompletionBox();
  ~CompletionBox();
  CompletionBox(const CompletionBox&) = delete;  // owns a file descriptor both threads use
  CompletionBox& operator=(const CompletionBox&) = delete;

  struct Completion {
    std::shared_ptr<PendingRequest> pending;
    CommandResult result;
  };
  void put(Completion completion);  // submit thread
  std::vector<Completion> take();   // query thread
  int event_fd() const { return event_fd_; }

 private:
  int event_fd_;
  std::mutex mutex_;
  std::vector<Completion> completions_;
};

}  // namespace pixhist
