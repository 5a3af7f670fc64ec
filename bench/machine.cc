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
#include <memory>
#include <numeric>
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
  double all = 0;  // seconds in which the cores were not ours to use, or used; and used by this process
  double own = 0;
};

CpuTimes Now() {
  CpuTimes now;
  const double tick = 1.0 / static_cast<double>(sysconf(_SC_CLK_TCK));
  std::ifstream stat("/proc/stat");
  std::string name;
  double user = 0, nice = 0, system = 0, idle = 0, wait = 0, interrupts = 0, soft_interrupts = 0, stolen = 0;
  if (stat >> name >> user >> nice >> system >> idle >> wait >> interrupts >> soft_interrupts >> stolen) {
    now.all = (user + nice + system + stolen) * tick;
  }
  tms own{};
  times(&own);
  now.own = static_cast<double>(own.tms_utime + own.tms_stime) * tick;
  return now;
}

double Median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<long>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// Seconds of every work in every turn.
struct Turns {
  std::vector<std::vector<double>> seconds;
  bool contended = false;

  Duration Time(size_t work) const { return {Median(seconds[work]), contended}; }
  // The median over the turns of what `quotient` makes of one.
  template <typename Quotient>
  double MedianOf(const Quotient& quotient) const {
    std::vector<double> values;
    for (size_t turn = 0; turn < seconds[0].size(); ++turn) values.push_back(quotient(turn));
    return Median(values);
  }
};

// All works once to warm up, then in turns: for about half a second a work, and at least five turns. Short works run
// several times a turn, so that what another work has left in the caches does not matter.
Turns RunInTurns(const std::vector<Work>& works) {
  std::vector<int> times;
  for (const Work& work : works) {
    work();
    const Timer timer;
    work();
    times.push_back(std::clamp(static_cast<int>(0.02 / timer.Seconds()), 1, 1000));
  }
  Turns turns;
  turns.seconds.resize(works.size());
  const CpuTimes before = Now();
  const Timer whole;
  while (turns.seconds[0].size() < 5 || whole.Seconds() < 0.5 * static_cast<double>(works.size())) {
    for (size_t i = 0; i < works.size(); ++i) {
      const Timer timer;
      for (int run = 0; run < times[i]; ++run) works[i]();
      turns.seconds[i].push_back(timer.Seconds() / times[i]);
    }
  }
  const CpuTimes after = Now();
  turns.contended = (after.all - before.all) - (after.own - before.own) > 0.05 * whole.Seconds();
  return turns;
}

}  // namespace

Duration Measure(const Work& work) { return RunInTurns({work}).Time(0); }

Share MeasureShare(const Work& work, const std::vector<Amount>& amounts) {
  std::vector<Work> works = {work};
  std::vector<double> runs;  // of each limit's loop, as many as do what the work does
  for (const Amount& amount : amounts) {
    runs.push_back(amount.units / amount.limit->Run());
    works.push_back([limit = amount.limit] { limit->Run(); });
  }
  const Turns turns = RunInTurns(works);
  return {turns.Time(0), turns.MedianOf([&](size_t turn) {
            double least = 0;  // seconds, by the limit that is met first
            for (size_t i = 0; i < runs.size(); ++i) least = std::max(least, runs[i] * turns.seconds[i + 1][turn]);
            return least / turns.seconds[0][turn];
          })};
}

Ratio MeasureRatio(const Work& of, const Work& to) {
  const Turns turns = RunInTurns({of, to});
  return {turns.Time(0), turns.Time(1),
          turns.MedianOf([&](size_t turn) { return turns.seconds[0][turn] / turns.seconds[1][turn]; })};
}

Limit::Limit(int threads, std::function<double(int64_t)> loop) : threads_(threads), loop_(std::move(loop)) {}

double Limit::Run() const {
  std::vector<double> units(threads_);
  ParallelFor(threads_, threads_, [&](int64_t i) { units[i] = loop_(i); });
  return std::accumulate(units.begin(), units.end(), 0.0);
}

double Limit::Rate() const {
  double best = 0;
  for (int run = 0; run < 5; ++run) {
    const Timer timer;
    const double units = Run();
    best = std::max(best, units / timer.Seconds());
  }
  return best;
}

// Each loop takes about ten milliseconds.
Limit FmaPeak(int threads) {
  return {threads, [](int64_t) { return HWY_DYNAMIC_DISPATCH(FmaLoop)(5'000'000); }};
}

Limit ExpRate(int threads) {
  return {threads, [](int64_t) { return HWY_DYNAMIC_DISPATCH(ExpLoop)(40'000); }};
}

Limit ReadBandwidth(int threads) {
  constexpr size_t kSize = size_t{32} << 20;  // floats of each thread: far more than any cache
  std::vector<std::shared_ptr<float[]>> numbers;
  for (int i = 0; i < threads; ++i) {
    numbers.push_back(hwy::AllocateAligned<float>(kSize));
    std::fill_n(numbers.back().get(), kSize, 1.0f);
  }
  return {threads, [numbers](int64_t i) { return HWY_DYNAMIC_DISPATCH(ReadLoop)(numbers[i].get(), kSize); }};
}

}  // namespace lrnn::bench
#endif  // HWY_ONCE
