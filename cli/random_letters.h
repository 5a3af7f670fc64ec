// lrnn run --random: a compiled automaton over a long stream of random letters, every state compared.
#pragma once

#include <cstdint>
#include <filesystem>

namespace lrnn::cli {

// Prints how fast the model was and that no state was wrong; throws Failure at the first that is.
void RunRandomLetters(const std::filesystem::path& path, int64_t letters, uint64_t seed, bool json);

}  // namespace lrnn::cli
