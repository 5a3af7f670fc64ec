// spectrum.json, checked: the histograms of the eigenvalues that a trained model uses.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string_view>

namespace lrnn {

// {range: [low, high], tokens, layers: [{layer, edges, counts, min, max, share_negative}...]}
nlohmann::json SpectrumSummary(const std::filesystem::path& spectrum_path, std::string_view task);

}  // namespace lrnn
