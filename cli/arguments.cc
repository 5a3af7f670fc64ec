#include "cli/arguments.h"

#include <charconv>

#include "lrnn/base/error.h"
#include "lrnn/io/run_directory.h"

namespace lrnn::cli {

Lengths ParseLengths(const std::string& text) {
  const auto parse = [&](std::string_view part) {
    int64_t value = 0;
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), value);
    LRNN_CHECK(error == std::errc() && end == part.data() + part.size() && value > 0,
               "--lengths: expected SHORTEST:LONGEST or one length, got \"{}\"", text);
    return value;
  };
  const size_t colon = text.find(':');
  const Lengths lengths = colon == std::string::npos ? Lengths{parse(text), parse(text)}
                                                     : Lengths{parse(std::string_view(text).substr(0, colon)),
                                                               parse(std::string_view(text).substr(colon + 1))};
  LRNN_CHECK(lengths.min <= lengths.max, "--lengths: expected SHORTEST:LONGEST, got \"{}\"", text);
  return lengths;
}

std::filesystem::path ModelPath(const std::filesystem::path& run_or_model) {
  if (RunDirectory::IsRun(run_or_model)) return RunDirectory::Open(run_or_model).LatestCheckpoint().path;
  return run_or_model;
}

}  // namespace lrnn::cli
