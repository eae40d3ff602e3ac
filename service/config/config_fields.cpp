#include "service/config/config_fields.hpp"

#include <algorithm>
#include <array>

#include "core/model/histogram_spec.hpp"

namespace pixhist {
namespace {

constexpr std::uint64_t kib = 1ULL << 10;
constexpr std::uint64_t mib = 1ULL << 20;
constexpr std::uint64_t gib = 1ULL << 30;
constexpr std::uint64_t tib = 1ULL << 40;
constexpr std::uint64_t max_side = 1ULL << 20;  // rows or cols: origin + side stays far below 2^32

using T = FieldType;

const std::vector<ConfigField>& table() {
  // clang-format off
  static const std::vector<ConfigField> fields = {
      {.path = "detector.rows", .type = T::integer, .default_json = "512", .unit = "pixels", .min = 1,
       .max = max_side, .advice = "Set it to the rows of the whole detector, all modules together."},
      {.path = "detector.cols", .type = T::integer, .default_json = "1024", .unit = "pixels", .min = 1,
       .max = max_side, .advice = "Set it to the columns of the whole detector, all modules together."},
      {.path = "detector.pixel_type", .type = T::choice, .default_json = "\"u16\"",
       .choices = {"u8", "u16", "u32", "i16", "i32", "f32", "f64"},
       .advice = "Set it to the type the DAQ sends; frames of another type are rejected, never converted."},

      {.path = "axis.bins", .type = T::integer, .default_json = "1024", .unit = "bins", .min = 1,
       .max = max_bins,
       .advice = "Memory grows with it: rows × cols × (bins + 4) × 4 bytes. For integer pixels choose a "
                 "whole number of values per bin."},
      {.path = "axis.min", .type = T::number, .default_json = "0", .unit = "axis.unit",
       .advice = "Lower edge of the first bin; values below are counted, not binned."},
      {.path = "axis.max", .type = T::number, .default_json = "16384", .unit = "axis.unit",
       .advice = "Upper edge of the last bin, itself outside; values from there on are counted, not "
                 "binned."},
      {.path = "axis.type", .type = T::choice, .default_json = "null", .choices = {"float", "double"},
       .nullable = true,
       .advice = "Leave it null (float; double for u32, i32, f64 pixels). Only f32 pixels have a choice."},
      {.path = "axis.map", .type = T::choice, .default_json = "\"raw\"",
       .choices = {"raw", "adc", "gain", "adc_g0", "adc_g1", "adc_g2"},
       .advice = "For JUNGFRAU words: adc takes off the two gain bits, gain bins them, adc_g0|g1|g2 one "
                 "stage only. All but raw need u16 pixels."},
      {.path = "axis.unit", .type = T::text, .default_json = "\"ADU\"", .unit = "", .max = 32,
       .advice = "Label for plots and answers; nothing is computed from it."},

      {.path = "sources.*.name", .type = T::name, .default_json = "\"module0\"",
       .advice = "Shown in status, metrics and errors; each source needs its own. Source i is module<i> by "
                 "default."},
      {.path = "sources.*.endpoint", .type = T::endpoint, .default_json = "\"tcp://127.0.0.1:30001\"",
       .advice = "Where the DAQ sends this module."},
      {.path = "sources.*.endpoints", .type = T::endpoints, .default_json = "[]",
       .max = max_endpoints_per_source,
       .advice = "In place of endpoint, one socket and one receive thread each: for a PULL fan-out or a "
                 "rate that one connection cannot carry. The same endpoint twice is two sockets."},
      {.path = "sources.*.socket", .type = T::choice, .default_json = "\"sub\"",
       .choices = {"sub", "pull"},
       .advice = "sub for a PUB sender, pull for PUSH. A pull socket takes frames away from other pull "
                 "clients of the same sender."},
      {.path = "sources.*.bind", .type = T::boolean, .default_json = "false",
       .advice = "true if the DAQ connects to us."},
      {.path = "sources.*.topic", .type = T::text, .default_json = "\"\"", .max = 255,
       .advice = "Set it if the DAQ puts a topic into a message part of its own, first of all."},
      {.path = "sources.*.format", .type = T::choice, .default_json = "\"array10\"",
       .choices = {"array10", "sls", "dectris1", "dectris2", "stins", "odin"},
       .built = Built::some_choices, .built_choices = {"array10", "sls"},
       .advice = "The wire format the DAQ speaks."},
      {.path = "sources.*.origin", .type = T::pair, .default_json = "null", .unit = "pixels",
       .max = max_side, .nullable = true,
       .advice = "[row, col] of the module's first pixel in the detector. Needed with several sources; "
                 "null is [0, 0] with one (sls: from the header)."},
      {.path = "sources.*.shape", .type = T::pair, .default_json = "null", .unit = "pixels", .min = 1,
       .max = max_side, .nullable = true,
       .advice = "[rows, cols] of one frame of this source. Needed with several sources; null is the whole "
                 "detector."},
      {.path = "sources.*.channel", .type = T::text, .default_json = "null", .max = 64, .nullable = true,
       .built = Built::default_only,
       .advice = "Which channel of a message with several (DECTRIS thresholds)."},
      {.path = "sources.*.on_full", .type = T::choice, .default_json = "null", .choices = {"wait", "drop"},
       .nullable = true,
       .advice = "When the ring is full: wait stops receiving, so the sender feels it; drop counts the "
                 "frame as dropped. null: wait for pull, drop for sub."},
      {.path = "sources.*.on_incomplete", .type = T::choice, .default_json = "\"accumulate\"",
       .choices = {"accumulate", "mask_missing", "reject"},
       .advice = "Frames of which parts were lost before they were sent to us. mask_missing counts their "
                 "pixels of all bits set, as receivers fill in, as invalid; reject takes complete frames only."},
      {.path = "sources.*.invalid", .type = T::numbers, .default_json = "null", .max = max_invalid_values,
       .nullable = true, .advice = "Raw values that mean no measurement, counted invalid and never binned."},
      {.path = "sources.*.mask_file", .type = T::text, .default_json = "null", .max = 4096,
       .nullable = true,
       .advice = "NumPy .npy, bool or u1, of the source's shape in wire order; non-zero pixels are counted "
                 "invalid."},
      {.path = "sources.*.sequence.window", .type = T::integer, .default_json = "1024",
       .unit = "frame numbers", .min = 1, .max = 1 << 20,
       .advice = "Raise it if frames arrive out of order by more than this; a gap is told that much later. "
                 "With several endpoints it is at least what may lie in their queues."},
      {.path = "sources.*.sequence.step", .type = T::integer, .default_json = "1", .unit = "frame numbers",
       .max = 1'000'000,
       .advice = "n if the DAQ sends every n-th frame only; 0 if numbers mean nothing: then gaps, "
                 "duplicates and restarts are not seen."},
      {.path = "sources.*.curve_server_key", .type = T::text, .default_json = "null", .max = 64,
       .nullable = true, .built = Built::default_only, .advice = "Public key of a sender that encrypts."},
      {.path = "sources.*.forward", .type = T::endpoint, .default_json = "null", .nullable = true,
       .built = Built::default_only,
       .advice = "Where to pass the messages on, to sit inside an existing chain."},

      {.path = "device.kind", .type = T::choice, .default_json = "\"auto\"",
       .choices = {"auto", "cpu", "cuda"},
       .advice = "auto takes a GPU if there is a usable one; cuda makes it an error (exit 3) if there is "
                 "none."},
      {.path = "device.index", .type = T::integer, .default_json = "0", .max = 63,
       .advice = "Which GPU of several."},
      {.path = "device.policy", .type = T::choice, .default_json = "\"auto\"",
       .choices = {"auto", "plain", "scatter", "tile", "ranges", "window"},
       .advice = "Pins one kernel of the table in info, for measurements; auto chooses batch by batch. "
                 "The CPU has one way only."},
      {.path = "device.cpu_threads", .type = T::integer, .default_json = "0", .unit = "threads",
       .max = 1024, .advice = "Workers of the CPU twin; 0 takes as many as the process may use."},

      {.path = "batch.frames", .type = T::integer, .default_json = "255", .unit = "frames", .min = 1,
       .max = 65535, .advice = "Lower it only for measurements; batch.max_age_ms bounds the latency."},
      {.path = "batch.bytes", .type = T::size, .default_json = "\"64MiB\"", .unit = "bytes",
       .min = 4 * kib, .max = 4 * gib,
       .advice = "Bytes of frames a batch holds at most; a quarter of a ring is never exceeded, and one "
                 "frame always fits."},
      {.path = "batch.max_age_ms", .type = T::integer, .default_json = "200", .unit = "ms", .min = 1,
       .max = 60'000, .advice = "Lower it to see frames sooner at low rates."},

      {.path = "ring.bytes", .type = T::size, .default_json = "\"1GiB\"", .unit = "bytes", .min = 64 * kib,
       .max = tib,
       .advice = "All rings together, shared out by frame size; at least four frames a socket. It bridges "
                 "that many bytes of frames while the device is busy."},
      {.path = "ring.rcvhwm_bytes", .type = T::size, .default_json = "\"256MiB\"", .unit = "bytes",
       .min = 64 * kib, .max = 64 * gib,
       .advice = "What ZeroMQ may hold of each connection before the ring, on top of it; turned into a number "
                 "of frames, 2 to 1000: more bytes than 1000 frames change nothing."},

      {.path = "runs.policy", .type = T::choice, .default_json = "\"continuous\"",
       .choices = {"continuous", "per_run"},
       .advice = "continuous accumulates over the DAQ's runs; per_run begins anew at each and keeps the last "
                 "one in memory: two cuts of the whole detector within snapshot.max_bytes."},
      {.path = "runs.close_after_s", .type = T::integer, .default_json = "10", .unit = "s", .max = 3600,
       .advice = "per_run: how long after its first source a run waits for the end of the others; what they "
                 "send of it later is discarded as stale_run."},
      {.path = "runs.autostart", .type = T::boolean, .default_json = "true",
       .advice = "false: frames are counted as discarded until a client sends start."},

      {.path = "query.endpoint", .type = T::endpoint, .default_json = "\"tcp://127.0.0.1:5556\"",
       .advice = "Where clients ask. On a public address anybody who reaches it may read; see "
                 "allow_control."},
      {.path = "query.max_reply_bytes", .type = T::size, .default_json = "null", .unit = "bytes", .min = 1,
       .max = 64 * gib, .nullable = true,
       .advice = "null: one full <u4 values of the detector, at least 1MiB and at most 4GiB."},
      {.path = "query.max_pending", .type = T::integer, .default_json = "64", .unit = "requests", .min = 1,
       .max = 65536, .advice = "Requests waiting at once; further ones are answered busy."},
      {.path = "query.max_pending_per_client", .type = T::integer, .default_json = "8", .unit = "requests",
       .min = 1, .max = 65536, .advice = "The same for one connection."},
      {.path = "query.allow_control", .type = T::choice, .default_json = "\"loopback\"",
       .choices = {"none", "loopback", "all"},
       .advice = "Who may reset, start and stop. Behind a proxy or in a container everybody may look like "
                 "loopback: set none there."},

      {.path = "snapshot.max_bytes", .type = T::size, .default_json = "\"4GiB\"", .unit = "bytes",
       .min = 1, .max = tib, .advice = "Host memory that snapshots and replies may hold together."},
      {.path = "snapshot.max_held", .type = T::integer, .default_json = "4", .unit = "snapshots", .min = 1,
       .max = 1024, .advice = "Snapshots held under an id at once."},
      {.path = "snapshot.ttl_s", .type = T::integer, .default_json = "60", .unit = "s", .min = 1,
       .max = 86400, .advice = "How long a held snapshot lives unless its request says otherwise."},

      {.path = "publish.endpoint", .type = T::endpoint, .default_json = "null", .nullable = true,
       .built = Built::default_only, .advice = "A PUB socket for viewers that only listen."},
      {.path = "publish.every_ms", .type = T::integer, .default_json = "1000", .unit = "ms", .min = 10,
       .max = 3'600'000, .built = Built::default_only, .advice = "How often it publishes."},

      {.path = "http.listen", .type = T::listen, .default_json = "\"127.0.0.1:9717\"",
       .advice = "/metrics, /healthz, /readyz and /status. 0.0.0.0:9717 for Prometheus on another host."},

      {.path = "live.listen", .type = T::listen, .default_json = "null", .nullable = true,
       .built = Built::default_only, .advice = "The live page."},

      {.path = "checkpoint.directory", .type = T::text, .default_json = "null", .max = 4096,
       .nullable = true, .built = Built::default_only,
       .advice = "Where the accumulator is written, to outlive a restart."},
      {.path = "checkpoint.every_s", .type = T::integer, .default_json = "60", .unit = "s", .min = 1,
       .max = 86400, .built = Built::default_only, .advice = "How often it is written."},
      {.path = "checkpoint.compress", .type = T::choice, .default_json = "\"lz4\"",
       .choices = {"lz4", "none"}, .built = Built::default_only,
       .advice = "none if the disk is faster than a core compresses."},

      {.path = "save.directory", .type = T::text, .default_json = "null", .max = 4096, .nullable = true,
       .built = Built::default_only, .advice = "Below which the save request may write."},

      {.path = "curve.secret_key_file", .type = T::text, .default_json = "null", .max = 4096,
       .nullable = true, .built = Built::default_only,
       .advice = "Our certificate, to encrypt and to know clients."},
      {.path = "curve.clients_dir", .type = T::text, .default_json = "null", .max = 4096, .nullable = true,
       .built = Built::default_only, .advice = "Certificates of the clients allowed."},

      {.path = "log.format", .type = T::choice, .default_json = "\"text\"", .choices = {"text", "json"},
       .advice = "json (one object a line) for log collectors."},
      {.path = "log.level", .type = T::choice, .default_json = "\"info\"",
       .choices = {"trace", "debug", "info", "warn", "error", "off"},
       .advice = "debug while setting up; nothing is ever logged per frame."},
      {.path = "log.file", .type = T::text, .default_json = "null", .max = 4096, .nullable = true,
       .advice = "A file besides stderr; SIGHUP opens it anew after rotation."},

      {.path = "shutdown.receive_grace_ms", .type = T::integer, .default_json = "1000", .unit = "ms",
       .max = 600'000, .advice = "How long sockets are still emptied after SIGTERM."},
      {.path = "shutdown.timeout_s", .type = T::integer, .default_json = "30", .unit = "s", .min = 1,
       .max = 3600,
       .advice = "Then the end is cut short with exit 1. A supervisor's own limit must be longer."},
  };
  // clang-format on
  return fields;
}

std::string joined(const std::vector<std::string_view>& words) {
  std::string text;
  for (const auto word : words) text.append(text.empty() ? "" : ", ").append(word);
  return text;
}

std::string range_text(const ConfigField& field) {
  return " from " + std::to_string(field.min) + " to " + std::to_string(field.max);
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replace = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({replace, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

std::string_view last_segment(std::string_view path) { return path.substr(path.rfind('.') + 1); }

}  // namespace

std::span<const ConfigField> config_fields() { return table(); }

const ConfigField* find_field(std::string_view pattern) {
  for (const auto& field : table()) {
    if (field.path == pattern) return &field;
  }
  return nullptr;
}

std::vector<std::string> child_keys(std::string_view pattern) {
  const std::string prefix = pattern.empty() ? "" : std::string(pattern) + ".";
  std::vector<std::string> keys;
  for (const auto& field : table()) {
    if (field.path.substr(0, prefix.size()) != prefix) continue;
    const auto rest = field.path.substr(prefix.size());
    std::string key(rest.substr(0, rest.find('.')));
    if (std::find(keys.begin(), keys.end(), key) == keys.end()) keys.push_back(std::move(key));
  }
  return keys;
}

std::string pattern_of(std::string_view path) {
  constexpr std::string_view list = "sources.";
  if (path.substr(0, list.size()) != list) return std::string(path);
  const auto rest = path.substr(list.size());
  const auto digits = rest.substr(0, rest.find('.'));
  if (digits.empty() || digits.find_first_not_of("0123456789") != std::string_view::npos)
    return std::string(path);
  return "sources.*" + std::string(rest.substr(digits.size()));
}

std::string default_json(const ConfigField& field, std::size_t source_index) {
  if (field.path == "sources.*.name") return "\"module" + std::to_string(source_index) + "\"";
  return std::string(field.default_json);
}

std::string allowed_text(const ConfigField& field) {
  std::string text;
  switch (field.type) {
    case T::integer: text = "an integer" + range_text(field); break;
    case T::number: text = "a finite number"; break;
    case T::boolean: text = "true or false"; break;
    case T::text:
      text = "text of at most " + std::to_string(field.max) + " bytes without control characters";
      break;
    case T::name: text = "1 to 64 of the characters A-Z a-z 0-9 _ . -"; break;
    case T::choice: text = (field.choices.size() > 1 ? "one of " : "") + joined(field.choices); break;
    case T::size:
      text = "bytes as an integer or as text with KiB, MiB or GiB, from " + size_text(field.min) + " to " +
             size_text(field.max);
      break;
    case T::endpoint: text = "tcp://host:port or ipc://path"; break;
    case T::listen: text = "host:port, as 127.0.0.1:9717 or [::1]:9717"; break;
    case T::endpoints:
      text =
          "a list of at most " + std::to_string(field.max) + " endpoints, each tcp://host:port or ipc://path";
      break;
    case T::pair: text = "a list of two integers, each" + range_text(field); break;
    case T::numbers: text = "a list of at most " + std::to_string(field.max) + " finite numbers"; break;
  }
  return field.nullable ? text + ", or null" : text;
}

std::optional<std::string> nearest_key(std::string_view path) {
  constexpr std::size_t longest = 200;  // far longer than any key; the search takes time in proportion
  if (path.size() > longest) return std::nullopt;
  const std::string pattern = pattern_of(path);
  const auto index = pattern == path ? std::string_view() : path.substr(8, path.find('.', 8) - 8);
  const auto segment = last_segment(pattern);
  const ConfigField* best = nullptr;
  std::size_t best_distance = 2 * (std::max<std::size_t>(2, pattern.size() / 4) + 1);  // in half edits
  for (const auto& field : table()) {
    std::size_t distance = 2 * edit_distance(pattern, field.path);
    // "max_age_ms" at the top, or below the wrong group, means batch.max_age_ms; so does "max_agems".
    const auto of_segment = edit_distance(segment, last_segment(field.path));
    if (of_segment <= segment.size() / 4) distance = std::min(distance, 2 * of_segment + 1);
    if (distance < best_distance) {
      best = &field;
      best_distance = distance;
    }
  }
  if (best == nullptr) return std::nullopt;
  std::string key(best->path);
  if (const auto star = key.find('*'); star != std::string::npos)
    key.replace(star, 1, index.empty() ? "0" : std::string(index));
  return key;
}

std::string size_text(std::uint64_t bytes) {
  constexpr std::array<std::pair<std::uint64_t, std::string_view>, 3> units{
      {{gib, "GiB"}, {mib, "MiB"}, {kib, "KiB"}}};
  for (const auto& [unit, name] : units) {
    if (bytes != 0 && bytes % unit == 0) return std::to_string(bytes / unit) + std::string(name);
  }
  return std::to_string(bytes);
}

}  // namespace pixhist
