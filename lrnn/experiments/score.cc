#include "lrnn/experiments/score.h"

#include "lrnn/base/error.h"
#include "lrnn/base/wilson.h"
#include "lrnn/io/fields.h"
#include "lrnn/io/json_file.h"
#include "lrnn/report/field_checks.h"

namespace lrnn {

RunScore ReadScore(const std::filesystem::path& run, const std::string& score, int64_t shortest, int64_t longest) {
  const std::filesystem::path path = run / "eval.json";
  const Fields eval(ReadJson(path), path.string());
  CheckFormat(eval, "lrnn.eval", 1);
  for (const Fields& evaluation : Objects(eval, "evaluations")) {
    const nlohmann::json lengths = LengthRange(evaluation, "lengths");
    if (lengths != nlohmann::json({shortest, longest})) continue;
    return {evaluation.Double(score), evaluation.Double("low"), evaluation.Double("high"),
            evaluation.PositiveInt("sequences")};
  }
  Fail("{}: no evaluation over lengths {}:{}", path.string(), shortest, longest);
}

}  // namespace lrnn
