#include "lrnn/automata/minimise.h"

#include <algorithm>
#include <utility>

namespace lrnn {
namespace {

// A partition of 0 .. n-1 into blocks that are split by marking elements.
class Partition {
 public:
  explicit Partition(int n) : elements_(n), position_(n), block_(n, 0), begin_{0}, end_{n}, marked_{0} {
    for (int i = 0; i < n; ++i) elements_[i] = position_[i] = i;
  }

  int num_blocks() const { return static_cast<int>(begin_.size()); }
  int block(int element) const { return block_[element]; }
  int size(int block) const { return end_[block] - begin_[block]; }
  std::span<const int> members(int block) const {
    return std::span(elements_).subspan(begin_[block], static_cast<size_t>(size(block)));
  }

  // Marks an element not yet marked; touched() lists the blocks with marks.
  void Mark(int element) {
    const int block = block_[element];
    if (marked_[block] == 0) touched_.push_back(block);
    const int place = begin_[block] + marked_[block]++;
    const int other = elements_[place];
    std::swap(elements_[place], elements_[position_[element]]);
    position_[other] = position_[element];
    position_[element] = place;
  }

  // Splits each block that is marked in part, calling split(old block, new block); clears the marks.
  template <typename Split>
  void SplitMarked(const Split& split) {
    for (const int block : touched_) {
      const int marked = std::exchange(marked_[block], 0);
      if (marked == size(block)) continue;
      const int fresh = num_blocks();
      begin_.push_back(begin_[block]);
      end_.push_back(begin_[block] + marked);
      marked_.push_back(0);
      begin_[block] += marked;
      for (const int element : members(fresh)) block_[element] = fresh;
      split(block, fresh);
    }
    touched_.clear();
  }

 private:
  std::vector<int> elements_;  // block after block
  std::vector<int> position_;  // of each element in elements_
  std::vector<int> block_;
  std::vector<int> begin_, end_;  // of each block in elements_
  std::vector<int> marked_;       // the first marked_[b] elements of block b are marked
  std::vector<int> touched_;
};

// The states that each letter leads from, grouped by where it leads to.
struct Sources {
  std::vector<int> begin;   // [state], and the end
  std::vector<int> states;  // sources of q: states[begin[q] .. begin[q+1]-1]

  explicit Sources(const std::vector<int>& next) : begin(next.size() + 1, 0), states(next.size()) {
    for (const int to : next) ++begin[to + 1];
    for (size_t q = 1; q < begin.size(); ++q) begin[q] += begin[q - 1];
    std::vector<int> place(begin.begin(), begin.end() - 1);
    for (size_t q = 0; q < next.size(); ++q) states[place[next[q]]++] = static_cast<int>(q);
  }

  std::span<const int> of(int q) const { return std::span(states).subspan(begin[q], begin[q + 1] - begin[q]); }
};

}  // namespace

Dfa Trim(const Dfa& dfa) {
  std::vector<int> number(dfa.num_states, -1);
  std::vector<int> order = {dfa.start};
  number[dfa.start] = 0;
  for (size_t i = 0; i < order.size(); ++i) {
    for (const std::vector<int>& next : dfa.next) {
      const int to = next[order[i]];
      if (number[to] >= 0) continue;
      number[to] = static_cast<int>(order.size());
      order.push_back(to);
    }
  }
  Dfa result;
  result.num_states = static_cast<int>(order.size());
  result.letters = dfa.letters;
  for (const int q : order) result.accepting.push_back(dfa.accepting[q]);
  for (const std::vector<int>& next : dfa.next) {
    std::vector<int>& row = result.next.emplace_back();
    row.reserve(order.size());
    for (const int q : order) row.push_back(number[next[q]]);
  }
  return result;
}

Dfa Minimise(const Dfa& dfa) {
  const Dfa trimmed = Trim(dfa);
  const int n = trimmed.num_states;
  const int k = trimmed.num_letters();
  std::vector<Sources> sources;
  for (const std::vector<int>& next : trimmed.next) sources.emplace_back(next);

  Partition partition(n);
  std::vector<std::vector<bool>> is_waiting = {std::vector<bool>(k, true)};  // [block][letter]
  std::vector<std::pair<int, int>> waiting;                                  // (block, letter) to split by
  for (int letter = 0; letter < k; ++letter) waiting.emplace_back(0, letter);
  const auto wait = [&](int block, int letter) {
    is_waiting[block][letter] = true;
    waiting.emplace_back(block, letter);
  };
  // Splitting by both halves is splitting by the whole and one half: the smaller is enough (Hopcroft 1971).
  const auto split = [&](int old_block, int new_block) {
    is_waiting.emplace_back(k, false);
    for (int letter = 0; letter < k; ++letter) {
      const bool is_old_smaller = partition.size(old_block) < partition.size(new_block);
      wait(!is_waiting[old_block][letter] && is_old_smaller ? old_block : new_block, letter);
    }
  };
  for (int q = 0; q < n; ++q) {
    if (trimmed.accepting[q]) partition.Mark(q);
  }
  partition.SplitMarked(split);

  std::vector<int> splitter;
  while (!waiting.empty()) {
    const auto [block, letter] = waiting.back();
    waiting.pop_back();
    is_waiting[block][letter] = false;
    splitter.assign(partition.members(block).begin(), partition.members(block).end());
    for (const int q : splitter) {
      for (const int from : sources[letter].of(q)) partition.Mark(from);
    }
    partition.SplitMarked(split);
  }

  Dfa quotient;
  quotient.num_states = partition.num_blocks();
  quotient.letters = trimmed.letters;
  quotient.start = partition.block(trimmed.start);
  for (int block = 0; block < quotient.num_states; ++block) {
    quotient.accepting.push_back(trimmed.accepting[partition.members(block)[0]]);
  }
  for (const std::vector<int>& next : trimmed.next) {
    std::vector<int>& row = quotient.next.emplace_back();
    for (int block = 0; block < quotient.num_states; ++block) {
      row.push_back(partition.block(next[partition.members(block)[0]]));
    }
  }
  return Trim(quotient);
}

}  // namespace lrnn
