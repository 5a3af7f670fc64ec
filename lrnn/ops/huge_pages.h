// Large tensors on pages of 2 MiB.
#pragma once

namespace lrnn::ops {

// From now on the memory of large CPU tensors is given to the kernel as a candidate for huge pages, where Linux leaves
// that to the program (transparent_hugepage = madvise, Debian's default): a pass over a tensor then misses the
// translation cache 512 times less often. Programs call it once at their start; calling it again does nothing.
void UseHugePages();

}  // namespace lrnn::ops
