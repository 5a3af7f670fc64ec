#include "lrnn/automata/table.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>

#include "lrnn/automata/text_words.h"
#include "lrnn/automata/utf8.h"

namespace lrnn {
namespace {

constexpr std::string_view kVersion1 = "1";

// Where a state's name in its own line ends: the first ':' that \ does not escape.
size_t FindColon(std::string_view word) {
  for (size_t i = 0; i < word.size(); ++i) {
    if (word[i] == ':') return i;
    if (word[i] == '\\') ++i;
  }
  return std::string_view::npos;
}

class Reader {
 public:
  explicit Reader(SourceText source) : source_(source) {}

  Dfa Read() {
    TextLines lines(source_, TextLines::Comments::kHash);
    while (lines.Next()) {
      const TextWord& first = lines.words()[0];
      const size_t colon = FindColon(first.text);
      if (colon != std::string_view::npos) {
        ReadState(lines, colon);
      } else if (first.text == "dfa" || first.text == "letters" || first.text == "start" || first.text == "accept") {
        ReadHeader(lines);
      } else {
        source_.FailAt(first.place, "expected 'letters ...', 'start ...', 'accept ...' or a state and ':', got '{}'",
                       first.text);
      }
    }
    return Finish();
  }

 private:
  void ReadHeader(const TextLines& lines) {
    const std::vector<TextWord>& words = lines.words();
    const std::string_view keyword = words[0].text;
    if (!headers_.emplace(keyword, words[0].place).second) {
      source_.FailAt(words[0].place, "a second line '{}'", keyword);
    }
    if (num_states_ > 0) source_.FailAt(words[0].place, "expected the line '{}' before the states", keyword);
    const std::vector<TextWord> values(words.begin() + 1, words.end());
    if (keyword == "dfa") {
      if (values.size() != 1 || values[0].text != kVersion1) {
        source_.FailAt(words[0].place, "expected 'dfa {}': this program reads version {}", kVersion1, kVersion1);
      }
    } else if (keyword == "letters") {
      if (values.empty()) source_.FailAt(lines.end(), "expected at least one letter");
      std::set<std::string> seen;
      for (const TextWord& word : values) {
        dfa_.letters.push_back(UnescapeWord(word, source_));
        if (!seen.insert(dfa_.letters.back()).second) {
          source_.FailAt(word.place, "letter '{}' is named twice", word.text);
        }
      }
      dfa_.next.resize(dfa_.letters.size());
    } else if (keyword == "start") {
      if (values.size() != 1) source_.FailAt(lines.end(), "expected one state after 'start', got {}", values.size());
      start_ = values[0];
    } else {
      accepting_ = values;
    }
  }

  void ReadState(const TextLines& lines, size_t colon) {
    const TextWord& first = lines.words()[0];
    if (dfa_.letters.empty()) source_.FailAt(first.place, "expected a line 'letters ...' before the states");
    const TextWord name{first.text.substr(0, colon), first.place};
    if (name.text.empty()) source_.FailAt(first.place, "expected the state's name before ':'");
    if (!states_.emplace(UnescapeWord(name, source_), num_states_).second) {
      source_.FailAt(first.place, "state '{}' has a second line", name.text);
    }
    ++num_states_;

    std::vector<TextWord> targets(lines.words().begin() + 1, lines.words().end());
    if (colon + 1 < first.text.size()) {
      targets.insert(targets.begin(), {first.text.substr(colon + 1), first.place + colon + 1});
    }
    if (targets.size() < dfa_.letters.size()) {
      source_.FailAt(lines.end(), "state '{}' has no transition on '{}'", name.text, dfa_.letters[targets.size()]);
    }
    if (targets.size() > dfa_.letters.size()) {
      source_.FailAt(targets[dfa_.letters.size()].place, "state '{}' has more transitions than there are letters ({})",
                     name.text, dfa_.letters.size());
    }
    targets_.insert(targets_.end(), targets.begin(), targets.end());
  }

  int Find(const TextWord& word) const {
    const auto place = states_.find(UnescapeWord(word, source_));
    if (place == states_.end()) source_.FailAt(word.place, "unknown state '{}'", word.text);
    return place->second;
  }

  Dfa Finish() {
    for (const std::string_view keyword : {"letters", "start", "accept"}) {
      if (!headers_.contains(keyword)) source_.FailAt(source_.text.size(), "expected a line '{} ...'", keyword);
    }
    if (num_states_ == 0) source_.FailAt(source_.text.size(), "expected a line for each state, such as 'q0: q1 q2'");
    dfa_.num_states = num_states_;
    dfa_.start = Find(*start_);
    dfa_.accepting.assign(num_states_, false);
    for (const TextWord& word : accepting_) {
      const int state = Find(word);
      if (dfa_.accepting[state]) source_.FailAt(word.place, "state '{}' is named twice", word.text);
      dfa_.accepting[state] = true;
    }
    for (size_t i = 0; i < targets_.size(); ++i) dfa_.next[i % dfa_.next.size()].push_back(Find(targets_[i]));
    return std::move(dfa_);
  }

  SourceText source_;
  Dfa dfa_;
  int num_states_ = 0;
  std::map<std::string_view, size_t> headers_;  // where each was
  std::optional<TextWord> start_;
  std::vector<TextWord> accepting_;
  std::unordered_map<std::string, int> states_;
  std::vector<TextWord> targets_;  // state after state
};

}  // namespace

Dfa ReadTable(std::string_view text, std::string_view source) { return Reader({text, source}).Read(); }

std::string WriteTable(const Dfa& dfa) {
  const auto state = [](int q) { return fmt::format("q{}", q); };
  const size_t width = state(dfa.num_states - 1).size();  // of the columns
  std::string table = "dfa 1\n";
  const auto begin_line = [&](std::string word) {
    word.resize(std::max({word.size(), width + 1, size_t{8}}), ' ');
    table += word;
  };
  const auto add = [&](const std::string& word) {
    const size_t length =
        word.size() - static_cast<size_t>(std::count_if(word.begin(), word.end(), IsUtf8Continuation));
    table += ' ' + word + std::string(width - std::min(width, length), ' ');
  };
  const auto end_line = [&] {
    table.erase(table.find_last_not_of(' ') + 1);
    table += '\n';
  };

  begin_line("letters");
  for (const std::string& letter : dfa.letters) add(EscapeWord(letter));
  end_line();
  begin_line("start");
  add(state(dfa.start));
  end_line();
  begin_line("accept");
  for (int q = 0; q < dfa.num_states; ++q) {
    if (dfa.accepting[q]) add(state(q));
  }
  end_line();
  table += '\n';
  for (int q = 0; q < dfa.num_states; ++q) {
    begin_line(state(q) + ":");
    for (const std::vector<int>& next : dfa.next) add(state(next[q]));
    end_line();
  }
  return table;
}

}  // namespace lrnn
