// Runs a fuzz target over files, where no libFuzzer drives it: the corpus as a test, or one file that was
// found.

#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

#include "tests/fuzz/fuzz.hpp"

namespace {

void run(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  pixhist::fuzz::require(file.is_open(), path.c_str());
  const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
  // Of exactly this size, so that a sanitizer sees a read beyond it.
  const std::vector<std::uint8_t> input(bytes.begin(), bytes.end());
  LLVMFuzzerTestOneInput(input.data(), input.size());
}

}  // namespace

int main(int argc, char** argv) {
  std::size_t files = 0;
  for (int i = 1; i < argc; ++i) {
    if (!std::filesystem::is_directory(argv[i])) {
      run(argv[i]);
      ++files;
      continue;
    }
    for (const auto& entry : std::filesystem::directory_iterator(argv[i])) {
      run(entry.path());
      ++files;
    }
  }
  std::printf("%zu inputs\n", files);
  return files > 0 ? 0 : 1;
}
