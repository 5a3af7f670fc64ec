#include <gtest/gtest.h>

#include <string>

#include "lrnn/io/test_directory.h"
#include "lrnn/report/report.h"
#include "lrnn/report/sample_runs.h"

namespace lrnn {
namespace {

TEST(TextTable, Golden) {
  const TestDirectory directory;
  EXPECT_EQ(RenderReportTable(BuildReport(WriteSampleRuns(directory.path()))),
            R"(Parity with eigenvalues in [0, 1] and [-1, 1]
Scaled accuracy (1 is perfect, 0 is guessing) with its 95 % interval

Model            Parameters       40 to 256 tokens  Paper         100,000 tokens
--------------------------------------------------------------------------------
Mamba [0,1]         232,448  0.011 (-0.011, 0.033)  0.000  0.000 (-0.238, 0.238)
Mamba [-1,1]        232,448   1.000 (0.999, 1.000)  1.000   1.000 (0.886, 1.000)
DeltaNet [0,1]      529,856   0.033 (0.011, 0.056)  0.017  0.031 (-0.209, 0.268)
DeltaNet [-1,1]     529,856   1.000 (0.999, 1.000)  1.000   1.000 (0.886, 1.000)

Paper: Table 3 of the paper (best of 3 seeds)
)");
}

TEST(TextTable, SaysWhatIsMissing) {
  const TestDirectory directory;
  SampleRun bare;
  bare.layer = "mamba";
  bare.state = "interrupted";
  bare.has_eval = false;
  const auto run = WriteSampleRun(directory / "a", {});
  const auto other = WriteSampleRun(directory / "b", bare);
  const std::string config = SampleConfig(bare);
  WriteText(other / "config.toml", config.substr(0, config.find("[reference]")));
  EXPECT_EQ(RenderReportTable(BuildReport({run, other})),
            R"(Parity with eigenvalues in [-1, 1]
Scaled accuracy (1 is perfect, 0 is guessing) with its 95 % interval

Model            Parameters      40 to 256 tokens  Paper        100,000 tokens
------------------------------------------------------------------------------
DeltaNet [-1,1]     529,856  1.000 (0.999, 1.000)  1.000  1.000 (0.886, 1.000)
Mamba [-1,1]        232,448            not tested      -            not tested

Paper: Table 3 of the paper (best of 3 seeds)
Mamba [-1,1]: training interrupted at step 300 of 600
)");
}

TEST(TextTable, NamesTheLengthsWhereTheyDiffer) {
  const TestDirectory directory;
  nlohmann::json report = BuildReport({WriteSampleRun(directory / "a", {}), WriteSampleRun(directory / "b", {})});
  report["runs"][1]["by_length"]["lengths"] = {40, 512};
  const std::string table = RenderReportTable(report);
  EXPECT_NE(table.find("tested lengths"), std::string::npos) << table;
  EXPECT_NE(table.find("1.000 (0.999, 1.000) at 40 to 256"), std::string::npos) << table;
  EXPECT_NE(table.find("1.000 (0.999, 1.000) at 40 to 512"), std::string::npos) << table;
}

}  // namespace
}  // namespace lrnn
