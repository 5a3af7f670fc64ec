// The results of an experiment as CSV (RFC 4180, with a header): one line for each run, and one for each point of the
// curves by length, ours and the authors'.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace lrnn {

// experiment,budget,group,model,learning_rate,seed,score,value,low,high,sequences,is_chosen,paper_best,paper_median,
// paper_mad
std::string RunsCsv(const nlohmann::json& results);

// experiment,budget,group,model,source,from,to,value,low,high    source: ours or paper
std::string CurvesCsv(const nlohmann::json& results);

}  // namespace lrnn
