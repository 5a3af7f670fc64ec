// Numbers closer to 0 than the smallest normal one (1.2e-38 in float) as 0, on this thread, while the object lives.
//
// Whatever decays passes through the subnormal numbers on its way to 0, for which some processors need microcode: many
// times as long. Nothing that is learned depends on them.
#pragma once

#if defined(__SSE2__)
#include <xmmintrin.h>
#elif defined(__aarch64__)
#include <cstdint>
#endif

namespace lrnn {

class FlushSubnormals {
 public:
#if defined(__SSE2__)
  static constexpr bool kHasEffect = true;
  FlushSubnormals() : before_(_mm_getcsr()) { _mm_setcsr(before_ | kResultsAndOperands); }
  ~FlushSubnormals() { _mm_setcsr(before_); }
#elif defined(__aarch64__)
  static constexpr bool kHasEffect = true;
  FlushSubnormals() {
    asm volatile("mrs %0, fpcr" : "=r"(before_));
    Set(before_ | kResultsAndOperands);
  }
  ~FlushSubnormals() { Set(before_); }
#else
  static constexpr bool kHasEffect = false;
  FlushSubnormals() {}
#endif
  FlushSubnormals(const FlushSubnormals&) = delete;
  FlushSubnormals& operator=(const FlushSubnormals&) = delete;

 private:
#if defined(__SSE2__)
  static constexpr unsigned kResultsAndOperands = 0x8040;  // FTZ and DAZ of the MXCSR
  const unsigned before_;
#elif defined(__aarch64__)
  static constexpr uint64_t kResultsAndOperands = 1 << 24;  // FZ of the FPCR
  static void Set(uint64_t fpcr) { asm volatile("msr fpcr, %0" : : "r"(fpcr)); }
  uint64_t before_;
#endif
};

}  // namespace lrnn
