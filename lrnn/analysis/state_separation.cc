#include "lrnn/analysis/state_separation.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "lrnn/base/error.h"

namespace lrnn {
namespace {

using torch::Tensor;

constexpr int64_t kFirstLength = 16;
constexpr double kGrowth = 1.41421356;       // of the lengths at which it is measured
constexpr int64_t kWindow = 16;              // tokens at each length whose states are all taken
constexpr int64_t kWindowNumbers = 1 << 25;  // ... or fewer, so that they fit in memory
constexpr int64_t kTokensTogether = 8192;
constexpr int64_t kFewestOfAState = 3;
constexpr double kNormal99 = 2.326;  // of a normal distribution 1 % lies beyond, on one side
constexpr double kMostUsed = 1e6;    // where nothing is separated
constexpr double kFarthest = 1e12;   // predictions beyond are none

// What was seen at one length: hidden states of each layer, and the state of the automaton that belongs to each.
struct Window {
  int64_t length;
  std::vector<Tensor> hidden;     // a layer: [samples, n]
  std::vector<int64_t> sequence;  // [samples]
  std::vector<int> state;         // [samples]
  double accuracy;
};

// Reads sequences side by side and stops at each of the lengths.
class Reader {
 public:
  Reader(Model& model, const Task& task, const SeparationOptions& options, const std::vector<size_t>& layers,
         const TaskAutomaton& automaton)
      : model_(model),
        layers_(layers),
        automaton_(automaton),
        extra_(task.min_length() - task.tokens(task.min_length())) {
    for (int64_t i = 0; i < options.sequences; ++i) {
      streams_.push_back(task.Open(options.max_length + kWindow, Rng(options.seed, static_cast<uint64_t>(i))));
      states_.push_back(automaton.dfa.start);
    }
  }

  // The hidden states after `length` and the tokens that follow.
  Window ReadAt(int64_t length) {
    const int64_t count = static_cast<int64_t>(streams_.size());
    const int64_t most = std::max<int64_t>(1, kTokensTogether / count);
    while (length_ + extra_ + 1 < length) Advance(std::min(most, length - 1 - length_ - extra_), nullptr);
    Window window{length, std::vector<Tensor>(layers_.size()), {}, {}, 0};
    std::vector<std::vector<Tensor>> hidden(layers_.size());
    int64_t right = 0, taken = 0;
    const int64_t steps =
        std::clamp<int64_t>(kWindowNumbers / std::max<int64_t>(1, count * LargestState()), 1, kWindow);
    for (; taken < steps; ++taken) {
      Advance(1, &right);
      for (size_t i = 0; i < layers_.size(); ++i) {
        hidden[i].push_back(model_state_[layers_[i]].back().reshape({count, -1}).to(torch::kFloat32).clone());
      }
      for (int64_t i = 0; i < count; ++i) {
        window.sequence.push_back(i);
        window.state.push_back(states_[i]);
      }
    }
    for (size_t i = 0; i < layers_.size(); ++i) window.hidden[i] = torch::cat(hidden[i]);
    window.accuracy = static_cast<double>(right) / static_cast<double>(count * taken);
    return window;
  }

 private:
  int64_t LargestState() const {
    int64_t largest = 1;
    for (const size_t layer : layers_) largest = std::max(largest, model_->blocks()[layer]->mixer().state_size());
    return largest;
  }

  // With `right`: counts the right predictions.
  void Advance(int64_t count, int64_t* right) {
    std::vector<int32_t> tokens(streams_.size() * count), targets(tokens.size());
    for (size_t i = 0; i < streams_.size(); ++i) {
      streams_[i]->Read(std::span(tokens).subspan(i * count, count), std::span(targets).subspan(i * count, count));
      for (int64_t t = 0; t < count; ++t) states_[i] = automaton_.dfa.next[tokens[i * count + t]][states_[i]];
    }
    const std::vector<int64_t> lengths(streams_.size(), count);
    const auto rows = right ? c10::nullopt : c10::optional<Tensor>(torch::empty({0}, torch::kInt64));
    const Tensor logits = model_->forward(torch::tensor(tokens, torch::kInt64), ops::Sequences::FromLengths(lengths),
                                          rows, &model_state_);
    length_ += count;
    if (!right) return;
    const Tensor said = logits.argmax(1);
    for (size_t i = 0; i < streams_.size(); ++i) {
      *right += said.data_ptr<int64_t>()[i] == automaton_.answers[states_[i]];
    }
  }

  Model& model_;
  const std::vector<size_t>& layers_;
  const TaskAutomaton& automaton_;
  const int64_t extra_;  // a length, less its tokens
  std::vector<std::unique_ptr<ExampleStream>> streams_;
  std::vector<int> states_;
  ModelState model_state_;
  int64_t length_ = 0;  // tokens read
};

// The samples of one half of the sequences, by state: of even ones (0) or of odd ones (1).
std::map<int, Tensor> Samples(const Window& window, size_t layer, int64_t half) {
  std::map<int, std::vector<int64_t>> rows;
  for (size_t i = 0; i < window.state.size(); ++i) {
    if (window.sequence[i] % 2 == half) rows[window.state[i]].push_back(static_cast<int64_t>(i));
  }
  std::map<int, Tensor> samples;
  for (const auto& [state, own] : rows) {
    if (static_cast<int64_t>(own.size()) < kFewestOfAState) continue;
    samples[state] = window.hidden[layer].index_select(0, torch::tensor(own, torch::kInt64)).to(torch::kFloat64);
  }
  return samples;
}

// The way from a state's mean at the reference length to the nearest other.
struct Way {
  Tensor direction;  // of length 1
  double distance;
  int neighbour;
};

std::map<int, Way> Ways(const std::map<int, Tensor>& samples) {
  std::map<int, Tensor> means;
  for (const auto& [state, own] : samples) means[state] = own.mean(0);
  std::map<int, Way> ways;
  if (means.size() < 2) return ways;
  for (const auto& [state, mean] : means) {
    Way way{{}, std::numeric_limits<double>::infinity(), state};
    for (const auto& [other, there] : means) {
      if (other == state) continue;
      const double distance = (there - mean).norm().item<double>();
      if (distance < way.distance) way = {there - mean, distance, other};
    }
    if (way.distance > 0) way.direction = way.direction / way.distance;
    ways[state] = way;
  }
  return ways;
}

std::optional<SeparationPoint> MeasurePoint(const Window& window, size_t layer, const std::map<int, Way>& ways) {
  const std::map<int, Tensor> samples = Samples(window, layer, 1);
  double separation = 0, squares = 0, freedom = 0;
  int64_t pairs = 0;
  for (const auto& [state, way] : ways) {
    const auto own = samples.find(state), other = samples.find(way.neighbour);
    if (own == samples.end() || other == samples.end()) continue;
    ++pairs;
    if (way.distance == 0) continue;  // means that coincide separate nothing
    const Tensor here = own->second.matmul(way.direction), there = other->second.matmul(way.direction);
    separation += (there.mean() - here.mean()).item<double>() / way.distance;
    squares += (here - here.mean()).square().sum().item<double>() / (way.distance * way.distance);
    freedom += static_cast<double>(here.size(0) - 1);
  }
  if (pairs == 0) return std::nullopt;
  separation /= static_cast<double>(pairs);
  const double spread = freedom > 0 ? std::sqrt(squares / freedom) : 0;
  const double used = separation > 0 ? std::min(kMostUsed, 2 * kNormal99 * spread / separation) : kMostUsed;
  return SeparationPoint{window.length, spread, separation, used};
}

std::vector<int64_t> Lengths(const SeparationOptions& options) {
  std::vector<int64_t> lengths = {options.reference_length, options.max_length};
  const double first = static_cast<double>(std::min(kFirstLength, options.reference_length));
  for (double length = first; length < static_cast<double>(options.max_length); length *= kGrowth) {
    lengths.push_back(std::llround(length));
  }
  std::sort(lengths.begin(), lengths.end());
  // A window must end before the next begins; the reference stays, and the last unless it is too close to that.
  std::vector<int64_t> apart;
  for (const int64_t length : lengths) {
    if (!apart.empty() && length - apart.back() < kWindow) {
      const bool stays = length == options.reference_length || length == options.max_length;
      if (!stays || apart.back() == options.reference_length) continue;
      apart.pop_back();
    }
    apart.push_back(length);
  }
  return apart;
}

// y = a + b x by least squares; b = 0 and a = mean unless |b| is more than two of its standard errors.
struct Line {
  double a;
  double b;
};
Line FitLine(const std::vector<double>& x, const std::vector<double>& y) {
  const double n = static_cast<double>(x.size());
  double mean_x = 0, mean_y = 0, xx = 0, xy = 0, residual = 0;
  for (size_t i = 0; i < x.size(); ++i) mean_x += x[i] / n, mean_y += y[i] / n;
  for (size_t i = 0; i < x.size(); ++i) {
    xx += (x[i] - mean_x) * (x[i] - mean_x);
    xy += (x[i] - mean_x) * (y[i] - mean_y);
  }
  const double b = xx > 0 ? xy / xx : 0;
  for (size_t i = 0; i < x.size(); ++i) residual += std::pow(y[i] - mean_y - b * (x[i] - mean_x), 2);
  const double error = x.size() > 2 && xx > 0 ? std::sqrt(residual / (n - 2) / xx) : std::abs(b);
  if (std::abs(b) <= 2 * error) return {mean_y, 0};
  return {mean_y - b * mean_x, b};
}

// y = p u + q v by least squares with p, q >= 0: the better of p u and q v, unless both together quarter its squared
// error.
struct TwoParts {
  double p;
  double q;
};
TwoParts FitParts(const std::vector<double>& u, const std::vector<double>& v, const std::vector<double>& y) {
  double uu = 0, uv = 0, vv = 0, uy = 0, vy = 0;
  for (size_t i = 0; i < y.size(); ++i) {
    uu += u[i] * u[i], uv += u[i] * v[i], vv += v[i] * v[i];
    uy += u[i] * y[i], vy += v[i] * y[i];
  }
  const auto error = [&](TwoParts parts) {
    double sum = 0;
    for (size_t i = 0; i < y.size(); ++i) sum += std::pow(y[i] - parts.p * u[i] - parts.q * v[i], 2);
    return sum;
  };
  const TwoParts only_u{uy / uu, 0}, only_v{0, vy / vv};
  const TwoParts one = error(only_u) <= error(only_v) ? only_u : only_v;
  const double determinant = uu * vv - uv * uv;
  if (determinant <= 1e-9 * uu * vv) return one;
  const TwoParts both{(vv * uy - uv * vy) / determinant, (uu * vy - uv * uy) / determinant};
  return both.p >= 0 && both.q >= 0 && 4 * error(both) < error(one) ? both : one;
}

const char* Name(FailurePrediction::Kind kind) {
  switch (kind) {
    case FailurePrediction::Kind::kNotSeparated:
      return "not_separated";
    case FailurePrediction::Kind::kMeasured:
      return "measured";
    case FailurePrediction::Kind::kExtrapolated:
      return "extrapolated";
    case FailurePrediction::Kind::kNone:
      return "none";
  }
  return "";
}

}  // namespace

FailurePrediction PredictFailure(const std::vector<SeparationPoint>& points, int64_t reference_length) {
  using Kind = FailurePrediction::Kind;
  std::vector<double> length, log_separation, per_square, ratio;
  const SeparationPoint* before = nullptr;
  for (const SeparationPoint& point : points) {
    if (point.length < reference_length) continue;
    if (point.used >= 1) {
      if (!before) return {Kind::kNotSeparated, 0};
      // Between the two lengths, on a line over the logarithm of the length.
      const double share = (1 - before->used) / (point.used - before->used);
      const double factor = static_cast<double>(point.length) / static_cast<double>(before->length);
      return {Kind::kMeasured, static_cast<double>(before->length) * std::pow(factor, share)};
    }
    before = &point;
    length.push_back(static_cast<double>(point.length));
    log_separation.push_back(std::log(point.separation));
    per_square.push_back(1 / (point.separation * point.separation));
    ratio.push_back(std::pow(point.spread / point.separation, 2));
  }
  if (length.size() < 3) return {Kind::kNone};
  const auto half = static_cast<std::ptrdiff_t>((length.size() - 1) / 2);
  const Line separation =
      FitLine({length.begin() + half, length.end()}, {log_separation.begin() + half, log_separation.end()});
  const TwoParts parts = FitParts(per_square, length, ratio);
  const auto used = [&](double t) {
    const double fresh = parts.p * std::exp(std::min(600.0, -2 * (separation.a + separation.b * t)));
    return 2 * kNormal99 * std::sqrt(fresh + parts.q * t);
  };
  if (used(kFarthest) < 1) return {Kind::kNone};
  double low = length.back(), high = kFarthest;
  while (high / low > 1.001) {
    const double middle = std::sqrt(low * high);
    (used(middle) < 1 ? low : high) = middle;
  }
  return {Kind::kExtrapolated, high};
}

std::string Describe(const FailurePrediction& prediction) {
  using Kind = FailurePrediction::Kind;
  switch (prediction.kind) {
    case Kind::kNotSeparated:
      return "none of the layers keeps the states apart at the reference length";
    case Kind::kMeasured:
      return fmt::format("at about length {:.0f}, within the lengths measured", prediction.length);
    case Kind::kExtrapolated: {
      const double unit = std::pow(10, std::floor(std::log10(prediction.length)) - 1);  // two digits
      return fmt::format("at about length {:.0f}, extrapolated", std::round(prediction.length / unit) * unit);
    }
    case Kind::kNone:
      return "none: the spread does not grow against the separation";
  }
  return "";
}

StateSeparation MeasureSeparation(Model& model, const Task& task, const SeparationOptions& options) {
  const auto automaton = task.automaton();
  LRNN_CHECK(automaton, "[separation] expected a task with an automaton behind it, got {}", task.name());
  CheckLengths(task, {std::min(options.reference_length, options.max_length), options.max_length});
  LRNN_CHECK(options.sequences >= 4, "[separation] expected at least 4 sequences, got {}", options.sequences);
  std::vector<size_t> layers;
  for (size_t i = 0; i < model->blocks().size(); ++i) {
    if (model->blocks()[i]->mixer().state_growth() == 0) layers.push_back(i);
  }
  LRNN_CHECK(!layers.empty(), "[separation] expected a layer whose state is of fixed size, got none");

  torch::NoGradGuard no_grad;
  // The reference is measured first, with streams of its own.
  std::vector<std::map<int, Way>> ways;
  StateSeparation result{options, task.name(), automaton->dfa.num_states, {}, {}, 0, {FailurePrediction::Kind::kNone}};
  const Window reference = Reader(model, task, options, layers, *automaton).ReadAt(options.reference_length);
  for (size_t i = 0; i < layers.size(); ++i) {
    ways.push_back(Ways(Samples(reference, i, 0)));
    LRNN_CHECK(ways.back().size() >= 2,
               "[separation] expected at least two states of the automaton of task {} at length {}, got {}",
               task.name(), options.reference_length, std::max<size_t>(1, ways.back().size()));
    double distance = 0;
    for (const auto& [state, way] : ways.back()) distance += way.distance / static_cast<double>(ways.back().size());
    result.layers.push_back({layers[i], static_cast<int64_t>(ways.back().size()), distance, {}});
  }
  Reader reader(model, task, options, layers, *automaton);
  for (const int64_t length : Lengths(options)) {
    const Window window = reader.ReadAt(length);
    result.accuracy.emplace_back(length, window.accuracy);
    for (size_t i = 0; i < layers.size(); ++i) {
      if (const auto point = MeasurePoint(window, i, ways[i])) result.layers[i].points.push_back(*point);
    }
  }
  double least = std::numeric_limits<double>::infinity();
  for (size_t i = 0; i < result.layers.size(); ++i) {
    for (const SeparationPoint& point : result.layers[i].points) {
      if (point.length == options.reference_length && point.used < least) {
        least = point.used;
        result.tracker = i;
      }
    }
  }
  result.prediction = PredictFailure(result.layers[result.tracker].points, options.reference_length);
  return result;
}

nlohmann::json ToJson(const StateSeparation& separation) {
  nlohmann::json layers = nlohmann::json::array(), accuracy = nlohmann::json::array();
  for (const LayerSeparation& layer : separation.layers) {
    nlohmann::json points = nlohmann::json::array();
    for (const SeparationPoint& point : layer.points) {
      points.push_back(
          {{"length", point.length}, {"spread", point.spread}, {"separation", point.separation}, {"used", point.used}});
    }
    layers.push_back(
        {{"layer", layer.layer}, {"states", layer.states}, {"distance", layer.distance}, {"points", points}});
  }
  for (const auto& [length, share] : separation.accuracy) accuracy.push_back({{"length", length}, {"accuracy", share}});
  nlohmann::json prediction = {{"kind", Name(separation.prediction.kind)}, {"length", nullptr}};
  if (separation.prediction.kind != FailurePrediction::Kind::kNone) prediction["length"] = separation.prediction.length;
  return {{"task", separation.task},
          {"states", separation.states},
          {"reference_length", separation.options.reference_length},
          {"sequences", separation.options.sequences},
          {"seed", separation.options.seed},
          {"layers", layers},
          {"accuracy", accuracy},
          {"tracking_layer", separation.layers[separation.tracker].layer},
          {"prediction", prediction}};
}

}  // namespace lrnn
