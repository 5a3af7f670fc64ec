"""Selective scan (Mamba): a linear RNN with a diagonal, input-dependent transition.

    dt_t = softplus(delta_t + delta_bias)              softplus and delta_bias optional
    a_t  = exp(dt_t A)      or, allow_neg_eigval,      2 exp(dt_t A) - 1
    h_t  = a_t h_{t-1} + dt_t B_t u_t                  the input term is the same for both ranges
    y_t  = (C_t . h_t + D u_t) silu(z_t)               D and z optional

With A < 0 the eigenvalues a_t lie in (0, 1), or in (-1, 1) with allow_neg_eigval.
"""

import math

import torch

from . import _library  # noqa: F401  (registers torch.ops.lrnn)
from ._arguments import Arguments


def selective_scan_fn(
    u,
    delta,
    A,
    B,
    C,
    D=None,
    z=None,
    delta_bias=None,
    delta_softplus=False,
    return_last_state=False,
    *,
    allow_neg_eigval=False,
    initial_state=None,
    cu_seqlens=None,
):
    """u, delta, z: [B, D, L]   A: [D, N]   D, delta_bias: [D]   B, C: [B, N, L], [B, G, N, L] or [D, N]

    G groups share the channels evenly, channel d is of group d // (D / G); [D, N] is the same at every token. [B, N, L]
    runs as one call of the kernel, G groups as G calls, [D, N] as D calls.

    cu_seqlens     [S + 1], the boundaries of S sequences packed in a batch of 1; without it S = B
    initial_state  [S, D, N], zeros if None

    Gives y [B, D, L] in u's dtype, or with return_last_state the pair of y and the last state [S, D, N]; all of it
    differentiable. u is float64, float32, bfloat16 or float16, all others have its dtype or float32. The computation,
    and the last state, are float64 for float64 and float32 for all the rest.
    """
    arguments = Arguments("selective_scan_fn", "u", u, "B D L")
    for name, tensor in (("A", A), ("B", B), ("C", C)):
        if isinstance(tensor, torch.Tensor) and tensor.is_complex():
            arguments.fail_type(f"{name} of real numbers (complex states are not supported)", tensor.dtype)
    batch, channels, length = u.shape
    delta = arguments.follow("delta", delta, "B D L", or_float32=True)
    A = arguments.follow("A", A, "D N", or_float32=True)
    B, C = _by_group(arguments, "B", B), _by_group(arguments, "C", C)
    D = arguments.follow_optional("D", D, "D", or_float32=True)
    z = arguments.follow_optional("z", z, "B D L", or_float32=True)
    delta_bias = arguments.follow_optional("delta_bias", delta_bias, "D", or_float32=True)
    boundaries = arguments.boundaries(cu_seqlens, batch, length, "S")
    initial_state = arguments.follow_optional("initial_state", initial_state, "S D N", or_float32=True)

    # Channels that share B and C go through the kernel together.
    groups = math.lcm(len(B), len(C))
    pack = lambda x: None if x is None else _pack(x)
    split = lambda x, dim: [None] * groups if x is None else x.split(channels // groups, dim)
    inputs = zip(
        split(_pack(u.to(arguments.compute_dtype)), 1),
        split(_pack(delta), 1),
        split(A, 0),
        [B[i * len(B) // groups] for i in range(groups)],
        [C[i * len(C) // groups] for i in range(groups)],
        split(D, 0),
        split(pack(z), 1),
        split(delta_bias, 0),
        split(initial_state, 1),
    )
    ys, states = zip(*(
        torch.ops.lrnn.selective_scan(*tensors, delta_softplus, allow_neg_eigval, boundaries, state)
        for *tensors, state in inputs
    ))
    y, last_state = (ys[0], states[0]) if groups == 1 else (torch.cat(ys, 1), torch.cat(states, 1))
    y = y.unflatten(0, (batch, length)).transpose(1, 2).to(u.dtype)
    return (y, last_state) if return_last_state else y


def _pack(x):
    """[B, D, L] -> [B L, D], without a copy where the channels of a token lie side by side in memory."""
    return x.transpose(1, 2).flatten(0, 1)


def _by_group(arguments, name, x):
    """B or C as a list with one tensor [B L, N] for each group of channels."""
    sizes = arguments.sizes
    dimensions = x.dim() if isinstance(x, torch.Tensor) else 3  # what is no tensor fails as one of the usual shape
    if dimensions == 2:
        x = arguments.follow(name, x, "D N", or_float32=True)
        return [row.expand(sizes["B"] * sizes["L"], -1) for row in x]
    if dimensions == 3:
        return [_pack(arguments.follow(name, x, "B N L", or_float32=True))]
    if dimensions != 4:
        arguments.fail(f"{name} of shape [B, N, L], [B, G, N, L] or [D, N]", list(x.shape))
    sizes.pop("G", None)
    x = arguments.follow(name, x, "B G N L", or_float32=True)
    if sizes["D"] % sizes["G"] != 0:
        arguments.fail(f"{name} with a number of groups that divides the {sizes['D']} channels of u", sizes["G"])
    return [_pack(group) for group in x.unbind(1)]
