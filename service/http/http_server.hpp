#pragma once
// GET /metrics, /healthz, /readyz, /status on a listener of their own, so that viewers cannot starve probes.

#include <memory>
#include <string>

#include "service/http/health.hpp"
#include "service/status/service_view.hpp"

class CivetServer;

namespace pixhist {

class HttpServer {
 public:
  /// Listens on "host:port" from here on. Throws SocketError naming it.
  HttpServer(const std::string& listen, const ServiceView& view, const Health& health);
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;  // handlers refer to it
  HttpServer& operator=(const HttpServer&) = delete;

  /// As asked for, with the port the system chose if it was 0.
  std::string address() const;

 private:
  class Handler;
  std::string host_;
  std::vector<std::unique_ptr<Handler>> handlers_;
  std::unique_ptr<CivetServer> server_;  // last: stops before the handlers go
};

}  // namespace pixhist
