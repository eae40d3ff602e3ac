// A client that does not read what it asks for, and one that is slow.

#include "service/transport/query_socket.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <memory>
#include <vector>

#include "service/query/client_accounts.hpp"

using namespace pixhist;

namespace {

constexpr auto unread = std::chrono::seconds(2);
constexpr std::size_t reply_bytes = std::size_t{4} << 20;  // more than the buffers of a connection take

using Time = std::chrono::steady_clock;

struct Bench {
  zmq::context_t context;
  QuerySocket socket{context, "tcp://127.0.0.1:*", 8, unread};
  zmq::context_t of_client;
  zmq::socket_t client{of_client, zmq::socket_type::dealer};
  ClientAccounts accounts;
  ClientAccounts::Ptr account = accounts.of("client");

  Bench() {
    client.set(zmq::sockopt::rcvhwm, 1);
    client.set(zmq::sockopt::rcvbuf, 65536);
    client.set(zmq::sockopt::linger, 0);
    client.connect(socket.endpoint());
  }

  template <class Done>
  bool wait_until(Done&& done) {
    const auto deadline = Time::now() + std::chrono::seconds(120);
    while (!done()) {
      if (Time::now() > deadline) return false;
      socket.wait(-1, std::chrono::milliseconds(20));
    }
    return true;
  }
  QueryClient asked() {
    client.send(zmq::str_buffer("?"), zmq::send_flags::none);
    std::optional<QueryMessage> message;
    REQUIRE(wait_until([&] { return (message = socket.receive()).has_value(); }));
    return message->client;
  }
  SendOutcome answer(const QueryClient& to) {
    auto block = std::make_shared<std::vector<std::byte>>(reply_bytes);
    const SharedBytes part = ClientAccounts::counted(account, {block, *block});
    return socket.send(to, "head", {&part, 1});
  }
};

}  // namespace

TEST_CASE("a connection that takes nothing for too long is cut, and what was queued for it is let go") {
  Bench bench;
  const QueryClient asker = bench.asked();
  for (int i = 0; i < 8; ++i) REQUIRE(bench.answer(asker) == SendOutcome::sent);
  CHECK(bench.account->bytes() > 4 * reply_bytes);
  CHECK(bench.wait_until([&] { return bench.account->bytes() == 0; }));
  CHECK(bench.wait_until([&] { return bench.answer(asker) == SendOutcome::client_gone; }));
  // Its ZeroMQ connects again, once it reads; what it asks before it knows of the cut is lost.
  CHECK(bench.wait_until([&] {
    for (zmq::message_t part; bench.client.recv(part, zmq::recv_flags::dontwait);) {
    }
    bench.client.send(zmq::str_buffer("?"), zmq::send_flags::dontwait);
    return bench.socket.receive().has_value();
  }));
}

TEST_CASE("a client that reads slowly, but reads, keeps its connection") {
  Bench bench;
  const QueryClient asker = bench.asked();
  constexpr int replies = 10;
  for (int i = 0; i < replies; ++i) REQUIRE(bench.answer(asker) == SendOutcome::sent);
  const auto begin = Time::now();
  for (int i = 0; i < replies; ++i) {
    REQUIRE(bench.wait_until([&] { return Time::now() >= begin + i * unread / 5; }));
    for (int part = 0; part < 2; ++part) {
      zmq::message_t read;
      REQUIRE(
          bench.wait_until([&] { return bench.client.recv(read, zmq::recv_flags::dontwait).has_value(); }));
    }
  }
  CHECK(bench.wait_until([&] { return bench.account->bytes() == 0; }));
}
