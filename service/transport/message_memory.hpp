#pragma once
// How malloc treats the bodies of ZeroMQ messages, which libzmq takes and gives back one by one.

#include <cstdint>

namespace pixhist {

/// Keeps freed message bodies mapped, so that the next message finds its pages there instead of faulting each
/// of them in: up to `largest_message` bytes, at most 1 GiB. The process holds on to the most its queues ever
/// took (the high-water marks bound it). Call once, before the process makes a second thread.
void keep_message_memory(std::uint64_t largest_message);

}  // namespace pixhist
