#include "proto/ingest/header_fields.hpp"

#include "proto/text.hpp"

namespace pixhist {
namespace {

constexpr std::size_t shown_value_bytes = 40;

}  // namespace

void HeaderFields::key(std::string_view name) {
  if (depth_ != 1) return;
  key_ = find(name);
  if (!key_) return;
  if (notes_.present[*key_]) note(*key_, "stands twice");
  notes_.present[*key_] = true;
}

void HeaderFields::begin_object() {
  if (depth_ == 0)
    notes_.is_object = true;
  else if (const auto key = field())
    refuse_given(*key, "an object");
  ++depth_;
}

void HeaderFields::begin_array() {
  if (const auto key = field()) {
    if (takes_list(*key) && !in_list_)
      in_list_ = true;
    else
      refuse_given(*key, "an array");
  }
  ++depth_;
}

void HeaderFields::end_array() {
  --depth_;
  if (depth_ == 1) in_list_ = false;
}

/// The key this value belongs to: a value at the top level, or a direct element of a list there.
std::optional<std::size_t> HeaderFields::field() const {
  if (depth_ == 1 || (depth_ == 2 && in_list_)) return key_;
  return std::nullopt;
}

void HeaderFields::route(HeaderValue value) {
  const auto key = field();
  if (!key) return;
  value.in_list = in_list_;
  take(*key, value);
}

void HeaderFields::refuse(std::size_t key, const HeaderValue& value) {
  switch (value.kind) {
    case HeaderValue::Kind::null: return refuse_given(key, "null");
    case HeaderValue::Kind::boolean: return refuse_given(key, value.truth ? "true" : "false");
    case HeaderValue::Kind::number: return refuse_given(key, value.text);
    case HeaderValue::Kind::string:
      return refuse_given(key, '"' + printable(value.text, shown_value_bytes) + '"');
  }
}

void HeaderFields::refuse_given(std::size_t key, std::string_view given) {
  std::string problem = "must be ";
  problem += allowed(key);
  problem += in_list_ ? "; it holds " : "; it is ";
  problem += printable(given, shown_value_bytes + 2);
  note(key, problem);
}

void HeaderFields::note(std::size_t key, std::string_view problem) {
  auto& fault = notes_.fault[key];
  if (!fault.empty()) return;
  fault = '`';
  fault += name(key);
  fault += "` ";
  fault += problem;
}

}  // namespace pixhist
