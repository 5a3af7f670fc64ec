#include "lrnn/tasks/file_task.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <set>
#include <sstream>

#include "lrnn/base/error.h"
#include "lrnn/tasks/example_file.h"

namespace lrnn {
namespace {

int64_t LengthOf(const Example& example) { return static_cast<int64_t>(example.tokens.size()); }

class FileStream : public ExampleStream {
 public:
  explicit FileStream(const Example& example) : ExampleStream(LengthOf(example)), example_(example) {}

 private:
  Position Next() override {
    const size_t at = at_++;
    return {example_.tokens[at], example_.targets[at]};
  }

  const Example& example_;
  size_t at_ = 0;
};

// What both sides of the split share.
struct Description {
  std::vector<std::string> symbols;
  double chance;
  Score score;
};

class FileTask : public Task {
 public:
  FileTask(std::shared_ptr<const Description> description, std::vector<Example> examples,
           std::unique_ptr<FileTask> held_out)
      : description_(std::move(description)), examples_(std::move(examples)), held_out_(std::move(held_out)) {
    std::stable_sort(examples_.begin(), examples_.end(),
                     [](const auto& a, const auto& b) { return LengthOf(a) < LengthOf(b); });
  }

  std::string name() const override { return "file"; }
  std::vector<std::string> symbols() const override { return description_->symbols; }
  double chance() const override { return description_->chance; }
  Score score() const override { return description_->score; }
  int64_t min_length() const override { return 1; }
  int64_t tokens(int64_t length) const override { return length; }
  const Task& held_out() const override { return held_out_ ? *held_out_ : static_cast<const Task&>(*this); }

  int64_t DrawLength(LengthRange lengths, Rng& rng) const override { return LengthOf(DrawExample(lengths, rng)); }

 protected:
  std::unique_ptr<ExampleStream> Start(int64_t length, Rng rng) const override {
    return std::make_unique<FileStream>(DrawExample({length, length}, rng));
  }

 private:
  const Example& DrawExample(LengthRange lengths, Rng& rng) const {
    const auto first = std::lower_bound(examples_.begin(), examples_.end(), lengths.min,
                                        [](const auto& example, int64_t length) { return LengthOf(example) < length; });
    const auto last = std::upper_bound(first, examples_.end(), lengths.max,
                                       [](int64_t length, const auto& example) { return length < LengthOf(example); });
    LRNN_CHECK(first != last, "[file] no example has a length from {} to {} (they have {} to {})", lengths.min,
               lengths.max, LengthOf(examples_.front()), LengthOf(examples_.back()));
    return first[rng.Between(0, last - first - 1)];
  }

  std::shared_ptr<const Description> description_;
  std::vector<Example> examples_;       // by length
  std::unique_ptr<FileTask> held_out_;  // none: it is evaluated on its own examples
};

// Integers by value, then the other symbols.
bool SymbolLess(const std::string& a, const std::string& b) {
  const auto number = [](const std::string& text) {
    int64_t value;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc() && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
  };
  const auto x = number(a), y = number(b);
  if (x && y && *x != *y) return *x < *y;
  if (x.has_value() != y.has_value()) return x.has_value();
  return a < b;
}

std::vector<std::string> CollectSymbols(const std::vector<const std::vector<FileExample>*>& files) {
  std::set<std::string> found;
  for (const auto* file : files) {
    for (const FileExample& example : *file) {
      found.insert(example.tokens.begin(), example.tokens.end());
      found.insert(example.targets.begin(), example.targets.end());
    }
  }
  found.erase("");
  std::vector<std::string> symbols(found.begin(), found.end());
  std::sort(symbols.begin(), symbols.end(), SymbolLess);
  return symbols;
}

// Whether the hash of its tokens (FNV-1a, then mixed), as a number in [0, 1), is below `share`.
bool IsHeldOut(const FileExample& example, double share) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const std::string& token : example.tokens) {
    for (unsigned char byte : token + " ") hash = (hash ^ byte) * 0x100000001b3;
  }
  return Rng(hash, 0).Uniform() < share;
}

class Builder {
 public:
  explicit Builder(const std::vector<std::string>& symbols) {
    for (const std::string& symbol : symbols) tokens_.emplace(symbol, static_cast<int32_t>(tokens_.size()));
  }

  Example Build(const std::string& path, const FileExample& example) {
    Example result;
    for (const std::string& token : example.tokens) result.tokens.push_back(Token(path, example.line, token));
    for (const std::string& target : example.targets) {
      result.targets.push_back(target.empty() ? kNoTarget : Token(path, example.line, target));
      if (!target.empty()) seen_targets_.insert(target);
    }
    return result;
  }

  size_t different_targets() const { return seen_targets_.size(); }

 private:
  int32_t Token(const std::string& path, int line, const std::string& symbol) const {
    const auto found = tokens_.find(symbol);
    LRNN_CHECK(found != tokens_.end(), "{}:{}: \"{}\" is not among the symbols", path, line, symbol);
    return found->second;
  }

  std::map<std::string, int32_t> tokens_;
  std::set<std::string> seen_targets_;
};

std::unique_ptr<Task> Make(const TaskParameters& parameters) {
  const std::string path = parameters.String("file"), test_path = parameters.String("test_file");
  const double share = parameters.Double("test_share", 0, 0.99);
  const std::vector<FileExample> given = ReadExamples(path);
  const std::vector<FileExample> given_tests = test_path.empty() ? std::vector<FileExample>() : ReadExamples(test_path);

  Description description;
  std::istringstream words(parameters.String("symbols"));
  for (std::string word; words >> word;) description.symbols.push_back(word);
  if (std::set<std::string>(description.symbols.begin(), description.symbols.end()).size() !=
      description.symbols.size()) {
    parameters.Refuse("symbols", "different symbols");
  }
  if (description.symbols.empty()) description.symbols = CollectSymbols({&given, &given_tests});

  Builder builder(description.symbols);
  std::vector<Example> train, test;
  for (const FileExample& example : given) {
    const bool held_out = test_path.empty() && IsHeldOut(example, share);
    (held_out ? test : train).push_back(builder.Build(path, example));
  }
  for (const FileExample& example : given_tests) test.push_back(builder.Build(test_path, example));
  LRNN_CHECK(builder.different_targets() > 1, "{}: expected different targets, got only one", path);
  LRNN_CHECK(!train.empty() && (!test.empty() || share == 0),
             "{}: of {} examples {} are held out by test_share = {}; give more examples, another share or a test_file",
             path, given.size(), test.size(), share);
  description.score =
      parameters.Choice("score", {"tokens", "sequence"}) == "tokens" ? Score::kTokens : Score::kSequence;
  description.chance = description.score == Score::kTokens ? 1.0 / static_cast<double>(builder.different_targets()) : 0;

  const auto shared = std::make_shared<const Description>(std::move(description));
  auto held_out = test.empty() ? nullptr : std::make_unique<FileTask>(shared, std::move(test), nullptr);
  return std::make_unique<FileTask>(shared, std::move(train), std::move(held_out));
}

}  // namespace

TaskInfo FileTaskInfo() {
  return {"file",
          "your own examples, from a .jsonl or .csv file",
          {{"file", nullptr, "the examples, NAME.jsonl or NAME.csv"},
           {"test_file", "", "examples to evaluate on; default: a share of the others"},
           {"test_share", 0.1, "the share of examples that is held out for evaluation; 0: evaluate on all"},
           {"symbols", "", "the vocabulary in order, separated by blanks; default: the symbols of the files"},
           {"score", "tokens", "what counts as right: tokens, or the whole sequence"}},
          Make};
}

}  // namespace lrnn
