#include "service/query/completion_box.hpp"

#include <sys/eventfd.h>
#include <unistd.h>

#include <system_error>
#include <utility>

namespace pixhist {

CompletionBox::CompletionBox() : event_fd_(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
  if (event_fd_ < 0) throw std::system_error(errno, std::generic_category(), "eventfd");
}

CompletionBox::~CompletionBox() { close(event_fd_); }

void CompletionBox::put(Completion completion) {
  {
    const std::lock_guard lock(mutex_);
    completions_.push_back(std::move(completion));
  }
  const std::uint64_t one = 1;
  // Fails only if the counter is full, and then the reader wakes anyway.
  [[maybe_unused]] const auto written = write(event_fd_, &one, sizeof one);
}

std::vector<CompletionBox::Completion> CompletionBox::take() {
  std::uint64_t count = 0;
  [[maybe_unused]] const auto got = read(event_fd_, &count, sizeof count);
  const std::lock_guard lock(mutex_);
  return std::exchange(completions_, {});
}

}  // namespace pixhist
