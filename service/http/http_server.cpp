#include "service/http/http_server.hpp"

#include <CivetServer.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <thread>
#include <utility>

#include "proto/json.hpp"
#include "service/metrics/metrics_text.hpp"
#include "service/status/status_document.hpp"
#include "service/transport/socket_error.hpp"

namespace pixhist {
namespace {

struct Page {
  int status;
  const char* content_type;
  std::string body;
};

constexpr const char* plain_text = "text/plain; charset=utf-8";
constexpr const char* json_text = "application/json";
constexpr const char* prometheus_text = "text/plain; version=0.0.4; charset=utf-8";

const char* reason_phrase(int status) {
  return status == 200 ? "OK" : status == 404 ? "Not Found" : "Service Unavailable";
}

Page health_page(const HealthAnswer& answer) {
  return {answer.ok ? 200 : 503, plain_text, answer.text + "\n"};
}

Page status_page(const ServiceView& view) {
  const auto status = status_document(view);
  return {200, json_text, dump_json(status, 2) + "\n"};
}

Page index_page(const std::string& path) {
  const std::string pages =
      "/metrics  Prometheus\n/healthz  is it alive\n/readyz   is it ready\n/status   what it does, as JSON\n";
  if (path == "/") return {200, plain_text, "pixhist " PIXHIST_VERSION "\n\n" + pages};
  return {404, plain_text, "nothing at " + path.substr(0, 200) + "; there are:\n" + pages};
}

void write_page(mg_connection* connection, const Page& page, bool head_only) {
  mg_printf(connection,
            "HTTP/1.1 %d %s\r\nContent-Type: %s\r\nContent-Length: %zu\r\nCache-Control: no-store\r\n"
            "X-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n",
            page.status, reason_phrase(page.status), page.content_type, page.body.size());
  if (!head_only) mg_write(connection, page.body.data(), page.body.size());
}

void connect_and_leave(std::string host, int port) {
  if (host.size() > 2 && host.front() == '[') host = host.substr(1, host.size() - 2);
  char error[64] = "";
  mg_connection* connection = mg_connect_client(host.c_str(), port, 0, error, sizeof error);
  if (connection != nullptr) mg_close_connection(connection);
}

}  // namespace

class HttpServer::Handler : public CivetHandler {
 public:
  using MakePage = std::function<Page(const std::string& path)>;
  explicit Handler(MakePage make_page) : make_page_(std::move(make_page)) {}

  bool handleGet(CivetServer*, mg_connection* connection) override { return handle(connection, false); }
  bool handleHead(CivetServer*, mg_connection* connection) override { return handle(connection, true); }

 private:
  bool handle(mg_connection* connection, bool head_only) {
    const char* uri = mg_get_request_info(connection)->local_uri;
    write_page(connection, make_page_(uri == nullptr ? "" : uri), head_only);
    return true;
  }
  MakePage make_page_;
};

HttpServer::HttpServer(const std::string& listen, const ServiceView& view, const Health& health)
    : host_(listen.substr(0, listen.rfind(':'))) {
  const std::pair<const char*, Handler::MakePage> pages[] = {
      {"/metrics$",
       [&view](const auto&) {
         return Page{200, prometheus_text, metrics_text(view)};
       }},
      {"/healthz$", [&health](const auto&) { return health_page(health.alive()); }},
      {"/readyz$", [&health](const auto&) { return health_page(health.ready()); }},
      {"/status$", [&view](const auto&) { return status_page(view); }},
      {"/", [](const auto& path) { return index_page(path); }},
  };
  // Made before the server starts its threads, which are to find them complete.
  for (const auto& page : pages) handlers_.push_back(std::make_unique<Handler>(page.second));

  // Probes must get through while a slow scrape is served: enough threads that a crowd of stalled connections
  // does not hold them up, each request 5 s at most.
  const std::vector<std::string> options{
      "listening_ports",          listen, "num_threads",       "32", "request_timeout_ms", "5000",
      "enable_directory_listing", "no",   "enable_keep_alive", "no"};
  try {
    server_ = std::make_unique<CivetServer>(options);
  } catch (const CivetException&) {  // says only that there is no server
    throw SocketError("http.listen: cannot listen on " + listen +
                      ": the port is in use, or this machine does not have the address");
  }
  for (std::size_t i = 0; i < handlers_.size(); ++i) server_->addHandler(pages[i].first, *handlers_[i]);
}

/// CivetWeb looks at its stop flag every 2 s, or when a connection comes: so one is made.
HttpServer::~HttpServer() {
  const auto ports = server_->getListeningPorts();
  std::atomic<bool> stopped{false};
  std::thread waker([&] {
    while (!stopped.load() && !ports.empty()) {
      connect_and_leave(host_, ports.front());
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  });
  server_.reset();
  stopped.store(true);
  waker.join();
}

std::string HttpServer::address() const {
  const auto ports = server_->getListeningPorts();
  return host_ + ":" + (ports.empty() ? "?" : std::to_string(ports.front()));
}

}  // namespace pixhist
