#pragma once
// One table of every configuration key: the parser, --print-schema, docs/configuration.md and the error
// texts are made from it. Constant; any thread may read it.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pixhist {

inline constexpr std::size_t max_sources = 32;
inline constexpr std::size_t max_endpoints_per_source = 16;

enum class FieldType : std::uint8_t {
  integer,  // min … max
  number,   // any finite number
  boolean,
  text,       // at most max bytes, no control characters
  name,       // 1 to 64 of A-Z a-z 0-9 _ . -: becomes a label value of metrics
  choice,     // one of choices
  size,       // bytes: an integer, or text with KiB, MiB, GiB; min … max
  endpoint,   // tcp://host:port or ipc://path
  listen,     // host:port
  endpoints,  // at most max endpoints
  pair,       // two integers, each min … max
  numbers     // at most max finite numbers
};

/// Keys of later work are known and checked, but refused unless they ask for what is there.
enum class Built : std::uint8_t {
  all,           // every allowed value
  some_choices,  // the choices in built_choices
  default_only
};

struct ConfigField {
  std::string_view path;  // "batch.frames"; an element of the list of sources is "sources.*.name"
  FieldType type;
  std::string_view default_json;
  std::string_view unit = "";
  std::uint64_t min = 0;
  std::uint64_t max = 0;
  std::vector<std::string_view> choices = {};
  bool nullable = false;
  Built built = Built::all;
  std::vector<std::string_view> built_choices = {};
  std::string_view advice = "";  // when to touch it
};

/// In the order of the documents.
std::span<const ConfigField> config_fields();

/// The field of a pattern such as "sources.*.name"; null if there is none.
const ConfigField* find_field(std::string_view pattern);

/// Keys right below a pattern such as "batch" or "sources.*" ("" is the top), in order; empty if it has none.
std::vector<std::string> child_keys(std::string_view pattern);

/// "sources.0.name" -> "sources.*.name".
std::string pattern_of(std::string_view path);

/// The default as JSON text. Source i is named "module<i>".
std::string default_json(const ConfigField& field, std::size_t source_index = 0);

/// What a field allows, in words: "an integer from 1 to 65536", "one of sub, pull".
std::string allowed_text(const ConfigField& field);

/// The known key nearest to an unknown one, if any is near.
std::optional<std::string> nearest_key(std::string_view path);

/// 67108864 -> "64MiB"; the plain number where no unit divides it.
std::string size_text(std::uint64_t bytes);

}  // namespace pixhist
