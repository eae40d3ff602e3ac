#include "proto/query/arguments.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string_view>

#include "proto/json.hpp"
#include "proto/query/contradictions.hpp"
#include "proto/query/reply.hpp"
#include "proto/text.hpp"

namespace pixhist {
namespace {

using nlohmann::json;

constexpr double max_ttl_s = 86400;
constexpr std::size_t max_name_bytes = 256;
constexpr std::size_t max_id_bytes = 128;

Fault wrong(std::string_view name, const json& value, std::string_view allowed) {
  return {ErrorCode::bad_argument,
          "`" + std::string(name) + "` must be " + std::string(allowed) + "; it is " + shown(value)};
}

std::string interval(std::uint32_t end) { return "[0, " + std::to_string(end) + ")"; }

/// begin < end <= limit, all of them integers of any size or sign.
std::optional<std::array<std::uint32_t, 2>> half_open(const json& begin, const json& end,
                                                      std::uint32_t limit) {
  if (!begin.is_number_unsigned() || !end.is_number_unsigned()) return std::nullopt;
  const auto b = begin.get<std::uint64_t>();
  const auto e = end.get<std::uint64_t>();
  if (b >= e || e > limit) return std::nullopt;
  return std::array{static_cast<std::uint32_t>(b), static_cast<std::uint32_t>(e)};
}

bool is_integers(const json& value, std::size_t count) {
  if (!value.is_array() || value.size() != count) return false;
  for (const auto& element : value) {
    if (!element.is_number_integer()) return false;
  }
  return true;
}

std::string shown_integers(const json& value) {
  std::string out = "[";
  for (const auto& element : value) out += (out.size() > 1 ? "," : "") + shown(element);
  return out + ')';
}

std::optional<Fault> read_roi(const json& value, const RequestLimits& limits, Request& request) {
  if (!is_integers(value, 4))
    return wrong("roi", value, "four integers [r0,r1,c0,c1), or null for the whole detector");
  const auto rows = half_open(value[0], value[1], limits.detector.rows);
  const auto cols = half_open(value[2], value[3], limits.detector.cols);
  if (!rows || !cols) {
    return Fault{ErrorCode::roi_out_of_range, "roi " + shown_integers(value) + " is empty or not inside [0," +
                                                  std::to_string(limits.detector.rows) + ",0," +
                                                  std::to_string(limits.detector.cols) +
                                                  "); give 0 <= r0 < r1 <= rows and 0 <= c0 < c1 <= cols"};
  }
  request.roi = {(*rows)[0], (*rows)[1], (*cols)[0], (*cols)[1]};
  return std::nullopt;
}

std::optional<Fault> read_bins(const json& value, const RequestLimits& limits, Request& request) {
  if (!is_integers(value, 2)) return wrong("bins", value, "two integers [b0,b1), or null for all bins");
  const auto bins = half_open(value[0], value[1], limits.axis.bins);
  if (!bins) {
    return Fault{ErrorCode::bins_out_of_range,
                 "bins " + shown_integers(value) + " is empty or not inside [0," +
                     std::to_string(limits.axis.bins) + "); give 0 <= b0 < b1 <= bins"};
  }
  request.bins = {(*bins)[0], (*bins)[1]};
  return std::nullopt;
}

/// The range becomes the bins whose centres lie in it.
std::optional<Fault> read_range(const json& value, const RequestLimits& limits, Request& request) {
  const bool numbers = value.is_array() && value.size() == 2 && value[0].is_number() && value[1].is_number();
  const double low = numbers ? value[0].get<double>() : 0;
  const double high = numbers ? value[1].get<double>() : 0;
  if (!(low < high)) return wrong("range", value, "two numbers [lo,hi) with lo < hi, or null for all bins");
  request.bins = visit_bin_scale(limits.axis, [&](const auto& scale) {
    const auto centers = bin_centers(scale);
    const auto first_from = [&](double limit) {
      const auto at = std::lower_bound(centers.begin(), centers.end(), limit,
                                       [](auto center, double x) { return static_cast<double>(center) < x; });
      return static_cast<std::uint32_t>(at - centers.begin());
    };
    return BinRange{first_from(low), first_from(high)};
  });
  if (request.bins.size() == 0) {
    return Fault{ErrorCode::bins_out_of_range,
                 "no bin has its centre in range [" + shown(value[0]) + "," + shown(value[1]) +
                     "); there are " + std::to_string(limits.axis.bins) + " bins on [" +
                     number_text(limits.axis.min) + "," + number_text(limits.axis.max) + ")"};
  }
  return std::nullopt;
}

std::optional<Fault> read_dtype(const json& value, const RequestLimits&, Request& request) {
  for (const auto type : {StorageType::u8, StorageType::u16, StorageType::u32, StorageType::f32}) {
    if (!value.is_string() || value.get_ref<const std::string&>() != numpy_dtype(type)) continue;
    request.dtype = type;
    return std::nullopt;
  }
  return wrong("dtype", value, "one of |u1 <u2 <u4 <f4");
}

std::optional<Fault> read_flag(std::string_view name, const json& value, bool& flag) {
  if (!value.is_boolean()) return wrong(name, value, "true or false");
  flag = value.get<bool>();
  return std::nullopt;
}

std::optional<Fault> read_fresh(const json& value, const RequestLimits&, Request& request) {
  return read_flag("fresh", value, request.fresh);
}

std::optional<Fault> read_then_reset(const json& value, const RequestLimits&, Request& request) {
  return read_flag("then_reset", value, request.then_reset);
}

std::optional<Fault> read_pause(const json& value, const RequestLimits&, Request& request) {
  return read_flag("pause", value, request.pause);
}

std::optional<Fault> read_held(std::string_view name, const json& value, std::optional<std::string>& id) {
  const bool fits = value.is_string() && !value.get_ref<const std::string&>().empty() &&
                    value.get_ref<const std::string&>().size() <= max_id_bytes;
  if (!fits) return wrong(name, value, "the id of a held cut, a string of 1 to 128 bytes");
  id = value.get<std::string>();
  return std::nullopt;
}

std::optional<Fault> read_snapshot(const json& value, const RequestLimits&, Request& request) {
  return read_held("snapshot", value, request.snapshot);
}

std::optional<Fault> read_since(const json& value, const RequestLimits&, Request& request) {
  return read_held("since", value, request.since);
}

std::optional<Fault> read_positive(std::string_view name, const json& value, std::uint32_t& number) {
  constexpr std::uint64_t most = std::numeric_limits<std::uint32_t>::max();
  const bool fits =
      value.is_number_unsigned() && value.get<std::uint64_t>() >= 1 && value.get<std::uint64_t>() <= most;
  if (!fits) return wrong(name, value, "an integer of at least 1");
  number = value.get<std::uint32_t>();
  return std::nullopt;
}

std::optional<Fault> read_rebin(const json& value, const RequestLimits&, Request& request) {
  return read_positive("rebin", value, request.rebin);
}

std::optional<Fault> read_max_px(const json& value, const RequestLimits&, Request& request) {
  return read_positive("max_px", value, request.max_px.emplace());
}

std::optional<Fault> read_stat(const json& value, const RequestLimits&, Request& request) {
  for (std::size_t i = 0; i < std::size(statistic_names); ++i) {
    if (!value.is_string() || value.get_ref<const std::string&>() != statistic_names[i]) continue;
    request.statistic = static_cast<Statistic>(i);
    return std::nullopt;
  }
  return wrong("stat", value, "one of sum mean std median mode max");
}

/// row and col: the request's region becomes that one row or column.
std::optional<Fault> read_place(std::string_view name, const json& value, std::uint32_t limit,
                                std::uint32_t& begin, std::uint32_t& end) {
  if (!value.is_number_integer()) return wrong(name, value, "an integer in " + interval(limit));
  if (!value.is_number_unsigned() || value.get<std::uint64_t>() >= limit) {
    return Fault{ErrorCode::pixel_out_of_range,
                 std::string(name) + ' ' + shown(value) + " is not in " + interval(limit)};
  }
  begin = value.get<std::uint32_t>();
  end = begin + 1;
  return std::nullopt;
}

std::optional<Fault> read_row(const json& value, const RequestLimits& limits, Request& request) {
  return read_place("row", value, limits.detector.rows, request.roi.row_begin, request.roi.row_end);
}

std::optional<Fault> read_col(const json& value, const RequestLimits& limits, Request& request) {
  return read_place("col", value, limits.detector.cols, request.roi.col_begin, request.roi.col_end);
}

std::optional<Fault> read_ttl(const json& value, const RequestLimits&, Request& request) {
  const double seconds = value.is_number() ? value.get<double>() : 0;
  const auto ms = std::chrono::milliseconds(seconds <= max_ttl_s ? std::llround(seconds * 1000) : 0);
  if (ms.count() <= 0) return wrong("ttl_s", value, "a number of seconds, at least 0.001, at most 86400");
  request.ttl = ms;
  return std::nullopt;
}

std::optional<Fault> read_name(const json& value, const RequestLimits&, Request& request) {
  bool fits = value.is_string() && value.get_ref<const std::string&>().size() <= max_name_bytes;
  if (fits) {
    for (const char c : value.get_ref<const std::string&>())
      fits = fits && static_cast<unsigned char>(c) >= 0x20 && c != 0x7F;
  }
  if (!fits) return wrong("name", value, "a string of at most 256 bytes without control characters");
  request.name = value.get<std::string>();
  return std::nullopt;
}

struct Reader {
  std::string_view name;
  std::optional<Fault> (*read)(const json&, const RequestLimits&, Request&);
};

/// An argument means the same in every op that takes it.
constexpr Reader readers[] = {
    {"roi", read_roi},
    {"bins", read_bins},
    {"dtype", read_dtype},
    {"fresh", read_fresh},
    {"then_reset", read_then_reset},
    {"pause", read_pause},
    {"snapshot", read_snapshot},
    {"since", read_since},
    {"rebin", read_rebin},
    {"range", read_range},
    {"stat", read_stat},
    {"max_px", read_max_px},
    {"row", read_row},
    {"col", read_col},
    {"ttl_s", read_ttl},
    {"name", read_name},
};

std::optional<Fault> read_one(const ArgSpec& arg, const OpSpec& spec, const json& value,
                              const RequestLimits& limits, Request& request) {
  if (!arg.built) {
    if (value.is_primitive() && value == parse_json(arg.fallback)) return std::nullopt;
    return Fault{ErrorCode::not_built,
                 "argument `" + std::string(arg.name) + "` of " + std::string(spec.name) +
                     " is not built yet; leave it out or give " + std::string(arg.fallback)};
  }
  for (const auto& reader : readers) {
    if (reader.name == arg.name) return reader.read(value, limits, request);
  }
  return Fault{ErrorCode::internal, "argument `" + std::string(arg.name) + "` has no reader"};
}

std::optional<Fault> find_unknown(const json& args, const OpSpec& spec) {
  for (const auto& item : args.items()) {
    std::string allowed;
    bool known = false;
    for (const auto& arg : spec.args) {
      known = known || arg.name == item.key();
      allowed += (allowed.empty() ? "" : " ") + std::string(arg.name);
    }
    if (known) continue;
    return Fault{ErrorCode::bad_argument, std::string(spec.name) + " has no argument `" +
                                              printable(item.key(), 60) +
                                              "`; allowed: " + (allowed.empty() ? "none" : allowed)};
  }
  return std::nullopt;
}

}  // namespace

std::string shown(const json& value) {
  if (value.is_array()) return "an array of " + std::to_string(value.size());
  if (value.is_object()) return "an object";
  return printable(dump_json(value), 60);
}

std::optional<Fault> read_arguments(const json& args, const OpSpec& spec, const RequestLimits& limits,
                                    Request& request) {
  if (!args.is_object())
    return Fault{ErrorCode::bad_request, "`args` must be an object; it is " + shown(args)};
  if (auto fault = find_unknown(args, spec)) return fault;
  for (const auto& arg : spec.args) {
    const auto value = args.find(std::string(arg.name));
    if (value == args.end() || value->is_null()) {
      if (!arg.fallback.empty()) continue;
      return Fault{ErrorCode::missing_argument, std::string(spec.name) + " needs `" + std::string(arg.name) +
                                                    "`: " + std::string(arg.meaning)};
    }
    if (auto fault = read_one(arg, spec, *value, limits, request)) return fault;
  }
  return find_contradiction(args, request);
}

}  // namespace pixhist
