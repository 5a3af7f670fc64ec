// The eigenvalues of trained models, for lrnn theory.
#pragma once

#include <filesystem>

#include "lrnn/theory/transitions.h"

namespace lrnn::cli {

// What the layers' eigenvalues are while each token is read again and again: for each layer and token the eigenvalue of
// the largest modulus that is not real and positive, as a matrix [[x]], or [[x, -y], [y, x]] where it is not real.
// Complete when no weights and no input could give others than positive ones.
Transitions ObservedEigenvalues(const std::filesystem::path& model_path);

}  // namespace lrnn::cli
