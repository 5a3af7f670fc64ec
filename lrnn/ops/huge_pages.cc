#include "lrnn/ops/huge_pages.h"

#include <c10/core/CPUAllocator.h>

#ifdef __linux__
#include <sys/mman.h>
#endif

#include <cstdint>

namespace lrnn::ops {
namespace {

#ifdef __linux__

// Torch's own allocator, and advice to the kernel on what it gives.
class HugePageAllocator : public c10::Allocator {
 public:
  c10::DataPtr allocate(size_t bytes) const override {
    c10::DataPtr memory = c10::GetDefaultCPUAllocator()->allocate(bytes);
    constexpr uintptr_t kPage = uintptr_t{1} << 21;
    const uintptr_t begin = reinterpret_cast<uintptr_t>(memory.get());
    const uintptr_t first = (begin + kPage - 1) / kPage * kPage, last = (begin + bytes) / kPage * kPage;
    // Only advice: where it fails, pages stay small.
    if (first < last) madvise(reinterpret_cast<void*>(first), last - first, MADV_HUGEPAGE);
    return memory;
  }
  c10::DeleterFnPtr raw_deleter() const override { return c10::GetDefaultCPUAllocator()->raw_deleter(); }
};

#endif

}  // namespace

void UseHugePages() {
#ifdef __linux__
  static HugePageAllocator allocator;
  c10::SetCPUAllocator(&allocator, /*priority=*/1);
#endif
}

}  // namespace lrnn::ops
