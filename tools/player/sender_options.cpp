#include "tools/player/sender_options.hpp"

#include <limits>

#include "tools/player/commands.hpp"

namespace pixhist {

void add_sender_options(CLI::App& app, SenderOptions& o) {
  app.add_option(
         "--socket", o.socket,
         "push: waits for a slow peer (default); pub: leaves out (and counts) what a slow peer has no "
         "room for (default of sls)")
      ->check(CLI::IsMember({"push", "pub"}));
  auto* bind = app.add_option("--bind", o.bind,
                              "endpoint to bind; port * takes a free one. For several sockets: one, whose "
                              "port counts up, or a list with commas")
                   ->delimiter(',')
                   ->allow_extra_args(false);
  app.add_option("--connect", o.connect,
                 "endpoint or endpoints to connect to; default " + PlayerSocketSettings{}.endpoint +
                     ", where sls binds")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->excludes(bind);
  app.add_option("--queue-bytes", o.queue_bytes,
                 "bound of the send queue of a socket, rounded down to messages, at least one")
      ->check(whole_number())
      ->capture_default_str();
  app.add_option("--linger-ms", o.linger_ms, "longest wait at the end for end mark and queue together")
      ->check(CLI::Range(std::int64_t{0}, std::int64_t{std::numeric_limits<int>::max()}))
      ->capture_default_str();
  app.add_option("--wait-subscriber", o.wait_subscriber_s,
                 "pub: seconds to wait for a first subscriber before sending; 0: do not wait")
      ->check(amount())
      ->capture_default_str();
}

PlayerSocketSettings SenderOptions::settings(bool pub_by_default) const {
  PlayerSocketSettings settings;
  const bool pub = socket ? *socket == "pub" : pub_by_default;
  settings.kind = pub ? PlayerSocketSettings::Kind::pub : PlayerSocketSettings::Kind::push;
  settings.bind = !bind.empty() || (pub_by_default && connect.empty());
  settings.queue_bytes = queue_bytes;
  return settings;
}

std::vector<std::string> SenderOptions::endpoints() const {
  if (!bind.empty()) return bind;
  if (!connect.empty()) return connect;
  return {PlayerSocketSettings{}.endpoint};
}

std::optional<std::chrono::milliseconds> SenderOptions::wait_subscriber() const {
  if (wait_subscriber_s <= 0) return std::nullopt;
  return std::chrono::milliseconds(static_cast<std::int64_t>(wait_subscriber_s * 1000));
}

}  // namespace pixhist
