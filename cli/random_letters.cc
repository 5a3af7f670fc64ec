#include "cli/random_letters.h"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "lrnn/base/error.h"
#include "lrnn/base/progress.h"
#include "lrnn/base/rng.h"
#include "lrnn/base/timer.h"
#include "lrnn/runtime/automaton_model.h"

namespace lrnn::cli {

void RunRandomLetters(const std::filesystem::path& path, int64_t letters, uint64_t seed, bool json) {
  constexpr int64_t kBlock = 1 << 16;
  const AutomatonModel model = AutomatonModel::Load(path);
  const Dfa& dfa = model.network().dfa;
  AutomatonSession session = model.NewSession();
  Rng rng(seed, 0);
  std::vector<int> word, states;
  int state = dfa.start;
  double seconds = 0;  // in the model alone
  Progress progress({.label = "run", .total = letters, .unit = "letters", .out = json ? nullptr : stderr});
  for (int64_t done = 0; done < letters;) {
    const int64_t block = std::min(kBlock, letters - done);
    word.resize(block);
    states.resize(block);
    for (int& letter : word) letter = static_cast<int>(rng.Below(static_cast<uint32_t>(dfa.num_letters())));
    const Timer timer;
    session.Run(word, states);
    seconds += timer.Seconds();
    for (int64_t t = 0; t < block; ++t) {
      state = dfa.next[word[t]][state];
      if (states[t] != state) {
        throw Failure(fmt::format("{}: after {} letters the model says state {}, the automaton {}", path.string(),
                                  done + t + 1, states[t], state));
      }
    }
    progress.Update(done += block);
  }
  progress.Finish();
  const double rate = static_cast<double>(letters) / seconds;
  if (json) {
    const nlohmann::json result = {
        {"letters", letters}, {"seed", seed}, {"errors", 0}, {"letters_per_second", rate}, {"seconds", seconds}};
    fmt::print("{}\n", result.dump());
  } else {
    fmt::print("{}: {} random letters, 0 errors, {:.3g} million letters/s on one core\n", path.string(), letters,
               rate / 1e6);
  }
}

}  // namespace lrnn::cli
