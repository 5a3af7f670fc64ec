"""The recurrences of this package as plain loops over tokens, to check things against.

Each function has the name, arguments and results of its fast form in `lrnn`, checks nothing, runs on any device, and
can be differentiated any number of times.
"""

import torch
from torch.nn.functional import silu, softplus


def chunk_delta_rule(
    q, k, v, beta, scale=None, initial_state=None, output_final_state=False, use_qk_l2norm_in_kernel=False,
    cu_seqlens=None, cu_seqlens_cpu=None,
):
    return chunk_gated_delta_product(
        q, k, v, None, beta, 1, scale, initial_state, output_final_state,
        cu_seqlens if cu_seqlens_cpu is None else cu_seqlens_cpu, use_qk_l2norm_in_kernel,
    )


def fused_recurrent_delta_rule(
    q, k, v, beta=None, scale=None, initial_state=None, output_final_state=False, use_qk_l2norm_in_kernel=False,
    cu_seqlens=None,
):
    return chunk_gated_delta_product(
        q, k, v, None, torch.ones_like(q[..., 0]) if beta is None else beta, 1, scale, initial_state,
        output_final_state, cu_seqlens, use_qk_l2norm_in_kernel,
    )


def chunk_gated_delta_rule(
    q, k, v, g, beta, scale=None, initial_state=None, output_final_state=False, use_qk_l2norm_in_kernel=False,
    use_beta_sigmoid_in_kernel=False, allow_neg_eigval=False, state_v_first=False, cu_seqlens=None, cu_seqlens_cpu=None,
    *, use_gate_in_kernel=False, A_log=None, dt_bias=None,
):
    dtype = _compute_dtype(q)
    if use_beta_sigmoid_in_kernel:
        beta = beta.to(dtype).sigmoid() * (2 if allow_neg_eigval else 1)
    if use_gate_in_kernel:
        g = -A_log.to(dtype).exp() * softplus(g.to(dtype) + (0 if dt_bias is None else dt_bias.to(dtype)))
    # Value head h reads head h // times of q and k.
    times = v.shape[2] // q.shape[2]
    heads = [h // times for h in range(v.shape[2])]
    if state_v_first and initial_state is not None:
        initial_state = initial_state.transpose(2, 3)
    o, state = chunk_gated_delta_product(
        q[:, :, heads], k[:, :, heads], v, g, beta, 1, scale, initial_state, output_final_state,
        cu_seqlens if cu_seqlens_cpu is None else cu_seqlens_cpu, use_qk_l2norm_in_kernel,
    )
    return o, state.transpose(2, 3) if state_v_first and output_final_state else state


def chunk_gated_delta_product(
    q, k, v, g, beta, num_householder, scale=None, initial_state=None, output_final_state=False, cu_seqlens=None,
    use_qk_l2norm_in_kernel=False,
):
    dtype = _compute_dtype(q)
    out_dtype, (H, K), V = q.dtype, q.shape[2:], v.shape[3]
    q, k, v, beta = q.to(dtype), k.to(dtype), v.to(dtype), beta.to(dtype)
    if use_qk_l2norm_in_kernel:
        q, k = (x / (x.square().sum(-1, keepdim=True) + 1e-6).sqrt() for x in (q, k))
    q = q * (K**-0.5 if scale is None else scale)

    rows = [[] for _ in range(q.shape[0])]  # outputs [H, V] of each row of the batch
    states = []
    for n, (b, begin, end) in enumerate(_sequences(q.shape[0], q.shape[1], cu_seqlens)):
        S = q.new_zeros(H, K, V) if initial_state is None else initial_state[n].to(dtype)
        for t in range(begin, end):
            if g is not None:
                S = g[b, t].to(dtype).exp()[:, None, None] * S
            for i in range(t * num_householder, (t + 1) * num_householder):
                error = v[b, i] - torch.einsum("hkv,hk->hv", S, k[b, i])
                step = beta[b, i] if beta.dim() == 4 else beta[b, i][:, None]  # [H, V] or [H, 1]
                S = S + torch.einsum("hk,hv->hkv", k[b, i], step * error)
            rows[b].append(torch.einsum("hkv,hk->hv", S, q[b, t]))
        states.append(S)
    o = _stack([_stack(row, q, (H, V)) for row in rows], q, (q.shape[1], H, V)).to(out_dtype)
    return o, _stack(states, q, (H, K, V)) if output_final_state else None


def selective_scan_fn(
    u, delta, A, B, C, D=None, z=None, delta_bias=None, delta_softplus=False, return_last_state=False,
    *, allow_neg_eigval=False, initial_state=None, cu_seqlens=None,
):
    dtype = _compute_dtype(u)
    out_dtype, (batch, channels, length), states = u.dtype, u.shape, A.shape[1]
    u, dt, A = u.to(dtype), delta.to(dtype), A.to(dtype)
    B, C = (_for_each_channel(x.to(dtype), batch, channels, length) for x in (B, C))  # [B, D, N, L]
    if delta_bias is not None:
        dt = dt + delta_bias.to(dtype)[:, None]
    if delta_softplus:
        dt = softplus(dt)

    rows, last_states = [[] for _ in range(batch)], []
    for n, (b, begin, end) in enumerate(_sequences(batch, length, cu_seqlens)):
        h = u.new_zeros(channels, states) if initial_state is None else initial_state[n].to(dtype)
        for t in range(begin, end):
            a = torch.exp(dt[b, :, t, None] * A)
            if allow_neg_eigval:
                a = 2 * a - 1
            h = a * h + dt[b, :, t, None] * B[b, :, :, t] * u[b, :, t, None]
            rows[b].append((C[b, :, :, t] * h).sum(-1))
        last_states.append(h)
    y = _stack([_stack(row, u, (channels,)) for row in rows], u, (length, channels)).transpose(1, 2)
    if D is not None:
        y = y + D.to(dtype)[:, None] * u
    if z is not None:
        y = y * silu(z.to(dtype))
    y = y.to(out_dtype)
    return (y, _stack(last_states, u, (channels, states))) if return_last_state else y


def _compute_dtype(x):
    return torch.float64 if x.dtype == torch.float64 else torch.float32


def _sequences(batch, length, cu_seqlens):
    """(row of the batch, first token, end) of each sequence."""
    if cu_seqlens is None:
        return [(b, 0, length) for b in range(batch)]
    return [(0, begin, end) for begin, end in zip(cu_seqlens.tolist(), cu_seqlens.tolist()[1:])]


def _stack(tensors, like, shape):
    return torch.stack(tensors) if tensors else like.new_zeros(0, *shape)


def _for_each_channel(x, batch, channels, length):
    """B or C of any shape as [B, D, N, L]."""
    if x.dim() == 2:
        return x[None, :, :, None].expand(batch, -1, -1, length)
    if x.dim() == 3:
        return x[:, None].expand(-1, channels, -1, -1)
    return x[:, [d // (channels // x.shape[1]) for d in range(channels)]]
