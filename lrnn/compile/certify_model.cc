#include "lrnn/compile/certify_model.h"

#include <algorithm>

#include "lrnn/base/error.h"
#include "lrnn/compile/bit_search.h"
#include "lrnn/runtime/largest_logit.h"

namespace lrnn {
namespace {

void CheckTokens(const RuntimeModel& model, const TokenAutomaton& truth) {
  for (const std::vector<int32_t>* tokens : {&truth.opening, &truth.tokens, &truth.answers}) {
    for (const int32_t token : *tokens) {
      LRNN_CHECK(token >= 0 && token < model.vocab_size(),
                 "[certify] expected tokens in 0 .. {} (vocabulary of {}), got {}", model.vocab_size() - 1,
                 model.vocab_size(), token);
    }
  }
}

// logits[expected] minus the largest of the others.
double Margin(std::span<const float> logits, int32_t expected) {
  float other = -std::numeric_limits<float>::infinity();
  for (size_t i = 0; i < logits.size(); ++i) {
    if (static_cast<int32_t>(i) != expected) other = std::max(other, logits[i]);
  }
  return double{logits[expected]} - double{other};
}

// How each node was found: the node before and the letter; the first has none.
struct Step {
  int64_t from;
  int letter;
};

std::vector<int> WordTo(const std::vector<Step>& steps, int64_t node) {
  std::vector<int> word;
  for (; node > 0; node = steps[node].from) word.push_back(steps[node].letter);
  std::reverse(word.begin(), word.end());
  return word;
}

}  // namespace

ModelCertificate CertifyModel(const RuntimeModel& model, const TokenAutomaton& truth, const ModelSearchLimits& limits) {
  CheckTokens(model, truth);
  const Dfa& dfa = truth.dfa;
  const auto session = model.NewSession();
  for (const int32_t token : truth.opening) session->Step(token);
  std::vector<float> state;
  session->SaveState(state);
  const int64_t width = static_cast<int64_t>(state.size());
  const int64_t max_nodes = std::min<int64_t>(
      limits.max_nodes, std::max<int64_t>(1, limits.max_bytes / std::max<int64_t>(1, width * int64_t{sizeof(float)})));

  ModelCertificate result;
  BitNodes<float> nodes(width);
  nodes.Add(state.data(), dfa.start);
  std::vector<Step> found{{-1, -1}};
  int64_t node = 0, end_of_depth = 1;
  for (; node < nodes.size() && nodes.size() <= max_nodes; ++node) {
    if (node == end_of_depth) {
      ++result.depth;
      end_of_depth = nodes.size();
    }
    for (int letter = 0; letter < dfa.num_letters(); ++letter) {
      session->LoadState({nodes.bits(node), static_cast<size_t>(width)});
      const std::span<const float> logits = session->Step(truth.tokens[letter]);
      const int after = dfa.next[letter][nodes.label(node)];
      const int32_t expected = truth.answers[after];
      ++result.steps;
      result.margin = std::min(result.margin, Margin(logits, expected));
      if (const int32_t answer = LargestLogit(logits); answer != expected) {
        result.end = ModelCertificate::End::kWrong;
        result.word = WordTo(found, node);
        result.word.push_back(letter);
        result.answer = answer;
        result.expected = expected;
        result.nodes = nodes.size();
        return result;
      }
      session->SaveState(state);
      nodes.Add(state.data(), after);
      if (nodes.size() > static_cast<int64_t>(found.size())) found.push_back({node, letter});
    }
  }
  result.end = node == nodes.size() ? ModelCertificate::End::kClosed : ModelCertificate::End::kBudget;
  result.nodes = nodes.size();
  return result;
}

}  // namespace lrnn
