// lrnn analyze on a compiled automaton.
#pragma once

#include <filesystem>

namespace lrnn::cli {

// The eigenvalues of every layer, letter by letter.
void AnalyzeCompiled(const std::filesystem::path& path, bool json);

}  // namespace lrnn::cli
