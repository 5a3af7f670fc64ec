"""Linear RNNs that track state: the recurrences of lrnn as functions on torch tensors, with autograd.

    o, final_state = lrnn.chunk_delta_rule(q, k, v, beta, output_final_state=True)

Names, argument orders and defaults are those of flash-linear-attention and mamba_ssm; `lrnn.naive` has the same
functions as plain loops. On the CPU they run lrnn's kernels, on as many threads as torch.get_num_threads() says.
"""

from . import _library, naive
from .delta_rule import (
    chunk_delta_rule,
    chunk_gated_delta_product,
    chunk_gated_delta_rule,
    fused_recurrent_delta_rule,
)
from .selective_scan import selective_scan_fn

__version__ = _library.version()

__all__ = [
    "chunk_delta_rule",
    "chunk_gated_delta_product",
    "chunk_gated_delta_rule",
    "fused_recurrent_delta_rule",
    "naive",
    "selective_scan_fn",
]
