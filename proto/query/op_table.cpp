#include "proto/query/op_table.hpp"

#include <array>
#include <string>

#include "proto/json.hpp"

namespace pixhist {
namespace {

constexpr ArgSpec roi{"roi", "[r0,r1,c0,c1)", "null", true, "pixels; null: the whole detector"};
constexpr ArgSpec bins{"bins", "[b0,b1)", "null", true, "bins; null: all"};
constexpr ArgSpec dtype{"dtype", "|u1 <u2 <u4 <f4", "\"<u4\"", true,
                        "type of the counts; larger counts are capped"};
constexpr ArgSpec fresh{"fresh", "bool", "false", true, "count what has been received so far, first"};
constexpr ArgSpec held{"snapshot", "string", "null", true,
                       "answer from this held cut or closed run; null: from now"};
constexpr ArgSpec since{"since", "string", "null", true,
                        "only what was counted after this held cut of the same run, held as `<u4`"};
constexpr ArgSpec rebin{"rebin", "integer", "1", true,
                        "add so many neighbouring bins; a divisor of their number"};
constexpr ArgSpec pause{
    "pause", "bool", "false", true,
    "where the device has no memory for the cut, hold filling and read it in blocks of rows"};
constexpr ArgSpec range{"range", "[lo,hi)", "null", true, "the bins whose centre lies in it; null: all"};

constexpr std::array values_args{roi,
                                 bins,
                                 dtype,
                                 fresh,
                                 held,
                                 ArgSpec{"then_reset", "bool", "false", true,
                                         "hold the cut under an id, then begin a new, zeroed run; a control "
                                         "op; `<u4` only, not with `snapshot`"},
                                 rebin,
                                 pause,
                                 since};
constexpr std::array pixel_args{ArgSpec{"row", "integer", "", true, "row of the detector, from 0"},
                                ArgSpec{"col", "integer", "", true, "column of the detector, from 0"}, fresh,
                                held, since};
constexpr std::array start_args{
    ArgSpec{"name", "string", "\"\"", true, "kept with the run; at most 256 bytes, no control characters"}};
constexpr std::array snapshot_args{
    ArgSpec{"ttl_s", "number", "null", true, "seconds until it expires, at most 86400; null: as configured"},
    roi, bins, dtype, fresh};
constexpr std::array release_args{ArgSpec{"snapshot", "string", "", true, "id of the held cut"}};
constexpr std::array spectrum_args{roi, fresh, held, since};
constexpr std::array image_args{
    bins,
    range,
    roi,
    ArgSpec{"stat", "sum mean std median mode max", "\"sum\"", true, "what to compute of each pixel's bins"},
    ArgSpec{"max_px", "integer", "null", true,
            "combine squares of pixels, so that there are at most so many rows and columns; null: do not"},
    fresh,
    held,
    since};
constexpr std::array moments_args{roi, range, fresh, held, since};
constexpr std::array save_args{ArgSpec{"path", "string", "", false, "file below the save directory"}, held};

constexpr std::array<OpSpec, 17> table{{
    {Op::info, "info", true, false, "what runs here: version, geometry, axis, sources, limits, ops", {}},
    {Op::status, "status", true, false, "state, the account of every source, rates, queues, memory", {}},
    {Op::values, "values", true, false, "counts (rows, cols, bins)", values_args},
    {Op::pixel, "pixel", true, false, "one pixel's counts", pixel_args},
    {Op::edges, "edges", true, false, "the bin edges, one more than bins", {}},
    {Op::centers, "centers", true, false, "the bin centres", {}},
    {Op::reset, "reset", true, true, "begin a new, zeroed run", {}},
    {Op::start, "start", true, true, "from stopped: begin a new, zeroed run", start_args},
    {Op::stop, "stop", true, true, "close the run; its counts stay readable", {}},
    {Op::snapshot, "snapshot", true, false, "hold a cut under an id", snapshot_args},
    {Op::release, "release", true, false, "let go of a held cut", release_args},
    {Op::ping, "ping", true, false, "a round trip that touches no device", {}},
    {Op::spectrum, "spectrum", true, false, "sum over pixels, per bin", spectrum_args},
    {Op::image, "image", true, false, "a statistic per pixel", image_args},
    {Op::moments, "moments", true, false, "n, mean and standard deviation per pixel", moments_args},
    {Op::save, "save", false, true, "write a cut to disk", save_args},
    {Op::runs, "runs", true, false, "closed runs that can be asked for", {}},
}};

constexpr bool table_is_ordered() {
  for (std::size_t i = 0; i < table.size(); ++i) {
    if (static_cast<std::size_t>(table[i].op) != i) return false;
  }
  return table.size() == static_cast<std::size_t>(Op::runs) + 1;
}
static_assert(table_is_ordered(), "the table must list every op in the order of enum Op");

}  // namespace

std::span<const OpSpec> op_table() { return table; }

const OpSpec* find_op(std::string_view name) {
  for (const auto& spec : table) {
    if (spec.name == name) return &spec;
  }
  return nullptr;
}

std::string_view name_of(Op op) { return table[static_cast<std::size_t>(op)].name; }

nlohmann::json op_schemas() {
  auto ops = nlohmann::json::object();
  for (const auto& spec : table) {
    auto args = nlohmann::json::object();
    for (const auto& arg : spec.args) {
      auto& entry = args[std::string(arg.name)];
      entry = {{"kind", arg.kind},
               {"required", arg.fallback.empty()},
               {"built", spec.built && arg.built},
               {"meaning", arg.meaning}};
      if (!arg.fallback.empty()) entry["default"] = parse_json(arg.fallback);
    }
    ops[std::string(spec.name)] = {{"built", spec.built},
                                   {"control", spec.control},
                                   {"meaning", spec.meaning},
                                   {"args", std::move(args)}};
  }
  return ops;
}

}  // namespace pixhist
