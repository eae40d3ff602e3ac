#pragma once
// A socket that could not be opened. Ends the process with exit code 4.

#include <stdexcept>

namespace pixhist {

class SocketError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace pixhist
