// Uses an installed lrnn without torch: a tensor written to a file comes back, and a wrong call throws lrnn::Error.
#include <cstdio>
#include <vector>

#include "lrnn/base/error.h"
#include "lrnn/base/rng.h"
#include "lrnn/io/safetensors.h"

int main() {
  const std::vector<float> values = {1.0f, -1.0f, static_cast<float>(lrnn::Rng(7, 0).Uniform())};
  lrnn::WriteSafetensors("outside.safetensors", {{"eigenvalues", lrnn::FloatView({3}, values)}});
  const lrnn::SafetensorsFile file = lrnn::SafetensorsFile::Open("outside.safetensors");
  if (lrnn::ToFloats(file.Get("eigenvalues")) != values) {
    std::puts("outside: the tensor came back changed");
    return 1;
  }
  try {
    file.Get("beta");
  } catch (const lrnn::Error& error) {
    std::printf("outside: ok, and %s\n", error.what());
    return 0;
  }
  std::puts("outside: a tensor that is not in the file was found");
  return 1;
}
