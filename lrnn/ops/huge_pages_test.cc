#include "lrnn/ops/huge_pages.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <fstream>
#include <sstream>
#include <string>

#include "lrnn/ops/torch.h"

namespace lrnn::ops {
namespace {

// Whether the mapping that holds `address` is a candidate for huge pages ("hg" among its flags).
bool IsAdvised(const void* address) {
  const auto wanted = reinterpret_cast<uintptr_t>(address);
  std::ifstream maps("/proc/self/smaps");
  bool holds = false;
  for (std::string line; std::getline(maps, line);) {
    uintptr_t begin = 0, end = 0;
    char dash = 0;
    if (std::istringstream range(line); range >> std::hex >> begin >> dash >> end && dash == '-') {
      holds = begin <= wanted && wanted < end;
    } else if (holds && line.starts_with("VmFlags:")) {
      return (line + " ").find(" hg ") != std::string::npos;
    }
  }
  return false;
}

TEST(HugePages, LargeTensorsAreCandidates) {
  if (access("/sys/kernel/mm/transparent_hugepage/enabled", R_OK) != 0) GTEST_SKIP() << "no huge pages here";
  UseHugePages();
  UseHugePages();
  constexpr int64_t kNumbers = int64_t{1} << 22;  // 16 MiB: seven whole pages at least
  const torch::Tensor x = torch::empty({kNumbers});
  EXPECT_TRUE(IsAdvised(x.data_ptr<float>() + kNumbers / 2));
}

TEST(HugePages, TensorsAreWhatTheyWere) {
  UseHugePages();
  for (const int64_t numbers : {0, 1, 1000, 524287, 524288, 524289, 3 << 20}) {
    const torch::Tensor x = torch::arange(numbers, torch::kFloat64);
    EXPECT_EQ(x.sum().item<double>(), 0.5 * static_cast<double>(numbers) * static_cast<double>(numbers - 1));
  }
}

}  // namespace
}  // namespace lrnn::ops
