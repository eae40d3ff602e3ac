#include "service/stalled_pipeline.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <thread>

using namespace pixhist;

namespace {

/// Is done with a batch at once.
class QuickPipeline final : public Pipeline {
 public:
  std::size_t slots() const override { return 2; }
  bool try_submit(Batch&) override {
    ++submitted;
    return true;
  }
  PipelineProgress progress() override { return {submitted, submitted}; }
  std::uint64_t bad_frames(Ticket ticket) override { return ticket; }
  BatchSeconds seconds(Ticket) override { return {1, 2}; }
  void drain() override {}
  bool healthy() override { return true; }

  Ticket submitted = 0;
};

/// The file is there while this is.
class Stall {
 public:
  explicit Stall(std::filesystem::path file) : file_(std::move(file)) { std::ofstream(file_) << '\n'; }
  ~Stall() { std::filesystem::remove(file_); }
  Stall(const Stall&) = delete;
  Stall& operator=(const Stall&) = delete;

 private:
  const std::filesystem::path file_;
};

std::filesystem::path some_file() {
  return std::filesystem::temp_directory_path() / ("pixhist-stall-" + std::to_string(getpid()));
}

}  // namespace

TEST_CASE("a stalled pipeline fills its slots, finishes nothing, and goes on where it was") {
  auto owned = std::make_unique<QuickPipeline>();
  QuickPipeline& inner = *owned;
  StalledPipeline pipeline(std::move(owned), some_file());
  Batch batch;
  CHECK(pipeline.try_submit(batch));
  CHECK(pipeline.progress().accumulated == 1);
  {
    const Stall stall(some_file());
    CHECK(pipeline.try_submit(batch));
    CHECK(pipeline.try_submit(batch));
    CHECK_FALSE(pipeline.try_submit(batch));
    CHECK(inner.submitted == 3);  // what was refused is untouched
    CHECK(pipeline.progress().copied == 1);
    CHECK(pipeline.progress().accumulated == 1);
    CHECK(pipeline.healthy());
  }
  CHECK(pipeline.progress().accumulated == 3);
  CHECK(pipeline.try_submit(batch));
  CHECK(pipeline.bad_frames(7) == 7);
  CHECK(pipeline.seconds(1).kernel == 2);
}

TEST_CASE("to drain a stalled pipeline is to wait for the end of the stall") {
  StalledPipeline pipeline(std::make_unique<QuickPipeline>(), some_file());
  Batch batch;
  auto stall = std::make_unique<Stall>(some_file());
  REQUIRE(pipeline.try_submit(batch));
  CHECK(pipeline.progress().accumulated == 0);
  std::thread end([&stall] { stall.reset(); });
  pipeline.drain();
  CHECK_FALSE(std::filesystem::exists(some_file()));
  end.join();
  CHECK(pipeline.progress().accumulated == 1);
}

TEST_CASE("without the variable there is no such pipeline, with it the log warns") {
  std::string said;
  const auto warn = [&said](const std::string& what) { said += what; };
  auto owned = std::make_unique<QuickPipeline>();
  Pipeline* const plain = owned.get();
  unsetenv(stall_file_variable);
  auto pipeline = stall_if_told(std::move(owned), warn);
  CHECK(pipeline.get() == plain);
  setenv(stall_file_variable, "", 1);
  pipeline = stall_if_told(std::move(pipeline), warn);
  CHECK(pipeline.get() == plain);
  CHECK(said.empty());
  setenv(stall_file_variable, some_file().c_str(), 1);
  pipeline = stall_if_told(std::move(pipeline), warn);
  CHECK(pipeline.get() != plain);
  CHECK(said.find("FOR TESTS ONLY") != std::string::npos);
  CHECK(said.find(some_file().string()) != std::string::npos);
  unsetenv(stall_file_variable);
}
