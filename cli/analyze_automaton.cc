#include "cli/analyze_automaton.h"

#include <ATen/Parallel.h>
#include <fmt/core.h>
#include <fmt/ranges.h>

#include "cli/arguments.h"
#include "cli/certify_trained.h"
#include "cli/models.h"
#include "cli/truth.h"
#include "lrnn/analysis/learned_automaton.h"
#include "lrnn/analysis/snap.h"
#include "lrnn/analysis/task_words.h"
#include "lrnn/automata/dot.h"
#include "lrnn/automata/table.h"
#include "lrnn/base/error.h"
#include "lrnn/base/hardware.h"
#include "lrnn/io/atomic_file.h"
#include "lrnn/io/json_file.h"
#include "lrnn/models/model_files.h"
#include "lrnn/runtime/largest_logit.h"
#include "lrnn/train/trainer.h"

namespace lrnn::cli {
namespace {

constexpr int kShownStates = 40;
constexpr int kShownLetters = 8;
constexpr int64_t kHorizonWords = 2;
constexpr int64_t kHorizonLetters = 20'000;

uint64_t SeedOf(const LoadedModel& loaded) { return TestDataSeed(loaded.run_config ? loaded.run_config->seed : 0); }

LearnOptions OptionsFor(const AnalyzeAutomatonOptions& options, const LoadedModel& loaded) {
  LearnOptions learn;
  learn.words = options.words;
  learn.seed = SeedOf(loaded);
  if (!options.lengths.empty()) {
    const Lengths given = ParseLengths(options.lengths);
    learn.lengths = {given.min, given.max};
  } else if (loaded.run_config) {
    const int64_t trained = loaded.run_config->train_lengths.max;
    learn.lengths = {trained + 1, 2 * trained};
  }
  learn.longest = 16 * learn.lengths.max;
  return learn;
}

// "the model is wrong" or "the extraction is wrong": who disagrees with the truth on the word.
std::string Blame(const LearnedAutomaton& learned) {
  if (learned.model_answer == learned.difference->second) {
    return "the model itself answers right: the extraction is wrong there (it was read after longer words)";
  }
  if (learned.model_answer == learned.difference->first) return "the model itself answers so: the model is wrong";
  return "the model itself answers neither";
}

void PrintTable(const LearnedAutomaton& learned, const Vocabulary& vocabulary) {
  const Dfa& dfa = learned.automaton.dfa;
  const int letters = std::min(dfa.num_letters(), kShownLetters), states = std::min(dfa.num_states, kShownStates);
  fmt::print("{:<7} {:<9}", "state", "answer");
  for (int letter = 0; letter < letters; ++letter) fmt::print(" {:<12}", dfa.letters[letter]);
  fmt::print("{}\n", letters < dfa.num_letters() ? " ..." : "");
  for (int state = 0; state < states; ++state) {
    fmt::print("{:<7} {:<9}", fmt::format("q{}", state), vocabulary.Name(learned.automaton.answers[state]));
    for (int letter = 0; letter < letters; ++letter) {
      const Votes& votes = learned.votes[letter][state];
      fmt::print(" {:<12}", fmt::format("q{} {:.0f}%", dfa.next[letter][state],
                                        100 * static_cast<double>(votes.agreeing) / static_cast<double>(votes.cast)));
    }
    fmt::print("\n");
  }
  if (states < dfa.num_states) fmt::print("... {} states more\n", dfa.num_states - states);
  fmt::print("(per cent: of the votes for a transition that agree with it)\n");
}

void PrintLearned(const LearnedAutomaton& learned, const TokenAutomaton& truth, const Vocabulary& vocabulary) {
  const Dfa& dfa = learned.automaton.dfa;
  fmt::print("{} clusters of hidden states, told apart by {} suffixes; {} states when minimal\n", learned.clusters,
             learned.suffixes.size(), dfa.num_states);
  PrintTable(learned, vocabulary);
  if (!learned.difference) {
    fmt::print("\nequal to the automaton of the task ({} states): the same answer to every word\n",
               truth.dfa.num_states);
  } else {
    fmt::print("\nnot the automaton of the task: they differ on the word '{}' ({} letters)\n",
               Spell(dfa, learned.difference->word), learned.difference->word.size());
    fmt::print("  learned {}, right {}, the model itself {}: {}\n", vocabulary.Name(learned.difference->first),
               vocabulary.Name(learned.difference->second), vocabulary.Name(learned.model_answer), Blame(learned));
  }
  fmt::print("\n{:>8} {:>9} {:>9} {:>13} {:>16}\n", "letters", "follows", "right", "probability", "nearest centre");
  for (const ClusterCheck& check : learned.checks) {
    fmt::print("{:>8} {:>7.1f} % {:>7.1f} % {:>13.4f} {:>14.1f} %\n", check.letters, 100 * check.follows,
               100 * check.right, check.probability, 100 * check.nearest);
  }
  if (learned.blurred_at > 0) {
    fmt::print("the clusters blur at {} letters: less than 99 % of the words lead where the automaton says\n",
               learned.blurred_at);
  } else {
    fmt::print("the clusters stay apart up to {} letters\n", learned.checks.back().letters);
  }
}

nlohmann::json ToJson(const LearnedAutomaton& learned, const std::string& task, const Vocabulary& vocabulary) {
  const Dfa& dfa = learned.automaton.dfa;
  nlohmann::json states = nlohmann::json::array(), checks = nlohmann::json::array();
  for (int state = 0; state < dfa.num_states; ++state) {
    nlohmann::json next = nlohmann::json::array(), cast = nlohmann::json::array(), agreeing = nlohmann::json::array();
    for (int letter = 0; letter < dfa.num_letters(); ++letter) {
      next.push_back(dfa.next[letter][state]);
      cast.push_back(learned.votes[letter][state].cast);
      agreeing.push_back(learned.votes[letter][state].agreeing);
    }
    states.push_back({{"answer", vocabulary.Name(learned.automaton.answers[state])},
                      {"accepting", bool{dfa.accepting[state]}},
                      {"next", next},
                      {"votes", cast},
                      {"agreeing", agreeing}});
  }
  for (const ClusterCheck& check : learned.checks) {
    checks.push_back({{"letters", check.letters},
                      {"follows", check.follows},
                      {"right", check.right},
                      {"probability", check.probability},
                      {"nearest_centre", check.nearest}});
  }
  nlohmann::json json = {{"format", "lrnn.automaton"},
                         {"version", 1},
                         {"task", task},
                         {"letters", dfa.letters},
                         {"start", dfa.start},
                         {"states", states},
                         {"clusters", learned.clusters},
                         {"suffixes", learned.suffixes.size()},
                         {"equal_to_task", !learned.difference},
                         {"checks", checks},
                         {"blurred_at", learned.blurred_at > 0 ? nlohmann::json(learned.blurred_at) : nullptr}};
  if (learned.difference) {
    std::vector<std::string> word;
    for (const int letter : learned.difference->word) word.push_back(dfa.letters[letter]);
    json["difference"] = {{"word", word},
                          {"learned", vocabulary.Name(learned.difference->first)},
                          {"right", vocabulary.Name(learned.difference->second)},
                          {"model", vocabulary.Name(learned.model_answer)}};
  }
  return json;
}

// On random words of the task: right answers before the first wrong one, the fewest of all words.
int64_t LettersBeforeWrong(const RuntimeModel& model, const Task& task, const TokenAutomaton& truth, uint64_t seed) {
  const auto session = model.NewSession();
  int64_t fewest = kHorizonLetters;
  for (int64_t i = 0; i < kHorizonWords; ++i) {
    const std::vector<int> word = TaskWord(task, truth, fewest, Rng(seed, static_cast<uint64_t>(i)));
    session->Reset();
    for (const int32_t token : truth.opening) session->Step(token);
    int state = truth.dfa.start;
    for (int64_t t = 0; t < fewest; ++t) {
      state = truth.dfa.next[word[t]][state];
      if (LargestLogit(session->Step(truth.tokens[word[t]])) != truth.answers[state]) fewest = t;
    }
  }
  return fewest;
}

std::string Horizon(int64_t letters) {
  return letters == kHorizonLetters ? fmt::format("{} or more", letters) : std::to_string(letters);
}

std::string Describe(const SnappedHead& head) {
  if (head.off) return "off";
  if (head.betas.empty()) return "left alone";
  std::vector<std::string> betas;
  for (const SnappedBeta& beta : head.betas) {
    betas.push_back(fmt::format("{}: {:.5g}{}", beta.input, beta.before,
                                beta.snapped ? fmt::format(" -> {:.6g}", beta.after) : " stays"));
  }
  const std::string keys = head.keys_snapped ? fmt::format("keys on {} ax{}s, turned by up to {:.1f} degrees",
                                                           head.axes, head.axes == 1 ? "i" : "e", head.largest_turn)
                                             : "keys stay";
  return fmt::format("beta {}; {}", fmt::join(betas, ", "), keys);
}

nlohmann::json ToJson(const Snapping& snapping) {
  nlohmann::json heads = nlohmann::json::array();
  for (const SnappedHead& head : snapping.heads) {
    nlohmann::json betas = nlohmann::json::array();
    for (const SnappedBeta& beta : head.betas) {
      betas.push_back(
          {{"input", beta.input}, {"before", beta.before}, {"after", beta.after}, {"snapped", beta.snapped}});
    }
    heads.push_back({{"layer", head.layer},
                     {"head", head.head},
                     {"off", head.off},
                     {"betas", betas},
                     {"keys_snapped", head.keys_snapped},
                     {"axes", head.axes},
                     {"largest_turn_degrees", head.largest_turn},
                     {"problem", head.problem}});
  }
  return {{"accuracy_before", snapping.accuracy_before}, {"accuracy_after", snapping.accuracy_after}, {"heads", heads}};
}

}  // namespace

void AnalyzeAutomaton(const AnalyzeAutomatonOptions& options) {
  const LoadedModel loaded = LoadWithTask(options.model, options.task, options.parameters);
  const TokenAutomaton truth = TruthOf(*loaded.task);
  const RuntimeModel model = RuntimeModel::Load(ModelPath(options.model));
  const LearnOptions learn = OptionsFor(options, loaded);
  const LearnedAutomaton learned = LearnAutomaton(model, *loaded.task, truth, learn);
  const nlohmann::json json = ToJson(learned, loaded.task->name(), model.vocabulary());
  if (loaded.run) {
    const std::filesystem::path& run = loaded.run->path();
    WriteJson(run / "automaton.json", json);
    WriteFileAtomically(run / "automaton.dfa", WriteTable(learned.automaton.dfa));
    WriteFileAtomically(run / "automaton.dot", ToDot(learned.automaton.dfa, "learned"));
  }
  if (options.json) {
    fmt::print("{}\n", json.dump());
    return;
  }
  fmt::print("{}: the automaton learned on {}, read after {} words of {}:{} letters\n", options.model,
             loaded.task->name(), learn.words, learn.lengths.min, learn.lengths.max);
  PrintLearned(learned, truth, model.vocabulary());
  if (loaded.run) {
    fmt::print("written: automaton.json, automaton.dfa (for lrnn compile --dfa) and automaton.dot in {}\n",
               loaded.run->path().string());
  }
}

void SnapModel(const AnalyzeAutomatonOptions& options) {
  at::set_num_threads(CpuCount());
  std::filesystem::path out = options.out;
  if (out.empty()) out = RunDirectory::IsRun(options.model) ? options.model + "/snapped" : options.model + "-snapped";
  LRNN_CHECK(!std::filesystem::exists(out), "{}: exists already; name another place with -o", out.string());
  LoadedModel loaded = LoadWithTask(options.model, options.task, options.parameters);
  const TokenAutomaton truth = TruthOf(*loaded.task);
  const uint64_t seed = SeedOf(loaded);
  const RuntimeModel before = RuntimeModel::Load(ModelPath(options.model));
  const Snapping snapping = Snap(loaded.model, *loaded.task, truth, {.words = options.words, .seed = seed});
  SaveModel(loaded.model, out);
  const RuntimeModel after = RuntimeModel::Load(out);
  const int64_t horizon_before = LettersBeforeWrong(before, *loaded.task, truth, seed);
  const int64_t horizon_after = LettersBeforeWrong(after, *loaded.task, truth, seed);
  const ModelCertificate certificate = CertifyModel(after, truth);
  const std::string verdict = Verdict(certificate, truth, after.vocabulary());
  if (options.json) {
    nlohmann::json json = ToJson(snapping);
    json.update({{"model", out.string()},
                 {"right_letters_before", horizon_before},
                 {"right_letters_after", horizon_after},
                 {"right_letters_limit", kHorizonLetters},
                 {"proved", certificate.proved()},
                 {"nodes", certificate.nodes},
                 {"words_up_to", certificate.depth},
                 {"verdict", verdict}});
    fmt::print("{}\n", json.dump());
    return;
  }
  fmt::print("{}: snapped to {}\n", options.model, out.string());
  for (const SnappedHead& head : snapping.heads) {
    fmt::print("layer {} head {}   {}\n", head.layer, head.head, Describe(head));
    if (!head.problem.empty()) fmt::print("                 {}\n", head.problem);
  }
  fmt::print("{:<38} {:>12} {:>15}\n", "", "before", "after");
  fmt::print("{:<38} {:>10.3f} % {:>13.3f} %\n", "right answers", 100 * snapping.accuracy_before,
             100 * snapping.accuracy_after);
  fmt::print("{:<38} {:>12} {:>15}\n", "letters before the first wrong answer", Horizon(horizon_before),
             Horizon(horizon_after));
  fmt::print("{} ({} states of the model, bit by bit)\n", verdict, certificate.nodes);
}

}  // namespace lrnn::cli
