#pragma once
// What each client has waiting, so that one that asks and does not read takes nothing from others: requests,
// and the bytes of the answers in the making or unread. Query thread; ZeroMQ's threads let go of what was
// read.

#include <atomic>
#include <cstddef>
#include <map>
#include <memory>
#include <string>

#include "service/transport/query_socket.hpp"

namespace pixhist {

/// What one client may have in answers unread or in the making, beside small ones, unless it is a single one.
constexpr std::size_t unread_share(std::size_t max_bytes) { return max_bytes / 4; }

class ClientAccount {
 public:
  /// All that wait.
  std::size_t requests() const { return held_back_ + requests_in_the_making_; }
  bool in_the_making() const { return requests_in_the_making_ != 0; }
  /// Bytes of answers in the making, and of those that ZeroMQ has not handed to the connection yet. It is a
  /// moment behind: the client may have the last byte before ZeroMQ lets go of them.
  std::size_t bytes() const { return in_the_making_ + unread_.load(std::memory_order_acquire); }

  /// A request that the submit thread will answer, and its end.
  void begin(std::size_t reply_bytes) {
    ++requests_in_the_making_;
    in_the_making_ += reply_bytes;
  }
  void end(std::size_t reply_bytes) {
    --requests_in_the_making_;
    in_the_making_ -= reply_bytes;
  }
  /// A request that waits until the client has read, and its end.
  void hold_back() { ++held_back_; }
  void let_go() { --held_back_; }

 private:
  friend class ClientAccounts;
  std::size_t held_back_ = 0;
  std::size_t requests_in_the_making_ = 0;
  std::size_t in_the_making_ = 0;  // bytes
  std::atomic<std::size_t> unread_{0};
};

class ClientAccounts {
 public:
  using Ptr = std::shared_ptr<ClientAccount>;

  /// Of the connection with this routing id.
  Ptr of(const std::string& routing_id);
  /// The same bytes, on the account for as long as somebody owns them.
  static SharedBytes counted(const Ptr& account, SharedBytes bytes);
  /// Those of clients that have nothing waiting go. To be called from time to time.
  void forget_idle();
  std::size_t size() const { return accounts_.size(); }

 private:
  std::map<std::string, Ptr> accounts_;
};

}  // namespace pixhist
