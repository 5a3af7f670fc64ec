#include "lrnn/analysis/learned_automaton.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

#include "lrnn/analysis/task_words.h"
#include "lrnn/base/error.h"
#include "lrnn/runtime/largest_logit.h"

namespace lrnn {
namespace {

constexpr double kFollows = 0.99;   // share of words that must follow the automaton, or else the clusters are blurred
constexpr int64_t kMaxVotes = 512;  // of a cluster, where four members or more can vote with so many
constexpr int32_t kNoAnswer = -1;   // before the first letter

using Word = std::vector<int>;
using Signature = std::vector<int32_t>;  // the answers after each of the suffixes

// Where a model is after some word.
struct HiddenState {
  std::vector<float> numbers;
  int32_t answer = kNoAnswer;
  double probability = 0;  // of the answer
};

double LargestProbability(std::span<const float> logits) {
  const double largest = *std::max_element(logits.begin(), logits.end());
  double sum = 0;
  for (const float logit : logits) sum += std::exp(logit - largest);
  return 1 / sum;
}

class Reader {
 public:
  Reader(const RuntimeModel& model, const TokenAutomaton& truth) : truth_(truth), session_(model.NewSession()) {}

  HiddenState Start() {
    session_->Reset();
    for (const int32_t token : truth_.opening) session_->Step(token);
    HiddenState start;
    session_->SaveState(start.numbers);
    return start;
  }

  HiddenState After(const HiddenState& from, std::span<const int> letters) {
    HiddenState after = from;
    session_->LoadState(from.numbers);
    std::span<const float> logits;
    for (const int letter : letters) logits = session_->Step(truth_.tokens[letter]);
    if (letters.empty()) return after;
    after.answer = LargestLogit(logits);
    after.probability = LargestProbability(logits);
    session_->SaveState(after.numbers);
    return after;
  }

  // The answers alone.
  int32_t Answer(const HiddenState& from, const Word& suffix) {
    if (suffix.empty()) return from.answer;
    session_->LoadState(from.numbers);
    int32_t answer = kNoAnswer;
    for (const int letter : suffix) answer = LargestLogit(session_->Step(truth_.tokens[letter]));
    return answer;
  }

  Signature Sign(const HiddenState& state, const std::vector<Word>& suffixes) {
    Signature signature;
    for (const Word& suffix : suffixes) signature.push_back(Answer(state, suffix));
    return signature;
  }

 private:
  const TokenAutomaton& truth_;
  std::unique_ptr<Session> session_;
};

// Clusters for one list of suffixes, with the votes of their members.
class Clustering {
 public:
  struct Cluster {
    Signature signature;
    std::vector<HiddenState> voters;
    std::vector<std::map<int, int64_t>> votes;  // [letter]: cluster -> votes

    int Winner(int letter) const {
      const auto& counts = votes[letter];
      return std::max_element(counts.begin(), counts.end(), [](auto& a, auto& b) { return a.second < b.second; })
          ->first;
    }
  };

  Clustering(Reader& reader, int letters, const std::vector<Word>& suffixes, const LearnOptions& options)
      : reader_(reader), letters_(letters), suffixes_(suffixes), options_(options) {}

  // The cluster of a hidden state, a new one where there is none.
  int Place(const HiddenState& state) {
    Signature signature = reader_.Sign(state, suffixes_);
    const auto [entry, is_new] = number_.try_emplace(signature, static_cast<int>(clusters_.size()));
    if (is_new) {
      if (static_cast<int64_t>(clusters_.size()) == options_.max_clusters) {
        throw Failure(fmt::format(
            "the hidden states fall into more than {} clusters after words of {}:{} letters: the model holds no small "
            "automaton there (shorter words may show one)",
            options_.max_clusters, options_.lengths.min, options_.lengths.max));
      }
      clusters_.push_back({std::move(signature), {}, {}});
    }
    std::vector<HiddenState>& voters = clusters_[entry->second].voters;
    if (static_cast<int64_t>(voters.size()) < options_.voters) voters.push_back(state);
    return entry->second;
  }

  int Find(const HiddenState& state) const {
    const auto found = number_.find(reader_.Sign(state, suffixes_));
    return found == number_.end() ? -1 : found->second;
  }

  // Every voter of every cluster, those that come up on the way included.
  void Vote() {
    for (size_t c = 0; c < clusters_.size(); ++c) {
      const std::vector<HiddenState> voters = clusters_[c].voters;
      std::vector<std::map<int, int64_t>> votes(letters_);
      for (const HiddenState& voter : voters) {
        for (int letter = 0; letter < letters_; ++letter) {
          ++votes[letter][Place(reader_.After(voter, std::array{letter}))];
        }
      }
      clusters_[c].votes = std::move(votes);
    }
  }

  // The shortest word that tells apart members of a cluster (one that can be reached) that disagree too much.
  std::optional<Word> Splitter(int start) const {
    std::optional<Word> shortest;
    std::vector<int> walk{start};
    std::set<int> seen{start};
    for (size_t i = 0; i < walk.size(); ++i) {
      const Cluster& cluster = clusters_[walk[i]];
      for (int letter = 0; letter < letters_; ++letter) {
        const int winner = cluster.Winner(letter);
        if (seen.insert(winner).second) walk.push_back(winner);
        const auto& counts = cluster.votes[letter];
        int64_t cast = 0;
        for (const auto& [to, votes] : counts) cast += votes;
        const auto against = static_cast<double>(cast - counts.at(winner));
        if (against <= options_.tolerated_share * static_cast<double>(cast)) continue;
        for (const auto& [to, votes] : counts) {
          if (to == winner) continue;
          Word word = Difference(winner, to);
          word.insert(word.begin(), letter);
          if (!shortest || word.size() < shortest->size()) shortest = word;
        }
      }
    }
    return shortest;
  }

  const std::vector<Cluster>& clusters() const { return clusters_; }

 private:
  Word Difference(int a, int b) const {
    size_t i = 0;
    while (clusters_[a].signature[i] == clusters_[b].signature[i]) ++i;
    return suffixes_[i];
  }

  Reader& reader_;
  int letters_;
  std::vector<Word> suffixes_;
  const LearnOptions& options_;
  std::vector<Cluster> clusters_;
  std::map<Signature, int> number_;
};

// The majority's automaton, made minimal, and what each cluster became in it.
struct Majority {
  MinimalAnswers minimal;
  std::vector<std::vector<Votes>> votes;
};

Majority Decide(const Clustering& clustering, int start, const TokenAutomaton& truth) {
  const auto& clusters = clustering.clusters();
  std::set<int32_t> accepted;
  for (int state = 0; state < truth.dfa.num_states; ++state) {
    if (truth.dfa.accepting[state]) accepted.insert(truth.answers[state]);
  }
  TokenAutomaton all{
      {static_cast<int>(clusters.size()), truth.dfa.letters, {}, start, {}}, truth.opening, truth.tokens, {}};
  for (const auto& cluster : clusters) all.answers.push_back(cluster.signature[0]);
  all.answers[start] = truth.answers[truth.dfa.start];
  for (const int32_t answer : all.answers) all.dfa.accepting.push_back(accepted.contains(answer));
  for (int letter = 0; letter < all.dfa.num_letters(); ++letter) {
    std::vector<int>& row = all.dfa.next.emplace_back();
    for (const auto& cluster : clusters) row.push_back(cluster.Winner(letter));
  }

  Majority result{MinimiseAnswers(all), {}};
  const Dfa& dfa = result.minimal.automaton.dfa;
  const std::vector<int>& state_of = result.minimal.state_of;
  result.votes.assign(dfa.num_letters(), std::vector<Votes>(dfa.num_states));
  for (size_t c = 0; c < clusters.size(); ++c) {
    if (state_of[c] < 0) continue;
    for (int letter = 0; letter < dfa.num_letters(); ++letter) {
      Votes& votes = result.votes[letter][state_of[c]];
      for (const auto& [to, count] : clusters[c].votes[letter]) {
        votes.cast += count;
        if (state_of[to] == dfa.next[letter][state_of[c]]) votes.agreeing += count;
      }
    }
  }
  return result;
}

// The means of the hidden states of each automaton state; empty where there were none.
class Centres {
 public:
  explicit Centres(int states) : sums_(states), counts_(states) {}

  void Add(int state, const std::vector<float>& numbers) {
    std::vector<double>& sum = sums_[state];
    sum.resize(numbers.size());
    for (size_t i = 0; i < numbers.size(); ++i) sum[i] += double{numbers[i]};
    ++counts_[state];
  }

  int Nearest(const std::vector<float>& numbers) const {
    int nearest = -1;
    double smallest = 0;
    for (size_t state = 0; state < sums_.size(); ++state) {
      if (counts_[state] == 0) continue;
      double distance = 0;
      for (size_t i = 0; i < numbers.size(); ++i) {
        const double difference = double{numbers[i]} - sums_[state][i] / static_cast<double>(counts_[state]);
        distance += difference * difference;
      }
      if (nearest < 0 || distance < smallest) {
        nearest = static_cast<int>(state);
        smallest = distance;
      }
    }
    return nearest;
  }

 private:
  std::vector<std::vector<double>> sums_;
  std::vector<int64_t> counts_;
};

}  // namespace

LearnedAutomaton LearnAutomaton(const RuntimeModel& model, const Task& task, const TokenAutomaton& truth,
                                const LearnOptions& wanted) {
  LearnOptions options = wanted;
  options.voters =
      std::clamp<int64_t>(kMaxVotes / truth.dfa.num_letters(), std::min<int64_t>(4, wanted.voters), wanted.voters);
  LRNN_CHECK(options.lengths.min >= 1 && options.lengths.min <= options.lengths.max,
             "[learned_automaton] expected lengths from 1 on, got {}:{}", options.lengths.min, options.lengths.max);
  const int64_t longest = std::max(options.longest, options.lengths.max);
  Reader reader(model, truth);
  const HiddenState start = reader.Start();
  std::vector<Word> words;
  std::vector<size_t> letters_read;
  std::vector<HiddenState> states;  // after each word's first letters, then further on
  for (int64_t i = 0; i < options.words; ++i) {
    Rng rng(options.seed, static_cast<uint64_t>(i));
    letters_read.push_back(static_cast<size_t>(rng.Between(options.lengths.min, options.lengths.max)));
    words.push_back(TaskWord(task, truth, longest, rng));
    states.push_back(reader.After(start, std::span(words.back()).first(letters_read.back())));
  }

  LearnedAutomaton learned;
  learned.suffixes = {{}};
  std::optional<Clustering> clustering;
  int start_cluster = 0;
  while (true) {
    clustering.emplace(reader, truth.dfa.num_letters(), learned.suffixes, options);
    for (const HiddenState& state : states) clustering->Place(state);
    start_cluster = clustering->Place(start);
    clustering->Vote();
    const auto splitter = clustering->Splitter(start_cluster);
    if (!splitter || static_cast<int64_t>(learned.suffixes.size()) >= options.max_suffixes) break;
    learned.suffixes.push_back(*splitter);
  }
  learned.clusters = static_cast<int64_t>(clustering->clusters().size());
  const Majority majority = Decide(*clustering, start_cluster, truth);
  learned.automaton = majority.minimal.automaton;
  learned.votes = majority.votes;

  learned.difference = CompareAnswers(learned.automaton, truth);
  if (learned.difference) learned.model_answer = reader.Answer(start, learned.difference->word);

  const Dfa& dfa = learned.automaton.dfa;
  const auto state_of = [&](const HiddenState& state) {
    const int cluster = clustering->Find(state);
    return cluster < 0 ? -1 : majority.minimal.state_of[cluster];
  };
  Centres centres(dfa.num_states);
  for (const HiddenState& state : states) {
    if (const int at = state_of(state); at >= 0) centres.Add(at, state.numbers);
  }
  for (int64_t letters = options.lengths.max; letters <= longest; letters *= 2) {
    ClusterCheck check{letters, 0, 0, 0, 0};
    const double share = 1 / static_cast<double>(words.size());
    for (size_t i = 0; i < words.size(); ++i) {
      const std::span<const int> word = std::span(words[i]).first(letters);
      states[i] = reader.After(states[i], word.subspan(letters_read[i]));
      letters_read[i] = word.size();
      const int expected = dfa.Run(word);
      check.follows += share * (state_of(states[i]) == expected);
      check.right += share * (states[i].answer == truth.answers[truth.dfa.Run(word)]);
      check.probability += share * states[i].probability;
      check.nearest += share * (centres.Nearest(states[i].numbers) == expected);
    }
    if (learned.blurred_at == 0 && check.follows < kFollows) learned.blurred_at = letters;
    learned.checks.push_back(check);
  }
  return learned;
}

}  // namespace lrnn
