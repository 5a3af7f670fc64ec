// One run directory as one JSON object: what the report shows of it.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>

namespace lrnn {

// {name, path, title, task, layer, layer_name, eigenvalues, range, train_lengths, config,
//  train: {state, step, steps, tokens, seconds, tokens_per_second, parameters, batch_size, learning_rate, seed,
//  hardware,
//          lrnn_version},
//  reference: {source, scaled_accuracy} or null,
//  learning: see learning_curve.h,  chance (or null), by_length (or null), long, bf16, horizon: see length_accuracy.h,
//  spectrum: see spectrum_summary.h, or null}
//
// Of a hybrid, layer is "delta_net + gla". eigenvalues is "" and range null where the transitions have no bounds or are
// no matrices.
//
// config.toml and train.json must be there; metrics.jsonl, eval.json and spectrum.json may be missing. Errors name the
// file and the field.
nlohmann::json SummariseRun(const std::filesystem::path& run);

}  // namespace lrnn
