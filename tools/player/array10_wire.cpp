#include "proto/ingest/array10_encoder.hpp"
#include "tools/player/header_edit.hpp"
#include "tools/player/wire_encoder.hpp"

namespace pixhist {

namespace {

constexpr std::size_t huge_header_bytes = 70'000;

class Array10Wire final : public WireEncoder {
 public:
  Array10Wire(FrameShape shape, PixelType type, std::string run, RunKeys keys)
      : shape_(shape), type_(type), base_(std::move(run)), keys_(keys), name_(base_) {}

  void header(const WireFrame& frame, FrameFault fault, std::string& header) override {
    auto shape = shape_;
    if (fault == FrameFault::wrong_shape) ++shape.rows;
    auto type = type_;
    if (fault == FrameFault::wrong_type) type = type_ == PixelType::f32 ? PixelType::i32 : PixelType::f32;
    encode_array10_header({shape, type, frame.number, run_key(frame)}, header);
    if (fault == FrameFault::bad_header) header.pop_back();
    if (fault == FrameFault::missing_key) remove_key(header, "shape");
    if (fault == FrameFault::wrong_kind) replace_value(header, "frame", R"("one")");
    if (fault == FrameFault::huge_header) pad_header(header, huge_header_bytes);
  }

  std::string end_mark(std::uint64_t run, std::uint64_t numbers) override {
    return encode_array10_end(name_of(run), numbers);
  }

  std::optional<std::string_view> run_key(const WireFrame& frame) override { return name_of(frame.run); }

  WireEnd read_end(std::uint64_t run, std::uint64_t numbers) override { return {name_of(run), numbers}; }

 private:
  std::optional<std::string_view> name_of(std::uint64_t run) {
    if (keys_ == RunKeys::none) return std::nullopt;
    if (keys_ == RunKeys::fresh && run != named_) {
      name_ = run == 0 ? base_ : base_ + '-' + std::to_string(run + 1);
      named_ = run;
    }
    return name_;
  }

  FrameShape shape_;
  PixelType type_;
  std::string base_;
  RunKeys keys_;
  std::string name_;  // of run `named_`
  std::uint64_t named_ = 0;
};

}  // namespace

std::unique_ptr<WireEncoder> make_array10_wire(FrameShape shape, PixelType type, std::string run,
                                               RunKeys keys) {
  return std::make_unique<Array10Wire>(shape, type, std::move(run), keys);
}

}  // namespace pixhist
