#include "lrnn/kernels/lstm.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lrnn/kernels/lstm.cc"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

#include "lrnn/kernels/gated_rnn-inl.h"
#include "lrnn/kernels/tanh-inl.h"

#ifndef LRNN_KERNELS_LSTM_ONCE_
#define LRNN_KERNELS_LSTM_ONCE_
namespace lrnn::kernels {
inline constexpr int64_t kLstmSaved = 6;
}
#endif

HWY_BEFORE_NAMESPACE();
namespace lrnn::kernels {
namespace HWY_NAMESPACE {

// State: c. Saved: c', sigmoid(i~), sigmoid(f~), tanh(g~), sigmoid(o~), tanh(c'), of which the first is the state that
// the next token remembers.
struct LstmCell {
  static constexpr int64_t kStates = kLstmStates - 1, kSaved = kLstmSaved, kRemembered = 1;

  template <class D, class V = hn::Vec<D>>
  static HWY_INLINE V Forward(D d, const V* gates, V* state, V* saved) {
    V i, f, o, rest;
    Sigmoid(d, gates[0], i, rest);
    Sigmoid(d, gates[1], f, rest);
    Sigmoid(d, gates[3], o, rest);
    const V g = TanhByExp(d, gates[2]);
    state[0] = hn::MulAdd(f, state[0], hn::Mul(i, g));
    const V t = TanhByExp(d, state[0]);
    saved[0] = state[0];
    saved[1] = i;
    saved[2] = f;
    saved[3] = g;
    saved[4] = o;
    saved[5] = t;
    return hn::Mul(o, t);
  }

  // d_state: of c' before, of c after.
  template <class D, class V = hn::Vec<D>>
  static HWY_INLINE void Backward(D d, const V* saved, const V* previous, V d_y, V* d_state, V* d_gates) {
    const V one = hn::Set(d, hn::TFromD<D>{1});
    const V i = saved[1], f = saved[2], g = saved[3], o = saved[4], t = saved[5];
    const V d_c = hn::MulAdd(hn::Mul(d_y, o), hn::NegMulAdd(t, t, one), d_state[0]);
    d_gates[0] = hn::Mul(hn::Mul(d_c, g), hn::NegMulAdd(i, i, i));
    d_gates[1] = hn::Mul(hn::Mul(d_c, previous[0]), hn::NegMulAdd(f, f, f));
    d_gates[2] = hn::Mul(hn::Mul(d_c, i), hn::NegMulAdd(g, g, one));
    d_gates[3] = hn::Mul(hn::Mul(d_y, t), hn::NegMulAdd(o, o, o));
    d_state[0] = hn::Mul(d_c, f);
  }
};

void LstmForwardF32(const GatedRnnShape& shape, const GatedRnnInputs<float>& in, const GatedRnnOutputs<float>& out,
                    const GatedRnnGroup& group, int64_t head) {
  GatedRnnForward<LstmCell, float>(shape, in, out, group, head).Run();
}
void LstmForwardF64(const GatedRnnShape& shape, const GatedRnnInputs<double>& in, const GatedRnnOutputs<double>& out,
                    const GatedRnnGroup& group, int64_t head) {
  GatedRnnForward<LstmCell, double>(shape, in, out, group, head).Run();
}
void LstmBackwardF32(const GatedRnnShape& shape, const GatedRnnInputs<float>& in, const float* saved, const float* d_y,
                     const float* d_final_state, const GatedRnnGradients<float>& out, const GatedRnnGroup& group,
                     int64_t head, float* d_bias) {
  GatedRnnBackward<LstmCell, float>(shape, in, saved, d_y, d_final_state, out, group, head, d_bias).Run();
}
void LstmBackwardF64(const GatedRnnShape& shape, const GatedRnnInputs<double>& in, const double* saved,
                     const double* d_y, const double* d_final_state, const GatedRnnGradients<double>& out,
                     const GatedRnnGroup& group, int64_t head, double* d_bias) {
  GatedRnnBackward<LstmCell, double>(shape, in, saved, d_y, d_final_state, out, group, head, d_bias).Run();
}

}  // namespace HWY_NAMESPACE
}  // namespace lrnn::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lrnn::kernels {

HWY_EXPORT(LstmForwardF32);
HWY_EXPORT(LstmForwardF64);
HWY_EXPORT(LstmBackwardF32);
HWY_EXPORT(LstmBackwardF64);

int64_t LstmSavedSize(const GatedRnnShape& shape) { return GatedRnnSavedSize(shape, kLstmSaved); }

void LstmForward(const GatedRnnShape& shape, const GatedRnnInputs<float>& in, const GatedRnnOutputs<float>& out,
                 int threads) {
  RunGatedRnnForward(shape, in, out, threads, HWY_DYNAMIC_DISPATCH(LstmForwardF32));
}
void LstmForward(const GatedRnnShape& shape, const GatedRnnInputs<double>& in, const GatedRnnOutputs<double>& out,
                 int threads) {
  RunGatedRnnForward(shape, in, out, threads, HWY_DYNAMIC_DISPATCH(LstmForwardF64));
}

void LstmBackward(const GatedRnnShape& shape, const GatedRnnInputs<float>& in, const float* saved, const float* d_y,
                  const float* d_final_state, const GatedRnnGradients<float>& out, int threads) {
  RunGatedRnnBackward(shape, in, saved, d_y, d_final_state, out, threads, HWY_DYNAMIC_DISPATCH(LstmBackwardF32));
}
void LstmBackward(const GatedRnnShape& shape, const GatedRnnInputs<double>& in, const double* saved, const double* d_y,
                  const double* d_final_state, const GatedRnnGradients<double>& out, int threads) {
  RunGatedRnnBackward(shape, in, saved, d_y, d_final_state, out, threads, HWY_DYNAMIC_DISPATCH(LstmBackwardF64));
}

}  // namespace lrnn::kernels
#endif  // HWY_ONCE
