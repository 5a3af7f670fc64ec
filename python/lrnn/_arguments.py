"""Checks of arguments: a wrong one raises TypeError (no tensor, wrong dtype) or ValueError (shape, device, value).

Messages have the function first, the argument's name, and the offending value last:

    [chunk_delta_rule] expected beta of shape [B, T, H] = [2, 7, 4], got [2, 7, 3]
"""

import torch

DTYPES = (torch.float64, torch.float32, torch.bfloat16, torch.float16)
MAY_BE_ZERO = ("B", "T", "L")
TOKENS_LIMIT = 2**31  # lrnn counts the tokens of a batch in 32 bits


class Arguments:
    """The arguments of one call. The others follow the dtype and the device of the first, the leader."""

    def __init__(self, function, leader_name, leader, shape):
        self.function, self.leader_name, self.leader = function, leader_name, leader
        self.sizes = {}
        self._check_tensor(leader_name, leader)
        if leader.dtype not in DTYPES:
            self.fail_type(f"{leader_name} of float64, float32, bfloat16 or float16", leader.dtype)
        self._check_shape(leader_name, leader, shape)

    @property
    def compute_dtype(self):
        """bfloat16 and float16 are computed in float32."""
        return torch.float64 if self.leader.dtype == torch.float64 else torch.float32

    def follow(self, name, tensor, shape, or_float32=False):
        """Checks `tensor` and gives it in the type of the computation.

        `shape` is a string such as "B T H": a letter seen before is its size, a new one takes the size it finds.
        """
        self._check_tensor(name, tensor)
        allowed = {self.leader.dtype, torch.float32} if or_float32 else {self.leader.dtype}
        if tensor.dtype not in allowed:
            alternative = " or float32" if len(allowed) > 1 else ""
            self.fail_type(f"{name} of {self.leader_name}'s dtype {self.leader.dtype}{alternative}", tensor.dtype)
        if tensor.device != self.leader.device:
            self.fail(f"{name} on {self.leader_name}'s device {self.leader.device}", tensor.device)
        self._check_shape(name, tensor, shape)
        return tensor.to(self.compute_dtype)

    def follow_optional(self, name, tensor, shape, or_float32=False):
        return None if tensor is None else self.follow(name, tensor, shape, or_float32)

    def boundaries(self, cu_seqlens, batch, length, letter):
        """Checks `cu_seqlens`, or makes it for `batch` sequences of `length` tokens; `letter` is their number."""
        if batch * length >= TOKENS_LIMIT:
            self.fail("fewer than 2^31 tokens in a batch", batch * length)
        if cu_seqlens is None:
            self.sizes[letter] = batch
            return torch.arange(batch + 1) * length
        self._check_tensor("cu_seqlens", cu_seqlens)
        if cu_seqlens.dtype not in (torch.int32, torch.int64):
            self.fail_type("cu_seqlens of int32 or int64", cu_seqlens.dtype)
        if cu_seqlens.dim() != 1 or len(cu_seqlens) == 0:
            self.fail(f"cu_seqlens of shape [{letter} + 1]", list(cu_seqlens.shape))
        if batch != 1:
            self.fail("a batch of 1 with cu_seqlens: the sequences one after the other", batch)
        cu_seqlens = cu_seqlens.cpu()
        values = cu_seqlens.tolist()
        if values[0] != 0 or values[-1] != length or any(a > b for a, b in zip(values, values[1:])):
            self.fail(f"cu_seqlens that rises from 0 to the {length} tokens of {self.leader_name}", values)
        self.sizes[letter] = len(values) - 1
        return cu_seqlens

    def fail(self, expected, got):
        raise ValueError(f"[{self.function}] expected {expected}, got {got}")

    def fail_type(self, expected, got):
        raise TypeError(f"[{self.function}] expected {expected}, got {got}")

    def _check_tensor(self, name, tensor):
        if not isinstance(tensor, torch.Tensor):
            self.fail_type(f"{name} as a tensor", type(tensor).__name__)

    def _check_shape(self, name, tensor, shape):
        letters, sizes = shape.split(), list(tensor.shape)
        fits = len(letters) == len(sizes) and all(
            size == self.sizes[letter] if letter in self.sizes else size > 0 or letter in MAY_BE_ZERO
            for letter, size in zip(letters, sizes)
        )
        if not fits:
            known = all(letter in self.sizes for letter in letters)
            numbers = f" = {[self.sizes[letter] for letter in letters]}" if known else ""
            self.fail(f"{name} of shape [{', '.join(letters)}]{numbers}", sizes)
        self.sizes.update(zip(letters, sizes))
