// Vectors of a kernel's numbers from memory that holds them as they are or rounded to bf16, compiled once per SIMD
// target: what is computed in fp32 need not be stored so.

#if defined(LRNN_KERNELS_BF16_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LRNN_KERNELS_BF16_INL_H_
#undef LRNN_KERNELS_BF16_INL_H_
#else
#define LRNN_KERNELS_BF16_INL_H_
#endif

#include <hwy/highway.h>

#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace lrnn::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

template <class D, typename T = hn::TFromD<D>>
HWY_INLINE hn::Vec<D> LoadFrom(D d, const T* from) {
  return hn::LoadU(d, from);
}

template <class D, typename T = hn::TFromD<D>>
HWY_INLINE void StoreTo(hn::Vec<D> v, D d, T* to) {
  hn::StoreU(v, d, to);
}

// A bf16 number is the upper half of a float.
template <class D>
HWY_INLINE hn::Vec<D> LoadFrom(D d, const hwy::bfloat16_t* from) {
  const hn::RebindToUnsigned<D> d32;
  const hn::Rebind<uint16_t, D> d16;
  const auto bits = hn::PromoteTo(d32, hn::LoadU(d16, reinterpret_cast<const uint16_t*>(from)));
  return hn::BitCast(d, hn::ShiftLeft<16>(bits));
}

// Rounds to the nearest, to the even one of two; NaN stays NaN.
template <class D>
HWY_INLINE void StoreTo(hn::Vec<D> v, D /*d*/, hwy::bfloat16_t* to) {
  const hn::RebindToSigned<D> d32;
  const hn::RebindToUnsigned<D> du32;
  const hn::Rebind<uint16_t, D> d16;
  const auto bits = hn::BitCast(du32, v);
  const auto odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(du32, 1u));
  const auto rounded = hn::Add(bits, hn::Add(odd, hn::Set(du32, 0x7FFFu)));
  const auto nan = hn::Set(du32, 0x7FC00000u);
  const auto chosen = hn::IfThenElse(hn::RebindMask(du32, hn::IsNaN(v)), nan, rounded);
  hn::StoreU(hn::DemoteTo(d16, hn::BitCast(d32, hn::ShiftRight<16>(chosen))), d16, reinterpret_cast<uint16_t*>(to));
}

}  // namespace lrnn::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
