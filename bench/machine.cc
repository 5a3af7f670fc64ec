#include "bench/machine.h"

#include <sys/times.h>
#include <unistd.h>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "bench/machine.cc"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

#include "lrnn/kernels/selective_scan_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lrnn::bench {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Twelve independent chains: enough for two units of four cycles' latency.
double FmaLoop(long iterations) {
  const hn::ScalableTag<float> d;
  const auto x = hn::Set(d, 0.999f), y = hn::Set(d, 0.001f);
  auto a0 = hn::Set(d, 0.0f), a1 = hn::Set(d, 0.1f), a2 = hn::Set(d, 0.2f), a3 = hn::Set(d, 0.3f),
       a4 = hn::Set(d, 0.4f), a5 = hn::Set(d, 0.5f), a6 = hn::Set(d, 0.6f), a7 = hn::Set(d, 0.7f),
       a8 = hn::Set(d, 0.8f), a9 = hn::Set(d, 0.9f), a10 = hn::Set(d, 1.0f), a11 = hn::Set(d, 1.1f);
  for (long i = 0; i < iterations; ++i) {
    a0 = hn::MulAdd(a0, x, y), a1 = hn::MulAdd(a1, x, y), a2 = hn::MulAdd(a2, x, y), a3 = hn::MulAdd(a3, x, y);
    a4 = hn::MulAdd(a4, x, y), a5 = hn::MulAdd(a5, x, y), a6 = hn::MulAdd(a6, x, y), a7 = hn::MulAdd(a7, x, y);
    a8 = hn::MulAdd(a8, x, y), a9 = hn::MulAdd(a9, x, y), a10 = hn::MulAdd(a10, x, y), a11 = hn::MulAdd(a11, x, y);
  }
  const auto sum =
      hn::Add(hn::Add(hn::Add(a0, a1), hn::Add(a2, a3)),
              hn::Add(hn::Add(hn::Add(a4, a5), hn::Add(a6, a7)), hn::Add(hn::Add(a8, a9), hn::Add(a10, a11))));
  volatile float sink = hn::GetLane(sum);
  (void)sink;
  return static_cast<double>(iterations) * 12 * 2 * static_cast<double>(hn::Lanes(d));
}

// 2^x of numbers in L1: the exponential of the selective scan.
double ExpLoop(long iterations) {
  const hn::ScalableTag<float> d;
  const size_t lanes = hn::Lanes(d);
  HWY_ALIGN float numbers[1024];
  for (int i = 0; i < 1024; ++i) numbers[i] = -0.001f * static_cast<float>(i);
  auto sum0 = hn::Zero(d), sum1 = hn::Zero(d), sum2 = hn::Zero(d), sum3 = hn::Zero(d);
  for (long i = 0; i < iterations; ++i) {
    for (size_t j = 0; j < 1024; j += 4 * lanes) {
      sum0 = hn::Add(sum0, kernels::HWY_NAMESPACE::Exp2<false>(d, hn::Load(d, numbers + j)));
      sum1 = hn::Add(sum1, kernels::HWY_NAMESPACE::Exp2<false>(d, hn::Load(d, numbers + j + lanes)));
      sum2 = hn::Add(sum2, kernels::HWY_NAMESPACE::Exp2<false>(d, hn::Load(d, numbers + j + 2 * lanes)));
      sum3 = hn::Add(sum3, kernels::HWY_NAMESPACE::Exp2<false>(d, hn::Load(d, numbers + j + 3 * lanes)));
    }
  }
  volatile float sink = hn::GetLane(hn::Add(hn::Add(sum0, sum1), hn::Add(sum2, sum3)));
  (void)sink;
  return static_cast<double>(iterations) * 1024;
}

double ReadLoop(const float* numbers, size_t size) {
  const hn::ScalableTag<float> d;
  const size_t lanes = hn::Lanes(d);
  auto sum0 = hn::Zero(d), sum1 = hn::Zero(d), sum2 = hn::Zero(d), sum3 = hn::Zero(d);
  for (size_t i = 0; i < size; i += 4 * lanes) {
    sum0 = hn::Add(sum0, hn::Load(d, numbers + i));
    sum1 = hn::Add(sum1, hn::Load(d, numbers + i + lanes));
    sum2 = hn::Add(sum2, hn::Load(d, numbers + i + 2 * lanes));
    sum3 = hn::Add(sum3, hn::Load(d, numbers + i + 3 * lanes));
  }
  volatile float sink = hn::GetLane(hn::Add(hn::Add(sum0, sum1), hn::Add(sum2, sum3)));
  (void)sink;
  return static_cast<double>(size) * sizeof(float);
}

}  // namespace HWY_NAMESPACE
}  // namespace lrnn::bench
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <hwy/aligned_allocator.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <vector>

#include "lrnn/base/parallel.h"
#include "lrnn/base/timer.h"

namespace lrnn::bench {

HWY_EXPORT(FmaLoop);
HWY_EXPORT(ExpLoop);
HWY_EXPORT(ReadLoop);

namespace {

struct CpuTimes {
  double all = 0;  // busy seconds of all processes, and of this one
  double own = 0;
};

CpuTimes Now() {
  CpuTimes now;
  const double tick = 1.0 / static_cast<double>(sysconf(_SC_CLK_TCK));
  std::ifstream stat("/proc/stat");
  std::string name;
  double user = 0, nice = 0, system = 0;
  if (stat >> name >> user >> nice >> system) now.all = (user + nice + system) * tick;
  tms own{};
  times(&own);
  now.own = static_cast<double>(own.tms_utime + own.tms_stime) * tick;
  return now;
}

// Units of `loop` a second, all threads together, best of five.
template <typename Loop>
double Rate(int threads, const Loop& loop) {
  double best = 0;
  for (int run = 0; run < 5; ++run) {
    std::vector<double> units(threads);
    const Timer timer;
    ParallelFor(threads, threads, [&](int64_t i) { units[i] = loop(i); });
    double sum = 0;
    for (const double u : units) sum += u;
    best = std::max(best, sum / timer.Seconds());
  }
  return best;
}

}  // namespace

Duration Measure(const std::function<void()>& work) {
  work();
  std::vector<double> seconds;
  const CpuTimes before = Now();
  const Timer whole;
  while (seconds.size() < 5 || whole.Seconds() < 0.5) {
    const Timer timer;
    work();
    seconds.push_back(timer.Seconds());
  }
  const CpuTimes after = Now();
  std::nth_element(seconds.begin(), seconds.begin() + static_cast<long>(seconds.size() / 2), seconds.end());
  const double others = (after.all - before.all) - (after.own - before.own);
  return {seconds[seconds.size() / 2], others > 0.05 * whole.Seconds()};
}

double FmaPeak(int threads) {
  return Rate(threads, [](int64_t) { return HWY_DYNAMIC_DISPATCH(FmaLoop)(5'000'000); });
}

double ExpRate(int threads) {
  return Rate(threads, [](int64_t) { return HWY_DYNAMIC_DISPATCH(ExpLoop)(200'000); });
}

double ReadBandwidth(int threads) {
  constexpr size_t kSize = size_t{64} << 20;  // floats of each thread: far more than any cache
  std::vector<hwy::AlignedFreeUniquePtr<float[]>> numbers;
  for (int i = 0; i < threads; ++i) {
    numbers.push_back(hwy::AllocateAligned<float>(kSize));
    std::fill_n(numbers.back().get(), kSize, 1.0f);
  }
  return Rate(threads, [&](int64_t i) { return HWY_DYNAMIC_DISPATCH(ReadLoop)(numbers[i].get(), kSize); });
}

}  // namespace lrnn::bench
#endif  // HWY_ONCE
