// What this machine can do at most, measured on the spot, and how long something takes on it.
//
// A machine that others use too is slower in one moment than in the next. So what is compared runs in turns, each turn
// gives one quotient, and the median of the quotients counts.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

namespace lrnn::bench {

using Work = std::function<void()>;

// The median of several runs; `contended` when others, processes or the machine's other tenants, used more than 5 % of
// the cores meanwhile.
struct Duration {
  double seconds = 0;
  bool contended = false;
};

// Runs `work` once to warm up, then for about half a second and at least five times.
Duration Measure(const Work& work);

// A loop that does nothing but what is limited, on a number of threads.
class Limit {
 public:
  // loop(thread): how much it did, in units.
  Limit(int threads, std::function<double(int64_t)> loop);

  double Run() const;   // units of one run, all threads together
  double Rate() const;  // units a second, best of five runs

 private:
  int threads_;
  std::function<double(int64_t)> loop_;
};

Limit FmaPeak(int threads);        // single-precision multiply-adds, 2 flops each
Limit ExpRate(int threads);        // single-precision exponentials
Limit ReadBandwidth(int threads);  // bytes, from memory

// How much of what is limited a work does.
struct Amount {
  double units;
  const Limit* limit;
};

// How near `work` comes to the limit that it meets first: its roofline.
struct Share {
  Duration time;
  double share = 0;
};
Share MeasureShare(const Work& work, const std::vector<Amount>& amounts);

// How many times as long as the other the one takes.
struct Ratio {
  Duration of, to;
  double ratio = 0;
  bool contended() const { return of.contended || to.contended; }
};
Ratio MeasureRatio(const Work& of, const Work& to);

}  // namespace lrnn::bench
