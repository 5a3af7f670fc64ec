"""Delta rule and its relatives: linear RNNs whose transition is a product of generalised Householder matrices.

    for each token t:  S <- exp(g_t) S
                       for j = 0 .. n_h-1:  S <- S + k_tj (beta_tj (v_tj - S^T k_tj))^T
                       o_t = S^T (scale q_t)                                              S: [K, V]

With |k| = 1 the eigenvalues of a step are 1 and 1 - beta: beta in [0, 2] gives [-1, 1]. One kernel serves all functions
here; `chunk` and `fused_recurrent` are the field's names and say nothing about how it works.

q, k and v have one dtype, which is that of o: float64, float32, bfloat16 or float16. All others have this dtype or
float32. The computation, and the state that is returned, are float64 for float64 and float32 for all the rest.

Arguments that several functions share:

    scale                    of the queries, K^-0.5 if None
    initial_state            [N, H, K, V], zeros if None
    output_final_state       whether the second result is the final state [N, H, K, V]; otherwise it is None
    use_qk_l2norm_in_kernel  q and k become x / sqrt(sum(x^2) + 1e-6) first
    cu_seqlens               [N + 1], the boundaries of N sequences packed in a batch of 1, where a sequence may be
                             empty; without it every row of the batch is a sequence, N = B
"""

from dataclasses import dataclass
from typing import Optional

import torch

from . import _library  # noqa: F401  (registers torch.ops.lrnn)
from ._arguments import Arguments

L2_NORM_EPS = 1e-6


def chunk_delta_rule(
    q,
    k,
    v,
    beta,
    scale=None,
    initial_state=None,
    output_final_state=False,
    use_qk_l2norm_in_kernel=False,
    cu_seqlens=None,
    cu_seqlens_cpu=None,
):
    """Delta rule (DeltaNet). q, k: [B, T, H, K]   v: [B, T, H, V]   beta: [B, T, H]

    cu_seqlens_cpu is cu_seqlens on the CPU, which spares a GPU the transfer. Gives o [B, T, H, V] and the final state.
    """
    arguments = Arguments("chunk_delta_rule", "q", q, "B T H K")
    boundaries = cu_seqlens if cu_seqlens_cpu is None else cu_seqlens_cpu
    inputs = _inputs(arguments, k, v, beta, None, scale, initial_state, use_qk_l2norm_in_kernel, boundaries)
    return _run(inputs, q.dtype, output_final_state)


def fused_recurrent_delta_rule(
    q,
    k,
    v,
    beta=None,
    scale=None,
    initial_state=None,
    output_final_state=False,
    use_qk_l2norm_in_kernel=False,
    cu_seqlens=None,
):
    """Delta rule whose beta may also be None, which is 1, or [B, T, H, V], one for each value.

    In the latter case every value is a head of its own, with a copy of q and k for each.
    """
    arguments = Arguments("fused_recurrent_delta_rule", "q", q, "B T H K")
    if beta is None:
        beta = torch.ones_like(q[..., 0])
    shape = "B T H V" if isinstance(beta, torch.Tensor) and beta.dim() == 4 else "B T H"
    x = _inputs(
        arguments, k, v, beta, None, scale, initial_state, use_qk_l2norm_in_kernel, cu_seqlens, beta_shape=shape
    )
    if shape == "B T H":
        return _run(x, q.dtype, output_final_state)

    H, V = x.v.shape[2:]
    x.q, x.k = _repeat_heads(x.q, V), _repeat_heads(x.k, V)
    x.v, x.beta = x.v.flatten(2, 3).unsqueeze(3), x.beta.flatten(2, 3)
    if x.initial_state is not None:
        x.initial_state = x.initial_state.transpose(2, 3).flatten(1, 2).unsqueeze(3)
    o, final_state = _run(x, q.dtype, output_final_state)
    if final_state is not None:
        final_state = final_state.squeeze(3).unflatten(1, (H, V)).transpose(2, 3)
    return o.squeeze(3).unflatten(2, (H, V)), final_state


def chunk_gated_delta_rule(
    q,
    k,
    v,
    g,
    beta,
    scale=None,
    initial_state=None,
    output_final_state=False,
    use_qk_l2norm_in_kernel=False,
    use_beta_sigmoid_in_kernel=False,
    allow_neg_eigval=False,
    state_v_first=False,
    cu_seqlens=None,
    cu_seqlens_cpu=None,
    *,
    use_gate_in_kernel=False,
    A_log=None,
    dt_bias=None,
):
    """Gated delta rule (Gated DeltaNet). q, k: [B, T, H, K]   v: [B, T, HV, V]   g, beta: [B, T, HV]

    HV is a multiple of H: value head i goes with head i // (HV / H) of q and k. States are [N, HV, K, V].

    g                           logarithm of the gate: 0 keeps the state, -inf erases it
    use_gate_in_kernel          g becomes -exp(A_log) softplus(g + dt_bias); A_log, dt_bias: [HV], dt_bias may be None
    use_beta_sigmoid_in_kernel  beta becomes sigmoid(beta), or 2 sigmoid(beta) with allow_neg_eigval
    state_v_first               states are [N, HV, V, K]
    """
    arguments = Arguments("chunk_gated_delta_rule", "q", q, "B T H K")
    if allow_neg_eigval and not use_beta_sigmoid_in_kernel:
        arguments.fail("use_beta_sigmoid_in_kernel with allow_neg_eigval (else double beta yourself)", False)
    if g is None:
        arguments.fail_type("g as a tensor", "NoneType")
    boundaries = cu_seqlens if cu_seqlens_cpu is None else cu_seqlens_cpu
    x = _inputs(
        arguments, k, v, beta, g, scale, initial_state, use_qk_l2norm_in_kernel, boundaries, beta_shape="B T HV",
        state_v_first=state_v_first,
    )
    if use_beta_sigmoid_in_kernel:
        x.beta = (2 if allow_neg_eigval else 1) * torch.sigmoid(x.beta)
    if use_gate_in_kernel:
        A_log = arguments.follow("A_log", A_log, "HV", or_float32=True)
        dt_bias = arguments.follow_optional("dt_bias", dt_bias, "HV", or_float32=True)
        x.g = -torch.exp(A_log) * torch.nn.functional.softplus(x.g if dt_bias is None else x.g + dt_bias)
    H, HV = q.shape[2], v.shape[2]
    if HV % H != 0:
        arguments.fail(f"v with a multiple of q's {H} heads", HV)
    x.q, x.k = _repeat_heads(x.q, HV // H), _repeat_heads(x.k, HV // H)
    o, final_state = _run(x, q.dtype, output_final_state)
    return o, final_state.transpose(2, 3) if state_v_first and output_final_state else final_state


def chunk_gated_delta_product(
    q,
    k,
    v,
    g,
    beta,
    num_householder,
    scale=None,
    initial_state=None,
    output_final_state=False,
    cu_seqlens=None,
    use_qk_l2norm_in_kernel=False,
):
    """Gated DeltaProduct: n_h = num_householder steps of the delta rule for each token, read after the last.

    q: [B, T, H, K]   k: [B, T n_h, H, K]   v: [B, T n_h, H, V]   beta: [B, T n_h, H]   g: [B, T, H] or None

    Step j of token t is row t n_h + j. g is the logarithm of the gate, which is applied once, before a token's steps.
    cu_seqlens counts tokens.
    """
    arguments = Arguments("chunk_gated_delta_product", "q", q, "B T H K")
    if not isinstance(num_householder, int) or num_householder < 1:
        arguments.fail("num_householder as an integer of at least 1", num_householder)
    inputs = _inputs(
        arguments, k, v, beta, g, scale, initial_state, use_qk_l2norm_in_kernel, cu_seqlens, steps=num_householder
    )
    return _run(inputs, q.dtype, output_final_state)


@dataclass
class _Inputs:
    """Checked arguments in the type of the computation; R = T n_h rows, HV heads once q and k have as many as v."""

    q: torch.Tensor  # [B, T, H, K]
    k: torch.Tensor  # [B, R, H, K]
    v: torch.Tensor  # [B, R, HV, V]
    beta: torch.Tensor  # [B, R, HV]
    g: Optional[torch.Tensor]  # [B, T, HV]
    initial_state: Optional[torch.Tensor]  # [N, HV, K, V]
    boundaries: torch.Tensor  # [N + 1]
    scale: float
    steps: int  # n_h


def _inputs(
    arguments, k, v, beta, g, scale, initial_state, normalize, cu_seqlens, beta_shape="B T H", steps=1,
    state_v_first=False,
):
    """The `_Inputs` of a call; `beta_shape` also says which heads v, g and the state have."""
    sizes, heads = arguments.sizes, beta_shape.split()[2]
    rows = "T" if steps == 1 else "T*n_h"
    sizes[rows] = sizes["T"] * steps
    k = arguments.follow("k", k, f"B {rows} H K")
    v = arguments.follow("v", v, f"B {rows} {heads} V")
    beta = arguments.follow("beta", beta, beta_shape.replace("T", rows), or_float32=True)
    g = arguments.follow_optional("g", g, f"B T {heads}", or_float32=True)
    boundaries = arguments.boundaries(cu_seqlens, sizes["B"], sizes["T"], "N")
    state_shape = f"N {heads} V K" if state_v_first else f"N {heads} K V"
    initial_state = arguments.follow_optional("initial_state", initial_state, state_shape, or_float32=True)
    if state_v_first and initial_state is not None:
        initial_state = initial_state.transpose(2, 3)
    if scale is None:
        scale = sizes["K"] ** -0.5
    elif not isinstance(scale, (int, float)):
        arguments.fail_type("scale as a number", type(scale).__name__)
    q = arguments.leader.to(arguments.compute_dtype)
    if normalize:
        q, k = torch.ops.lrnn.l2_norm(q, L2_NORM_EPS), torch.ops.lrnn.l2_norm(k, L2_NORM_EPS)
    return _Inputs(q, k, v, beta, g, initial_state, boundaries, float(scale), steps)


def _run(x, dtype, output_final_state):
    """o: [B, T, HV, V] as `dtype`, and the final state [N, HV, K, V] or None."""
    B, T = x.q.shape[:2]
    # Sequences of T tokens one after the other are packed sequences: [B, R, ...] is [B T, n_h, ...].
    k, v, beta = (tensor.reshape(B * T, x.steps, *tensor.shape[2:]) for tensor in (x.k, x.v, x.beta))
    decay = None if x.g is None else torch.exp(x.g).flatten(0, 1)
    o, final_state = torch.ops.lrnn.delta_rule(
        x.q.flatten(0, 1), k, v, beta, decay, x.scale, x.boundaries, x.initial_state
    )
    return o.unflatten(0, (B, T)).to(dtype), final_state if output_final_state else None


def _repeat_heads(tensor, times):
    """[B, T, H, K] -> [B, T, H times, K], the copies of a head side by side."""
    return tensor if times == 1 else tensor.repeat_interleave(times, dim=2)
