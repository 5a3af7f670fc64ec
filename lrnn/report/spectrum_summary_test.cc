#include "lrnn/report/spectrum_summary.h"

#include <gtest/gtest.h>

#include <string>

#include "lrnn/base/message_of.h"
#include "lrnn/io/test_directory.h"
#include "lrnn/report/sample_runs.h"

namespace lrnn {
namespace {

const char* const kSpectrum =
    R"({"format": "lrnn.spectrum", "version": 1, "task": "parity", "range": [-1, 1], "tokens": 4096,
  "layers": [{"layer": 0, "edges": [-1.0, 0.0, 1.0], "counts": [3, 5], "min": -0.9, "max": 1.0, "share_negative": 0.375}]})";

TEST(SpectrumSummary, KeepsWhatTheFigureNeeds) {
  const TestDirectory directory;
  WriteText(directory / "spectrum.json", kSpectrum);
  nlohmann::json expected = nlohmann::json::parse(kSpectrum);
  for (const char* name : {"format", "version", "task"}) expected.erase(name);
  EXPECT_EQ(SpectrumSummary(directory / "spectrum.json", "parity"), expected);
}

TEST(SpectrumSummary, ErrorsNameFileAndField) {
  const TestDirectory directory;
  const auto with = [&directory](const char* pointer, const nlohmann::json& value) {
    nlohmann::json spectrum = nlohmann::json::parse(kSpectrum);
    spectrum[nlohmann::json::json_pointer(pointer)] = value;
    WriteText(directory / "spectrum.json", spectrum.dump());
    const std::string message = MessageOf([&directory] { SpectrumSummary(directory / "spectrum.json", "parity"); });
    const std::string start = directory.path().string() + "/";
    EXPECT_EQ(message.rfind(start, 0), 0u) << message;
    return message.substr(start.size());
  };
  EXPECT_EQ(with("/version", 2), R"(spectrum.json: field "version": expected 1, got 2)");
  EXPECT_EQ(with("/range", {1, -1}), R"(spectrum.json: field "range": expected two numbers [low, high], got [1,-1])");
  EXPECT_EQ(with("/layers", nlohmann::json::array()),
            R"(spectrum.json: field "layers": expected at least one layer, got [])");
  EXPECT_EQ(with("/layers/0/edges", {1, 0, 2}),
            R"(spectrum.json: layers[0]: field "edges": expected two or more growing numbers, got [1,0,2])");
  EXPECT_EQ(with("/layers/0/counts", {1, 2, 3}),
            R"(spectrum.json: layers[0]: field "counts": expected 2 numbers, one for each bin, got [1,2,3])");
  EXPECT_EQ(with("/layers/0/counts", {1, -2}),
            R"(spectrum.json: layers[0]: field "counts": expected numbers that are not negative, got [1,-2])");
  EXPECT_EQ(with("/layers/0/share_negative", 1.5),
            R"(spectrum.json: layers[0]: field "share_negative": expected a number in [0, 1], got 1.5)");
  EXPECT_EQ(with("/layers/0/min", nullptr), R"(spectrum.json: layers[0]: field "min" is missing)");
}

}  // namespace
}  // namespace lrnn
