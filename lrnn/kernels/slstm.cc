#include "lrnn/kernels/slstm.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lrnn/kernels/slstm.cc"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

#include "lrnn/kernels/gated_rnn-inl.h"
#include "lrnn/kernels/selective_scan_math-inl.h"
#include "lrnn/kernels/tanh-inl.h"

#ifndef LRNN_KERNELS_SLSTM_ONCE_
#define LRNN_KERNELS_SLSTM_ONCE_
namespace lrnn::kernels {
inline constexpr int64_t kSlstmSaved = 7;
}
#endif

HWY_BEFORE_NAMESPACE();
namespace lrnn::kernels {
namespace HWY_NAMESPACE {

// State: c, n, m. Saved: c', n', i, f, tanh(z~), sigmoid(o~), sigmoid(-f~), of which the first two are the state that
// the next token remembers.
struct SlstmCell {
  static constexpr int64_t kStates = kSlstmStates - 1, kSaved = kSlstmSaved, kRemembered = 2;

  template <class D, class V = hn::Vec<D>>
  static HWY_INLINE V Forward(D d, const V* gates, V* state, V* saved) {
    const V one = hn::Set(d, hn::TFromD<D>{1}), zero = hn::Zero(d);
    V softplus, slope, o, not_o;
    Softplus(d, hn::Neg(gates[1]), softplus, slope);
    const V kept = hn::Sub(state[2], softplus);  // log sigmoid(f~) + m
    const auto fresh = hn::Eq(state[1], zero);
    const auto input_wins = hn::Or(fresh, hn::Ge(gates[0], kept));
    // Of i and f one is 1 and the other is the exponential of their distance.
    const V e = ExpNegAbs(d, hn::Sub(gates[0], kept));
    const V i = hn::IfThenElse(input_wins, one, e);
    const V f = hn::IfThenZeroElse(fresh, hn::IfThenElse(input_wins, e, one));
    const V z = TanhByExp(d, gates[2]);
    Sigmoid(d, gates[3], o, not_o);
    state[0] = hn::MulAdd(f, state[0], hn::Mul(i, z));
    state[1] = hn::MulAdd(f, state[1], i);
    state[2] = hn::IfThenElse(input_wins, gates[0], kept);
    saved[0] = state[0];
    saved[1] = state[1];
    saved[2] = i;
    saved[3] = f;
    saved[4] = z;
    saved[5] = o;
    saved[6] = slope;
    return hn::Mul(o, hn::Div(state[0], state[1]));
  }

  // d_state: of c', n', m' before, of c, n, m after.
  template <class D, class V = hn::Vec<D>>
  static HWY_INLINE void Backward(D d, const V* saved, const V* previous, V d_y, V* d_state, V* d_gates) {
    const V one = hn::Set(d, hn::TFromD<D>{1});
    const V i = saved[2], f = saved[3], z = saved[4], o = saved[5];
    const V over_n = hn::Div(one, saved[1]), ratio = hn::Mul(saved[0], over_n);
    const V d_read = hn::Mul(hn::Mul(d_y, o), over_n);
    const V d_c = hn::Add(d_state[0], d_read);
    const V d_n = hn::NegMulAdd(d_read, ratio, d_state[1]);
    const V d_i = hn::Mul(i, hn::MulAdd(d_c, z, d_n));  // times i: of its exponent
    const V d_f = hn::Mul(f, hn::MulAdd(d_c, previous[0], hn::Mul(d_n, previous[1])));
    // m' is the larger exponent and is subtracted from both: with s = d_m' - d_i - d_f the larger one receives s more.
    const auto input_wins = hn::Ge(i, one);
    const V d_kept = hn::IfThenElse(input_wins, d_f, hn::Sub(d_state[2], d_i));
    d_gates[0] = hn::IfThenElse(input_wins, hn::Sub(d_state[2], d_f), d_i);
    d_gates[1] = hn::Mul(d_kept, saved[6]);
    d_gates[2] = hn::Mul(hn::Mul(d_c, i), hn::NegMulAdd(z, z, one));
    d_gates[3] = hn::Mul(hn::Mul(d_y, ratio), hn::NegMulAdd(o, o, o));
    d_state[0] = hn::Mul(d_c, f);
    d_state[1] = hn::Mul(d_n, f);
    d_state[2] = d_kept;
  }
};

void SlstmForwardF32(const GatedRnnShape& shape, const GatedRnnInputs<float>& in, const GatedRnnOutputs<float>& out,
                     const GatedRnnGroup& group, int64_t head) {
  GatedRnnForward<SlstmCell, float>(shape, in, out, group, head).Run();
}
void SlstmForwardF64(const GatedRnnShape& shape, const GatedRnnInputs<double>& in, const GatedRnnOutputs<double>& out,
                     const GatedRnnGroup& group, int64_t head) {
  GatedRnnForward<SlstmCell, double>(shape, in, out, group, head).Run();
}
void SlstmBackwardF32(const GatedRnnShape& shape, const GatedRnnInputs<float>& in, const float* saved, const float* d_y,
                      const float* d_final_state, const GatedRnnGradients<float>& out, const GatedRnnGroup& group,
                      int64_t head, float* d_bias) {
  GatedRnnBackward<SlstmCell, float>(shape, in, saved, d_y, d_final_state, out, group, head, d_bias).Run();
}
void SlstmBackwardF64(const GatedRnnShape& shape, const GatedRnnInputs<double>& in, const double* saved,
                      const double* d_y, const double* d_final_state, const GatedRnnGradients<double>& out,
                      const GatedRnnGroup& group, int64_t head, double* d_bias) {
  GatedRnnBackward<SlstmCell, double>(shape, in, saved, d_y, d_final_state, out, group, head, d_bias).Run();
}

}  // namespace HWY_NAMESPACE
}  // namespace lrnn::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lrnn::kernels {

HWY_EXPORT(SlstmForwardF32);
HWY_EXPORT(SlstmForwardF64);
HWY_EXPORT(SlstmBackwardF32);
HWY_EXPORT(SlstmBackwardF64);

int64_t SlstmSavedSize(const GatedRnnShape& shape) { return GatedRnnSavedSize(shape, kSlstmSaved); }

void SlstmForward(const GatedRnnShape& shape, const GatedRnnInputs<float>& in, const GatedRnnOutputs<float>& out,
                  int threads) {
  RunGatedRnnForward(shape, in, out, threads, HWY_DYNAMIC_DISPATCH(SlstmForwardF32));
}
void SlstmForward(const GatedRnnShape& shape, const GatedRnnInputs<double>& in, const GatedRnnOutputs<double>& out,
                  int threads) {
  RunGatedRnnForward(shape, in, out, threads, HWY_DYNAMIC_DISPATCH(SlstmForwardF64));
}

void SlstmBackward(const GatedRnnShape& shape, const GatedRnnInputs<float>& in, const float* saved, const float* d_y,
                   const float* d_final_state, const GatedRnnGradients<float>& out, int threads) {
  RunGatedRnnBackward(shape, in, saved, d_y, d_final_state, out, threads, HWY_DYNAMIC_DISPATCH(SlstmBackwardF32));
}
void SlstmBackward(const GatedRnnShape& shape, const GatedRnnInputs<double>& in, const double* saved, const double* d_y,
                   const double* d_final_state, const GatedRnnGradients<double>& out, int threads) {
  RunGatedRnnBackward(shape, in, saved, d_y, d_final_state, out, threads, HWY_DYNAMIC_DISPATCH(SlstmBackwardF64));
}

}  // namespace lrnn::kernels
#endif  // HWY_ONCE
