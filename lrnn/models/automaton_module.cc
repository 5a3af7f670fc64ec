#include "lrnn/models/automaton_module.h"

#include <numbers>

#include "lrnn/base/error.h"
#include "lrnn/ops/delta_rule.h"
#include "lrnn/runtime/automaton_files.h"

namespace lrnn {
namespace {

torch::Tensor Ints(const std::vector<int>& values) { return torch::tensor(values, torch::kInt32).to(torch::kInt64); }

torch::Tensor Table(const std::vector<std::vector<int>>& rows) {
  std::vector<torch::Tensor> tensors;
  for (const std::vector<int>& row : rows) tensors.push_back(Ints(row));
  return torch::stack(tensors);
}

torch::Tensor Floats(const std::vector<float>& values, at::IntArrayRef shape) {
  return torch::tensor(values, torch::kFloat32).reshape(shape);
}

}  // namespace

AutomatonModuleImpl::AutomatonModuleImpl(const AutomatonNetwork& network)
    : outputs_states_(network.outputs_states),
      delayed_scale_(network.negative_eigenvalues ? 1.0 : 2.0),
      num_states_(network.dfa.num_states) {
  LRNN_CHECK(!network.is_jit(), "[AutomatonModule] expected a network with tables, got mode jit (lrnn run takes it)");
  const auto keep = [this](const std::string& name, const torch::Tensor& tensor) {
    return register_buffer(name, tensor);
  };
  first_context_ = keep("first_context", Ints(network.first_context));
  accepting_ = keep("accepting", Ints({network.dfa.accepting.begin(), network.dfa.accepting.end()}));
  for (size_t i = 0; i < network.levels.size(); ++i) {
    const AutomatonLevel& from = network.levels[i];
    const CascadeTables& tables = from.tables;
    const std::string prefix = fmt::format("level{}_", i);
    Level& level = levels_.emplace_back(Level{from.kind, tables.labels, from.delay, {}, {}, {}, {}, {}});
    level.action_of = keep(prefix + "action_of", Ints(tables.action_of));
    std::vector<int> reset_to;
    for (size_t a = 0; a < tables.actions.size(); ++a) {
      reset_to.push_back(tables.IsReset(static_cast<int>(a)) ? tables.actions[a][0] : -1);
    }
    level.reset_to = keep(prefix + "reset_to", Ints(reset_to));
    // By the label that is read: the one before where it was kept, else the one after.
    std::vector<std::vector<int>> next = tables.next;
    for (int c = 0; c < tables.contexts(); ++c) {
      const int action = tables.action_of[c];
      if (reset_to[action] >= 0) continue;
      for (int x = 0; x < tables.labels; ++x) next[c][tables.actions[action][x]] = tables.next[c][x];
    }
    level.next = keep(prefix + "next", Table(next));
    if (from.kind == LevelKind::kPoints) level.codes = keep(prefix + "codes", Table(from.codes).to(torch::kFloat32));
    for (size_t j = 0; j < from.layers.size(); ++j) {
      const DeltaProductTable& table = from.layers[j];
      const std::string name = fmt::format("{}layer{}_", prefix, j);
      const std::vector<float> initial = from.InitialContent(static_cast<int>(j));
      level.layers.push_back({keep(name + "k", Floats(table.k, {table.symbols, table.n_h, table.K})),
                              keep(name + "beta", Floats(table.beta, {table.symbols, table.n_h})),
                              keep(name + "v", Floats(table.v, {table.symbols, table.n_h})),
                              keep(name + "initial", Floats(initial, {static_cast<int64_t>(initial.size())})),
                              table.copies});
    }
  }
}

// H after every token: [T, coordinates].
torch::Tensor AutomatonModuleImpl::Content(const Layer& layer, const torch::Tensor& symbols,
                                           const ops::Sequences& sequences) const {
  const int64_t T = symbols.size(0), n_h = layer.k.size(1), K = layer.k.size(2), H = K;
  const torch::Tensor q = torch::eye(K, layer.k.options()).expand({T, H, K}).contiguous();
  const torch::Tensor k = layer.k.index_select(0, symbols).unsqueeze(2).expand({T, n_h, H, K}).contiguous();
  const torch::Tensor v = layer.v.index_select(0, symbols).view({T, n_h, 1, 1}).expand({T, n_h, H, 1}).contiguous();
  const torch::Tensor beta = layer.beta.index_select(0, symbols).unsqueeze(2).expand({T, n_h, H}).contiguous();
  const torch::Tensor S = ops::DeltaRule(q, k, v, beta, c10::nullopt, {}, sequences).o.squeeze(2);
  return S.view({T, K / layer.copies, layer.copies}).select(2, 0) + layer.initial;
}

// The label that the next context depends on, int64 [T].
torch::Tensor AutomatonModuleImpl::ReadLabel(const Level& level, const torch::Tensor& action,
                                             const ops::Sequences& sequences) const {
  if (level.kind == LevelKind::kFixed) return torch::zeros_like(action);
  const torch::Tensor H = Content(level.layers[0], action, sequences);
  const torch::Tensor reset_to = level.reset_to.index_select(0, action);
  const torch::Tensor is_reset = reset_to >= 0;
  // The slot, or what it held before where a reset has moved that to the second coordinate.
  const auto slot_of = [&](const torch::Tensor& slot) {
    if (!level.delay) return slot.select(1, 0);
    return torch::where(is_reset, delayed_scale_ * slot.select(1, 1), slot.select(1, 0));
  };
  const auto to_label = [&](const torch::Tensor& value) {
    return value.round().to(torch::kInt64).clamp(0, level.labels - 1);
  };
  switch (level.kind) {
    case LevelKind::kFixed:
      break;
    case LevelKind::kSlot:
      return to_label(slot_of(H));
    case LevelKind::kSign:
      return (slot_of(H) < 0).to(torch::kInt64);
    case LevelKind::kOneHot:
    case LevelKind::kJoint: {
      const torch::Tensor now = H.narrow(1, 0, level.labels).argmax(1);
      if (!level.delay) return now;
      return torch::where(is_reset, H.narrow(1, level.labels, level.labels).argmax(1), now);
    }
    case LevelKind::kPermutedSlot: {
      // A reset writes what the content holds at its label.
      const torch::Tensor y = to_label(H.gather(1, reset_to.clamp_min(0).unsqueeze(1)).squeeze(1));
      const torch::Tensor slot =
          Content(level.layers[1], torch::where(is_reset, y + 1, torch::zeros_like(y)), sequences);
      return (H - slot_of(slot).unsqueeze(1)).abs().argmin(1);
    }
    case LevelKind::kPoints:
      // Of all orders of 0 .. n-1 a code has the largest product with itself.
      return torch::matmul(H, level.codes.t()).argmax(1);
    case LevelKind::kRotation: {
      const torch::Tensor turns =
          torch::atan2(H.select(1, 1), H.select(1, 0)) * (static_cast<double>(level.labels) / (2 * std::numbers::pi));
      return turns.round().to(torch::kInt64).remainder(level.labels);
    }
  }
  return torch::zeros_like(action);
}

torch::Tensor AutomatonModuleImpl::States(const torch::Tensor& letters, const ops::Sequences& sequences) {
  LRNN_CHECK(letters.dim() == 1 && letters.size(0) == sequences.tokens(),
             "[AutomatonModule] expected {} letters, got {}", sequences.tokens(), letters.numel());
  if (letters.size(0) == 0) return letters.to(torch::kInt64);
  const int64_t low = letters.min().item<int64_t>(), high = letters.max().item<int64_t>();
  LRNN_CHECK(low >= 0 && high < first_context_.size(0), "[AutomatonModule] expected letters in 0 .. {}, got {}",
             first_context_.size(0) - 1, low < 0 ? low : high);
  const torch::NoGradGuard no_grad;
  torch::Tensor context = first_context_.index_select(0, letters);
  for (const Level& level : levels_) {
    const torch::Tensor label = ReadLabel(level, level.action_of.index_select(0, context), sequences);
    context = level.next.view({-1}).index_select(0, context * level.labels + label);
    if (context.min().item<int64_t>() < 0) {
      throw Failure("[AutomatonModule] the layers hold no state of the automaton: the weights are wrong");
    }
  }
  return context;
}

torch::Tensor AutomatonModuleImpl::forward(const torch::Tensor& letters, const ops::Sequences& sequences) {
  const torch::Tensor states = States(letters, sequences);
  const torch::Tensor answers = outputs_states_ ? states : accepting_.index_select(0, states);
  return torch::one_hot(answers, outputs_states_ ? num_states_ : 2).to(torch::kFloat32);
}

AutomatonModule LoadAutomatonModule(const std::filesystem::path& directory) {
  return AutomatonModule(ReadAutomaton(ModelDirectory::Open(directory)));
}

}  // namespace lrnn
