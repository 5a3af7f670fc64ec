#include "lrnn/automata/fst_text.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "lrnn/automata/nfa.h"
#include "lrnn/automata/text_words.h"

namespace lrnn {
namespace {

constexpr std::string_view kEpsilon = "<eps>";

int ReadNumber(const TextWord& word, std::string_view what, const SourceText& source) {
  int number = 0;
  const char* const end = word.text.data() + word.text.size();
  const auto [last, error] = std::from_chars(word.text.data(), end, number);
  if (error != std::errc() || last != end || number < 0) {
    source.FailAt(word.place, "expected {}, got '{}'", what, word.text);
  }
  return number;
}

// OpenFst's weight of what is accepted without a cost.
void CheckWeight(const TextWord& word, const SourceText& source) {
  double weight = 1;
  const char* const end = word.text.data() + word.text.size();
  const auto [last, error] = std::from_chars(word.text.data(), end, weight);
  if (error != std::errc() || last != end || weight != 0) {
    source.FailAt(word.place, "expected the weight 0, got '{}': neither transducers nor weights are read", word.text);
  }
}

// Label numbers by the names in the text; 0 is the empty label.
std::unordered_map<std::string_view, int> ReadSymbols(const SourceText& source) {
  std::unordered_map<std::string_view, int> symbols;
  std::map<int, std::string_view> names;
  TextLines lines(source, TextLines::Comments::kNone);
  while (lines.Next()) {
    const std::vector<TextWord>& words = lines.words();
    if (words.size() != 2) source.FailAt(words[0].place, "expected 'name number', got {} words", words.size());
    const int number = ReadNumber(words[1], "a label's number", source);
    if (!symbols.emplace(words[0].text, number).second) {
      source.FailAt(words[0].place, "symbol '{}' is named twice", words[0].text);
    }
    if (const auto [other, is_new] = names.emplace(number, words[0].text); !is_new) {
      source.FailAt(words[1].place, "symbols '{}' and '{}' have the same number", other->second, words[0].text);
    }
  }
  return symbols;
}

class Reader {
 public:
  Reader(const FstText& text, const FstSources& sources)
      : arcs_{text.arcs, sources.arcs}, symbols_source_{text.symbols, sources.symbols} {}

  Nfa Read() {
    const bool has_symbols = !symbols_source_.text.empty();
    if (has_symbols) {
      symbols_ = ReadSymbols(symbols_source_);
      for (const auto& [name, number] : symbols_) labels_[number] = name;
    }
    std::vector<Nfa::Arc> arcs;  // with label numbers
    TextLines lines(arcs_, TextLines::Comments::kNone);
    while (lines.Next()) {
      const std::vector<TextWord>& words = lines.words();
      if (words.size() > 4) {
        arcs_.FailAt(words[4].place, "expected 'from to label' or 'state', got {} words", words.size());
      }
      const int from = State(words[0]);
      if (words.size() <= 2) {
        if (words.size() == 2) CheckWeight(words[1], arcs_);
        nfa_.accepting[from] = true;
        continue;
      }
      if (words.size() == 4) CheckWeight(words[3], arcs_);
      const int to = State(words[1]);
      arcs.push_back({from, has_symbols ? Symbol(words[2]) : Number(words[2]), to});
    }
    if (states_.empty()) arcs_.FailAt(0, "expected at least one line");
    nfa_.num_states = static_cast<int>(states_.size());

    std::unordered_map<int, int> letters = {{0, Nfa::kEmpty}};
    std::unordered_set<std::string> seen;
    for (const auto& [number, name] : labels_) {
      if (number == 0) continue;
      letters[number] = static_cast<int>(nfa_.letters.size());
      nfa_.letters.push_back(has_symbols ? Letter(name) : std::to_string(number));
      if (!seen.insert(nfa_.letters.back()).second) {
        symbols_source_.FailAt(Place(name), "symbol '{}' stands for a letter that has another symbol", name);
      }
    }
    if (nfa_.letters.empty()) arcs_.FailAt(0, "the acceptor has no letter; give a symbol table");
    for (const auto& [from, label, to] : arcs) nfa_.arcs.push_back({from, letters[label], to});
    return std::move(nfa_);
  }

 private:
  // States are numbered as they are met: the first is the start.
  int State(const TextWord& word) {
    const int state = ReadNumber(word, "a state's number", arcs_);
    const auto [place, is_new] = states_.emplace(state, static_cast<int>(states_.size()));
    if (is_new) nfa_.accepting.push_back(false);
    return place->second;
  }

  int Number(const TextWord& word) {
    const int number = ReadNumber(word, "a label's number (there is no symbol table)", arcs_);
    labels_.emplace(number, std::string_view());
    return number;
  }

  int Symbol(const TextWord& word) const {
    const auto place = symbols_.find(word.text);
    if (place == symbols_.end()) arcs_.FailAt(word.place, "'{}' is not in the symbol table", word.text);
    return place->second;
  }

  // Tables of others know no escapes: there a single \ is that letter.
  std::string Letter(std::string_view symbol) const {
    return symbol == "\\" ? "\\" : UnescapeWord({symbol, Place(symbol)}, symbols_source_);
  }

  size_t Place(std::string_view symbol) const {
    return static_cast<size_t>(symbol.data() - symbols_source_.text.data());
  }

  SourceText arcs_;
  SourceText symbols_source_;
  std::unordered_map<std::string_view, int> symbols_;
  std::map<int, std::string_view> labels_;  // in the order of their numbers
  std::unordered_map<int, int> states_;
  Nfa nfa_;
};

}  // namespace

Dfa ReadFst(const FstText& text, const FstSources& sources, int max_states) {
  return Determinise(Reader(text, sources).Read(), max_states);
}

FstText WriteFst(const Dfa& dfa) {
  FstText text;
  text.symbols = fmt::format("{} 0\n", kEpsilon);
  std::vector<std::string> labels;
  for (int letter = 0; letter < dfa.num_letters(); ++letter) {
    labels.push_back(EscapeWord(dfa.letters[letter]));
    if (labels.back() == kEpsilon) labels.back() = "\\x3ceps>";
    text.symbols += fmt::format("{} {}\n", labels.back(), letter + 1);
  }
  const auto add_arcs = [&](int q) {
    for (int letter = 0; letter < dfa.num_letters(); ++letter) {
      text.arcs += fmt::format("{} {} {}\n", q, dfa.next[letter][q], labels[letter]);
    }
  };
  add_arcs(dfa.start);
  for (int q = 0; q < dfa.num_states; ++q) {
    if (q != dfa.start) add_arcs(q);
  }
  for (int q = 0; q < dfa.num_states; ++q) {
    if (dfa.accepting[q]) text.arcs += fmt::format("{}\n", q);
  }
  return text;
}

}  // namespace lrnn
