// eval.json as accuracy by length: what the figures and the table of results show.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string_view>

namespace lrnn {

// {"chance": 0.5,
//  "by_length": {lengths, sequences, scaled_accuracy, low, high,
//                bins: [{from, to, sequences, correct, scaled_accuracy, low, high}...]} or null,
//  "long": [{length, sequences, scaled_accuracy, low, high, streamed, seconds, tokens}...], by length
//  "bf16": as by_length, from the evaluations in that precision, or null
//  "horizon": {length, has_ended, accuracy} or null: the longest length at which the accuracy stays so high}
//
// by_length is the evaluation over the widest range of lengths. There are few sequences of each length, so neighbouring
// lengths are pooled into at most 20 bins of equal width, each with its own 95 % Wilson interval. `long` are the
// evaluations at one length; of several at the same length the last one counts. A task scored by sequence is evaluated
// at one length for all: its curve by_position, the share of sequences that are right up to there, is by_length then.
nlohmann::json LengthAccuracy(const std::filesystem::path& eval_path, std::string_view task);

}  // namespace lrnn
