#include "service/http/health_client.hpp"

#include <civetweb.h>

#include <charconv>
#include <optional>

namespace pixhist {
namespace {

struct Url {
  std::string host;
  int port = 80;
  std::string path = "/";
};

std::optional<Url> parse_url(const std::string& text) {
  constexpr std::string_view scheme = "http://";
  if (!text.starts_with(scheme)) return std::nullopt;
  std::string rest = text.substr(scheme.size());
  Url url;
  if (const auto slash = rest.find('/'); slash != std::string::npos) {
    url.path = rest.substr(slash);
    rest.resize(slash);
  }
  const auto colon = rest.rfind(':');
  if (colon != std::string::npos && rest.find(']', colon) == std::string::npos) {
    const auto* end = rest.data() + rest.size();
    const auto [last, error] = std::from_chars(rest.data() + colon + 1, end, url.port);
    if (error != std::errc() || last != end || url.port < 1 || url.port > 65535) return std::nullopt;
    rest.resize(colon);
  }
  if (rest.size() > 2 && rest.front() == '[') rest = rest.substr(1, rest.size() - 2);
  url.host = rest;
  if (url.host.empty() || url.path.find_first_of(" \r\n") != std::string::npos) return std::nullopt;
  return url;
}

}  // namespace

ProbeResult probe_health(const std::string& text) {
  const auto url = parse_url(text);
  if (!url) return {false, "not a URL of the form http://host:port/path: " + text};
  char error[256] = "";
  mg_connection* connection = mg_connect_client(url->host.c_str(), url->port, 0, error, sizeof error);
  if (connection == nullptr) return {false, "no connection to " + text + ": " + error};
  mg_printf(connection, "GET %s HTTP/1.0\r\nHost: %s\r\n\r\n", url->path.c_str(), url->host.c_str());
  ProbeResult result;
  constexpr int timeout_ms = 4000;
  if (mg_get_response(connection, error, sizeof error, timeout_ms) < 0) {
    result.text = "no answer from " + text + ": " + error;
  } else {
    const int status = mg_get_response_info(connection)->status_code;
    char body[512];
    const int n = mg_read(connection, body, sizeof body);
    result.text = std::string(body, static_cast<std::size_t>(n > 0 ? n : 0));
    while (!result.text.empty() && result.text.back() == '\n') result.text.pop_back();
    result.healthy = status == 200;
    if (!result.healthy) result.text = "HTTP " + std::to_string(status) + ": " + result.text;
  }
  mg_close_connection(connection);
  return result;
}

}  // namespace pixhist
