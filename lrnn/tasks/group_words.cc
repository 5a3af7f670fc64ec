#include "lrnn/tasks/group_words.h"

#include <numeric>

#include "lrnn/automata/finite_group.h"

namespace lrnn {
namespace {

constexpr int kLargestNamedDegree = 9;        // names of elements that move more points would be too long to read
constexpr int64_t kLargestTable = 4'000'000;  // entries of automaton()

struct Layout {
  std::shared_ptr<const FiniteGroup> group;
  std::vector<int32_t> inputs;  // elements that are drawn
  int64_t tokens_per_element;
  bool has_bos;

  int32_t filler() const { return group->order(); }
  int32_t pad() const { return group->order() + (tokens_per_element > 1); }
  int32_t bos() const { return pad() + 1; }
};

class WordStream : public ExampleStream {
 public:
  WordStream(const Layout& layout, int64_t tokens, Rng rng)
      : ExampleStream(tokens), layout_(layout), at_(layout.has_bos ? -1 : 0), rng_(rng) {}

 private:
  Position Next() override {
    const int64_t at = at_++;
    if (at < 0) return {layout_.bos(), layout_.bos()};
    const int64_t slot = at % layout_.tokens_per_element;
    int32_t token = layout_.filler();
    if (slot == 0) {
      token = layout_.inputs[rng_.Below(static_cast<uint32_t>(layout_.inputs.size()))];
      product_ = layout_.group->Multiply(product_, token);
    }
    if (slot == layout_.tokens_per_element - 1) shown_ = product_;
    return {token, shown_};
  }

  const Layout& layout_;
  int64_t at_;  // -1 is <bos>
  Rng rng_;
  int32_t product_ = 0;
  int32_t shown_ = 0;  // the product as far as elements are complete
};

class GroupWords : public Task {
 public:
  explicit GroupWords(Layout layout) : layout_(std::move(layout)) {}

  std::string name() const override { return "group"; }
  double chance() const override { return 0; }
  Score score() const override { return Score::kSequence; }
  int64_t min_length() const override { return 1; }
  int64_t tokens(int64_t length) const override { return length + layout_.has_bos; }

  // The state is the product; the answer is it, unless it is delayed by fillers.
  std::optional<TaskAutomaton> automaton() const override {
    const int order = layout_.group->order();
    if (layout_.tokens_per_element > 1 || int64_t{order} * vocab_size() > kLargestTable) return std::nullopt;
    TaskAutomaton result{{.num_states = order, .letters = symbols(), .next = {}, .start = 0, .accepting = {}}, {}};
    for (int32_t letter = 0; letter < result.dfa.num_letters(); ++letter) {
      std::vector<int>& next = result.dfa.next.emplace_back();
      for (int state = 0; state < order; ++state) {
        next.push_back(letter < order ? layout_.group->Multiply(state, letter) : state);
      }
    }
    for (int state = 0; state < order; ++state) {
      result.dfa.accepting.push_back(state == 0);
      result.answers.push_back(state);
    }
    return result;
  }

  std::vector<std::string> symbols() const override {
    const FiniteGroup& group = *layout_.group;
    const bool rotations = group.name().find_first_of("ZC") == 0 && group.order() == group.degree();
    std::vector<std::string> symbols;
    for (int id = 0; id < group.order(); ++id) {
      const bool by_number = rotations || group.degree() > kLargestNamedDegree;
      symbols.push_back(by_number ? std::to_string(id) : CycleNotation(group.element(id)));
    }
    if (layout_.tokens_per_element > 1) symbols.push_back("_");
    if (layout_.has_bos) {
      symbols.insert(symbols.end(), {"<pad>", "<bos>", "<unk>", "<eos>", "<sep>", "<cls>", "<mask>"});
    }
    return symbols;
  }

 protected:
  std::unique_ptr<ExampleStream> Start(int64_t length, Rng rng) const override {
    return std::make_unique<WordStream>(layout_, tokens(length), rng);
  }

 private:
  Layout layout_;
};

std::unique_ptr<Task> Make(const TaskParameters& parameters) {
  const auto group = std::make_shared<const FiniteGroup>(ParseGroup(parameters.String("group")));
  if (group->order() < 2) parameters.Refuse("group", "a group of at least two elements");
  std::vector<int32_t> elements;
  if (parameters.Choice("inputs", {"all", "generators"}) == "all") {
    elements.resize(group->order());
    std::iota(elements.begin(), elements.end(), 0);
  } else {
    elements.assign(group->generators().begin(), group->generators().end());
  }
  const int64_t most = parameters.Int("max_moved", 0, 1'000'000);
  if (most > 0) {
    std::erase_if(elements, [&](int32_t id) { return MovedPoints(group->element(id)) > most; });
    if (elements.size() < 2) parameters.Refuse("max_moved", "a limit that at least two inputs keep");
  }
  return std::make_unique<GroupWords>(
      Layout{group, std::move(elements), parameters.Int("tokens", 1, 1024), parameters.Bool("bos")});
}

}  // namespace

TaskInfo GroupWordsInfo() {
  return {
      "group",
      "the running product of group elements: y_t = y_{t-1} * x_t, a * b = \"a after b\"",
      {{"group", "S5", "S5, A5, Z60, D7, Q8, A4xZ5, ..., or generators: (0 1 2)(3 4), (0 1)"},
       {"inputs", "all", "the elements that are drawn: all or generators"},
       {"max_moved", 0, "draw only elements that move at most so many points: 2 is swaps and identity; 0: no limit"},
       {"tokens", 1, "tokens per element: the element and fillers"},
       {"bos", true, "start with <bos>"}},
      Make};
}

}  // namespace lrnn
