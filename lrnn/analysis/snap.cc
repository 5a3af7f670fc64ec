#include "lrnn/analysis/snap.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "lrnn/analysis/task_words.h"
#include "lrnn/base/error.h"
#include "lrnn/layers/delta_rule_mixer.h"

namespace lrnn {
namespace {

constexpr double kSaturatedHigh = 30;     // sigmoid is exactly 1 in floats from 17 on,
constexpr double kSaturatedLow = -110;    // exactly 0 from -104 down; so is silu
constexpr double kKeyLength = 64;         // before it is normalised; the epsilon of the norm is lost beside its square
constexpr double kSameInput = 1e-3;       // relative distance of inputs that count as one
constexpr double kSmallestResidue = 0.5;  // of a key beside the axes that are there, to get an axis of its own
constexpr float kNormEpsilon = 1e-6f;     // of the keys' norm

const auto kDouble = torch::TensorOptions().dtype(torch::kFloat64);

// The different inputs of a layer: rows of `x` [m, D] in double, with names.
struct Inputs {
  torch::Tensor x;
  std::vector<std::string> names;
};

// What the normalisation of a key (r, 0, 0, ...) gives for its first entry, in the kernel's own operations.
float Normalised(float r) { return r * (1.0f / std::sqrt(r * r + kNormEpsilon)); }

double InverseSilu(double y) {  // the branch right of the minimum, -0.278 at -1.278
  double low = -1.278, high = std::max(1.0, y + 1);
  for (int i = 0; i < 100; ++i) {
    const double middle = (low + high) / 2;
    (middle / (1 + std::exp(-middle)) < y ? low : high) = middle;
  }
  return high;
}

// Rows: an orthonormal basis whose first vectors are these.
torch::Tensor Complete(std::vector<torch::Tensor> basis, int64_t width) {
  for (int64_t i = 0; i < width && static_cast<int64_t>(basis.size()) < width; ++i) {
    torch::Tensor next = torch::zeros({width}, kDouble);
    next[i] = 1;
    for (int twice = 0; twice < 2; ++twice) {
      for (const torch::Tensor& vector : basis) next = next - vector * vector.dot(next);
    }
    const double norm = next.norm().item<double>();
    if (norm > 1e-3) basis.push_back(next / norm);
  }
  return torch::stack(basis);
}

// All words of one length, the largest for which there are no more than 256: their prefixes are all shorter ones.
std::vector<std::vector<int>> ShortWords(int letters) {
  std::vector<std::vector<int>> words(1);
  do {
    std::vector<std::vector<int>> longer;
    for (const std::vector<int>& word : words) {
      for (int letter = 0; letter < letters; ++letter) {
        longer.push_back(word);
        longer.back().push_back(letter);
      }
    }
    words = std::move(longer);
  } while (letters > 1 && words.size() * static_cast<size_t>(letters) <= 256);
  return words;
}

class Snapper {
 public:
  Snapper(Model& model, const Task& task, const TokenAutomaton& truth, const SnapOptions& options)
      : model_(model), truth_(truth), options_(options), config_(model->config()) {
    const std::string type = config_.String("model_type");
    LRNN_CHECK(type == "delta_net", "--snap: expected a model of delta_net layers, got {}", type);
    LRNN_CHECK(!config_.Bool("use_short_conv"),
               "--snap: expected layers without convolution (use_short_conv = false), whose keys depend on one letter "
               "alone; here they depend on the last {}",
               config_.PositiveInt("conv_size"));
    heads_ = config_.PositiveInt("num_heads");
    largest_beta_ = config_.Bool("allow_neg_eigval") ? 2 : 1;
    has_silu_ = config_.String("qk_activation") == "silu";
    std::vector<std::vector<int>> words;
    for (int64_t i = 0; i < options.words; ++i) {
      words.push_back(TaskWord(task, truth, options.letters, Rng(options.seed, static_cast<uint64_t>(i))));
    }
    task_answers_ = options.words * options.letters;
    for (std::vector<int>& word : ShortWords(truth.dfa.num_letters())) words.push_back(std::move(word));
    Feed(words);
  }

  Snapping Run() {
    torch::NoGradGuard no_grad;
    const Accuracy before = Measure();
    Snapping result{before.task_words, 0, {}};
    floor_ = {before.task_words - options_.slack, before.short_words - options_.slack};
    const auto layers = static_cast<int64_t>(model_->blocks().size());
    for (int64_t layer = 0; layer < layers; ++layer) {
      for (int64_t head = 0; head < heads_; ++head) result.heads.emplace_back(layer, head);
    }
    const auto heads_of = [&](int64_t layer) { return std::span(result.heads).subspan(layer * heads_, heads_); };
    for (int64_t layer = layers - 1; layer >= 0; --layer) SwitchOff(layer, heads_of(layer));
    for (int64_t layer = 0; layer < layers; ++layer) SnapLayer(layer, heads_of(layer));
    result.accuracy_after = Measure().task_words;
    return result;
  }

 private:
  // Shares of right answers.
  struct Accuracy {
    double task_words, short_words;
  };

  void Feed(const std::vector<std::vector<int>>& words) {
    std::vector<int64_t> lengths, tokens, rows, expected;
    for (const std::vector<int>& word : words) {
      lengths.push_back(static_cast<int64_t>(truth_.opening.size() + word.size()));
      tokens.insert(tokens.end(), truth_.opening.begin(), truth_.opening.end());
      int state = truth_.dfa.start;
      for (const int letter : word) {
        state = truth_.dfa.next[letter][state];
        rows.push_back(static_cast<int64_t>(tokens.size()));
        tokens.push_back(truth_.tokens[letter]);
        expected.push_back(truth_.answers[state]);
      }
    }
    sequences_ = ops::Sequences::FromLengths(lengths);
    tokens_ = torch::tensor(tokens, torch::kInt64);
    rows_ = torch::tensor(rows, torch::kInt64);
    expected_ = torch::tensor(expected, torch::kInt64);
  }

  Accuracy Measure() {
    const torch::Tensor answers = model_->forward(tokens_, sequences_, rows_).argmax(1);
    const torch::Tensor right = answers.eq(expected_).to(torch::kFloat64);
    return {right.narrow(0, 0, task_answers_).mean().item<double>(),
            right.narrow(0, task_answers_, right.size(0) - task_answers_).mean().item<double>()};
  }

  // Makes a change of these tensors and takes it back if too many answers are lost.
  template <typename Change>
  bool Try(const std::vector<torch::Tensor>& tensors, const Change& change) {
    std::vector<torch::Tensor> before;
    for (const torch::Tensor& tensor : tensors) before.push_back(tensor.clone());
    change();
    const Accuracy now = Measure();
    tried_ = std::min(now.task_words, now.short_words);
    if (now.task_words >= floor_.task_words && now.short_words >= floor_.short_words) return true;
    for (size_t i = 0; i < tensors.size(); ++i) torch::Tensor(tensors[i]).copy_(before[i]);
    return false;
  }

  torch::Tensor Weight(int64_t layer, const std::string& projection) {
    const Skeleton& skeleton = SkeletonOf(config_.String("model_type"));
    return model_->named_parameters()[fmt::format("{}.layers.{}.{}.{}.weight", skeleton.root, layer, skeleton.mixer,
                                                  projection)];
  }

  // The rows of a projection that belong to a head; a view.
  torch::Tensor HeadWeight(int64_t layer, const std::string& projection, int64_t head) {
    const torch::Tensor weight = Weight(layer, projection);
    const int64_t width = weight.size(0) / heads_;
    return weight.narrow(0, head * width, width);
  }

  // What the layer reads at all the tokens: [T, D].
  torch::Tensor LayerInput(int64_t layer) {
    const Skeleton& skeleton = SkeletonOf(config_.String("model_type"));
    torch::Tensor x = torch::embedding(model_->named_parameters()[skeleton.root + ".embeddings.weight"], tokens_);
    for (int64_t i = 0; i < layer; ++i) x = model_->blocks()[i]->forward(x, sequences_, nullptr, c10::nullopt);
    return model_->blocks()[layer]->MixerInput(x).to(torch::kFloat64);
  }

  // Nothing when there are more than max_inputs.
  std::optional<Inputs> DifferentInputs(int64_t layer) {
    const torch::Tensor rows = LayerInput(layer);
    std::vector<torch::Tensor> found;
    std::vector<int64_t> tokens;
    torch::Tensor left = torch::arange(rows.size(0), torch::kInt64);
    while (left.numel() > 0) {
      if (static_cast<int64_t>(found.size()) == options_.max_inputs) return std::nullopt;
      const torch::Tensor first = rows[left[0].item<int64_t>()];
      found.push_back(first);
      tokens.push_back(tokens_[left[0].item<int64_t>()].item<int64_t>());
      const torch::Tensor distance = (rows.index_select(0, left) - first).norm(2, 1);
      left = left.masked_select(distance > kSameInput * first.norm());
    }
    Inputs inputs{torch::stack(found), {}};
    for (size_t i = 0; i < tokens.size(); ++i) {
      const std::string name = Name(tokens[i]);
      const auto same = std::count(tokens.begin(), tokens.end(), tokens[i]);
      const auto before = std::count(tokens.begin(), tokens.begin() + static_cast<int64_t>(i), tokens[i]);
      inputs.names.push_back(same > 1 ? fmt::format("{} #{}", name, before + 1) : name);
    }
    return inputs;
  }

  std::string Name(int64_t token) const {
    const auto found = std::find(truth_.tokens.begin(), truth_.tokens.end(), token);
    return found == truth_.tokens.end() ? "opening" : truth_.dfa.letters[found - truth_.tokens.begin()];
  }

  // beta of the rows of x: [m], as the model computes it.
  torch::Tensor Betas(const torch::Tensor& x, int64_t layer, int64_t head) {
    const torch::Tensor z = x.to(torch::kFloat32).mv(HeadWeight(layer, "b_proj", head)[0]);
    return DeltaRuleBeta(z, ReadDeltaNet(config_), /*in_training=*/false).to(torch::kFloat64);
  }

  double NearestExact(double beta) const { return std::clamp(std::round(beta), 0.0, largest_beta_); }

  void SwitchOff(int64_t layer, std::span<SnappedHead> heads) {
    const torch::Tensor x = LayerInput(layer);
    std::vector<std::pair<double, int64_t>> by_distance;
    for (int64_t head = 0; head < heads_; ++head) {
      const torch::Tensor beta = Betas(x, layer, head);
      by_distance.push_back({-(beta - beta.round()).abs().max().item<double>(), head});
    }
    std::sort(by_distance.begin(), by_distance.end());
    for (const auto& [distance, head] : by_distance) {
      const torch::Tensor v = HeadWeight(layer, "v_proj", head);
      heads[head].off = Try({v}, [&] { torch::Tensor(v).zero_(); });
    }
  }

  void SnapLayer(int64_t layer, std::span<SnappedHead> heads) {
    if (std::all_of(heads.begin(), heads.end(), [](const SnappedHead& head) { return head.off; })) return;
    const auto inputs = DifferentInputs(layer);
    std::string problem;
    if (!inputs) {
      problem = fmt::format("the layer's inputs take more than {} values: they do not depend on few letters and states",
                            options_.max_inputs);
    } else if (torch::linalg_matrix_rank(inputs->x, 1e-4).item<int64_t>() < inputs->x.size(0)) {
      problem = fmt::format("the layer's {} inputs are linearly dependent: no weights give each its own beta and key",
                            inputs->x.size(0));
    }
    for (SnappedHead& head : heads) {
      if (head.off) continue;
      head.problem = problem;
      if (!problem.empty()) continue;
      const torch::Tensor inverse = torch::linalg_pinv(inputs->x);  // [D, m]
      SnapBetas(*inputs, inverse, head);
      SnapKeys(*inputs, inverse, head);
      RetryBetas(*inputs, inverse, head);
    }
  }

  // The rows of `weight` [n, D] moved as little as possible to weight x_j = targets[:, j].
  static void Solve(torch::Tensor weight, const Inputs& inputs, const torch::Tensor& inverse,
                    const torch::Tensor& targets) {
    const torch::Tensor w = weight.to(torch::kFloat64);
    weight.copy_(w + (targets - w.matmul(inputs.x.t())).matmul(inverse.t()));
  }

  // Moves beta at input j to an exact value.
  void TryBeta(const Inputs& inputs, const torch::Tensor& inverse, double exact, int64_t j, SnappedHead& report) {
    const torch::Tensor w = HeadWeight(report.layer, "b_proj", report.head);  // [1, D]
    torch::Tensor z = w.to(torch::kFloat64).matmul(inputs.x.t());             // [1, m]
    double& target = z.data_ptr<double>()[j];
    if (exact == 0) {
      target = std::min(target, kSaturatedLow);
    } else {
      target = exact == largest_beta_ ? std::max(target, kSaturatedHigh) : 0;
    }
    report.betas[j].snapped = Try({w}, [&] { Solve(w, inputs, inverse, z); });
  }

  // To the nearest exact value, first those for which that is a small step.
  void SnapBetas(const Inputs& inputs, const torch::Tensor& inverse, SnappedHead& report) {
    const torch::Tensor before = Betas(inputs.x, report.layer, report.head);
    std::vector<std::pair<double, int64_t>> by_distance;
    for (int64_t j = 0; j < inputs.x.size(0); ++j) {
      const double beta = before[j].item<double>();
      report.betas.push_back({inputs.names[j], beta, beta, false});
      by_distance.push_back({std::abs(beta - NearestExact(beta)), j});
    }
    std::sort(by_distance.begin(), by_distance.end());
    for (const auto& [distance, j] : by_distance) {
      TryBeta(inputs, inverse, NearestExact(report.betas[j].before), j, report);
    }
    NoteBetas(inputs, report);
  }

  // Where the nearest value costs answers another one may do, now that the keys are on axes.
  void RetryBetas(const Inputs& inputs, const torch::Tensor& inverse, SnappedHead& report) {
    for (int64_t j = 0; j < inputs.x.size(0); ++j) {
      const double before = report.betas[j].before;
      std::vector<double> candidates{0, 1, 2};
      if (largest_beta_ < 2) candidates.pop_back();
      const auto distance = [&](double exact) { return std::abs(exact - before); };
      std::sort(candidates.begin(), candidates.end(), [&](double a, double b) { return distance(a) < distance(b); });
      double at_nearest = 0;
      for (const double exact : candidates) {
        if (report.betas[j].snapped) break;
        TryBeta(inputs, inverse, exact, j, report);
        if (exact == candidates[0]) at_nearest = tried_;
      }
      if (report.betas[j].snapped) continue;
      AddProblem(report, fmt::format("beta of {} stays {:.4f}: at {} only {:.2f} % of the answers are right",
                                     inputs.names[j], before, candidates[0], 100 * at_nearest));
    }
    NoteBetas(inputs, report);
  }

  void NoteBetas(const Inputs& inputs, SnappedHead& report) {
    const torch::Tensor after = Betas(inputs.x, report.layer, report.head);
    for (int64_t j = 0; j < after.size(0); ++j) report.betas[j].after = after[j].item<double>();
  }

  static void AddProblem(SnappedHead& report, const std::string& problem) {
    report.problem += (report.problem.empty() ? "" : "; ") + problem;
  }

  // The unit vectors of a projection (q or k) at the inputs: [m, K].
  torch::Tensor Directions(const torch::Tensor& weight, const torch::Tensor& x) const {
    torch::Tensor rows = x.matmul(weight.to(torch::kFloat64).t());
    if (has_silu_) rows = torch::silu(rows);
    return rows / rows.norm(2, 1, true);
  }

  void SnapKeys(const Inputs& inputs, const torch::Tensor& inverse, SnappedHead& report) {
    const torch::Tensor wk = HeadWeight(report.layer, "k_proj", report.head);
    const torch::Tensor wq = HeadWeight(report.layer, "q_proj", report.head);
    const torch::Tensor keys = Directions(wk, inputs.x), queries = Directions(wq, inputs.x);
    const int64_t K = wk.size(0), m = inputs.x.size(0);

    // Each key of an input that writes gets an axis: the nearest one within 45 degrees, or a new one.
    std::vector<torch::Tensor> axes;
    std::vector<int64_t> axis_of(m, -1);  // -1: beta is 0, the key does not matter
    for (int64_t j = 0; j < m; ++j) {
      if (report.betas[j].after == 0) continue;
      torch::Tensor residue = keys[j];
      double best = 0;
      for (size_t a = 0; a < axes.size(); ++a) {
        const double cosine = axes[a].dot(keys[j]).item<double>();
        residue = residue - axes[a] * cosine;
        if (cosine > best) best = cosine, axis_of[j] = static_cast<int64_t>(a);
      }
      if (best < std::sqrt(0.5)) {
        const double norm = residue.norm().item<double>();
        if (norm < kSmallestResidue) {
          return AddProblem(report,
                            fmt::format("the key of {} has no axis to go to: the others take its direction, {:.0f} "
                                        "degrees from the nearest",
                                        inputs.names[j], Degrees(best)));
        }
        axis_of[j] = static_cast<int64_t>(axes.size());
        axes.push_back(residue / norm);
        best = norm;
      }
      report.largest_turn = std::max(report.largest_turn, Degrees(best));
    }
    report.axes = static_cast<int64_t>(axes.size());
    if (axes.empty()) {
      report.keys_snapped = true;  // the head never writes
      return;
    }
    const torch::Tensor frame = Complete(axes, K);
    report.keys_snapped = Try({wk, wq}, [&] {
      RotateQueries(inputs, inverse, wq, queries.matmul(frame.t()), frame);
      if (report.axes == 1 && PutOnOneAxis(inputs, axis_of, wk)) return;
      PutOnAxes(inputs, axis_of, report.axes, wk);
    });
    if (!report.keys_snapped) {
      AddProblem(report, fmt::format("the keys stay: turned by up to {:.1f} degrees onto {} axes only {:.2f} % of the "
                                     "answers are right",
                                     report.largest_turn, report.axes, 100 * tried_));
    }
  }

  static double Degrees(double cosine) { return std::acos(std::clamp(cosine, -1.0, 1.0)) * 180 / M_PI; }

  // Queries in the new frame, for all inputs or, behind an activation, for those that occur: `targets` [m, K].
  void RotateQueries(const Inputs& inputs, const torch::Tensor& inverse, torch::Tensor wq, const torch::Tensor& targets,
                     const torch::Tensor& frame) const {
    if (!has_silu_) {
      wq.copy_(frame.matmul(wq.to(torch::kFloat64)));
      return;
    }
    torch::Tensor z = targets.clone();
    for (int64_t j = 0; j < z.size(0); ++j) {
      const double most_negative = std::max(1e-3, -z[j].min().item<double>());
      double* row = z[j].data_ptr<double>();
      const double scale = std::min(4.0, 0.27 / most_negative);
      for (int64_t i = 0; i < z.size(1); ++i) row[i] = InverseSilu(scale * row[i]);
    }
    Solve(wq, inputs, inverse, z.t());
  }

  // All keys (r_j, 0, 0, ...) with r_j > 0, from one coordinate of the input that has one sign at all inputs that
  // write: a product of two numbers, rounded once however sums are ordered. Its size is chosen so that the norm gives
  // exactly 1. False when there is no such coordinate.
  bool PutOnOneAxis(const Inputs& inputs, const std::vector<int64_t>& axis_of, torch::Tensor wk) const {
    const torch::Tensor x = inputs.x.to(torch::kFloat32);
    int64_t best = -1;
    float best_size = 0, sign = 1;
    for (int64_t d = 0; d < x.size(1); ++d) {
      float low = std::numeric_limits<float>::infinity(), high = -low;
      for (int64_t j = 0; j < x.size(0); ++j) {
        if (axis_of[j] < 0) continue;
        low = std::min(low, x[j][d].item<float>());
        high = std::max(high, x[j][d].item<float>());
      }
      const float size = low > 0 ? low : -high;  // the smallest absolute value, negative when signs differ
      if (size > best_size) best = d, best_size = size, sign = low > 0 ? 1.0f : -1.0f;
    }
    if (best < 0) return false;
    for (int i = 0; i < 64; ++i) {
      const float weight = sign * static_cast<float>(kKeyLength * (1 + i / 64.0)) / best_size;
      bool exact = true;
      for (int64_t j = 0; j < x.size(0); ++j) {
        if (axis_of[j] >= 0) exact = exact && Normalised(weight * x[j][best].item<float>()) == 1.0f;
      }
      if (!exact) continue;
      wk.zero_();
      wk[0][best] = weight;
      return true;
    }
    return false;
  }

  // Keys on several axes: at inputs that write the entry of its axis, and what the activation makes zero elsewhere.
  void PutOnAxes(const Inputs& inputs, const std::vector<int64_t>& axis_of, int64_t axes, torch::Tensor wk) const {
    std::vector<int64_t> writing;
    for (size_t j = 0; j < axis_of.size(); ++j) {
      if (axis_of[j] >= 0) writing.push_back(static_cast<int64_t>(j));
    }
    const torch::Tensor x = inputs.x.index_select(0, torch::tensor(writing, torch::kInt64));
    torch::Tensor z = torch::full({axes, x.size(0)}, has_silu_ ? kSaturatedLow : 0.0, kDouble);
    for (size_t i = 0; i < writing.size(); ++i) z[axis_of[writing[i]]][static_cast<int64_t>(i)] = kKeyLength;
    wk.zero_();
    wk.narrow(0, 0, axes).copy_(z.matmul(torch::linalg_pinv(x).t()));
  }

  Model& model_;
  const TokenAutomaton& truth_;
  SnapOptions options_;
  const Fields& config_;
  int64_t heads_;
  double largest_beta_;
  bool has_silu_;
  ops::Sequences sequences_ = ops::Sequences::FromLengths({});
  torch::Tensor tokens_, rows_, expected_;
  int64_t task_answers_;  // of all answers, those to the task's words; then come those to short words
  Accuracy floor_{0, 0};  // that must be kept
  double tried_ = 0;      // accuracy of the last change
};

}  // namespace

bool Snapping::complete() const {
  return std::all_of(heads.begin(), heads.end(), [](const SnappedHead& head) {
    const auto snapped = [](const SnappedBeta& beta) { return beta.snapped; };
    return head.off ||
           (head.keys_snapped && !head.betas.empty() && std::all_of(head.betas.begin(), head.betas.end(), snapped));
  });
}

Snapping Snap(Model& model, const Task& task, const TokenAutomaton& truth, const SnapOptions& options) {
  return Snapper(model, task, truth, options).Run();
}

}  // namespace lrnn
