// What came out of an experiment: report.json, what the page draws and what the tables are made of.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>

#include "lrnn/experiments/plan.h"
#include "lrnn/experiments/queue_state.h"

namespace lrnn {

// {format: "lrnn.experiment", version: 1, name, title, summary, budget, paper, score, lengths: [low, high],
//  lrnn_version, commands: [...], runs: {planned, done, failed}, failures: [{run, message, log}...],
//  groups: [{name, title, note, task, chance (or null), train_lengths,
//            rows: [{label, config_name, config, settings, paper: {best, median, mad, curve: [[length, score]...]},
//                    rates: [{learning_rate, median, mad, best, runs: [{seed, score, low, high, sequences,
//                    path}...]}...], learning_rate, seeds, best, median, mad (each null without a finished run),
//                    learning: [{step, mean, deviation}...],
//                    cost: {seconds, tokens, tokens_per_second, runs},
//                    run: see report/run_summary.h, of the best seed with the chosen learning rate, or null}...]}...]}
//
// Rows and runs are those of the plan and whatever else is done in the directory (QueueState::OthersDone).
//
// Of several learning rates the one with the highest median counts, as in the paper; of equal ones the one with the
// better best, then the first.
nlohmann::json BuildResults(const Plan& plan, const QueueState& state, const std::filesystem::path& out);

}  // namespace lrnn
