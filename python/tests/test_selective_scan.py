"""selective_scan_fn against the loop of lrnn.naive, finite differences, and values known by heart."""

import itertools
import unittest
from unittest import mock

import torch

import lrnn
from compare import assert_like_naive, random


def inputs(B=2, D=6, L=7, N=3, sequences=None, dtype=torch.float64, weights=None, shape_B=None, shape_C=None):
    """Only what is required, and the initial state. `weights` is the dtype of A and the state."""
    weights = weights or dtype
    return {
        "u": random(B, D, L, seed=20, dtype=dtype),
        "delta": torch.nn.functional.softplus(random(B, D, L, seed=21)).to(dtype),
        "A": -torch.exp(random(D, N, seed=22)).to(weights),
        "B": random(*(shape_B or (B, N, L)), seed=23, dtype=dtype),
        "C": random(*(shape_C or (B, N, L)), seed=24, dtype=dtype),
        "initial_state": random(B if sequences is None else sequences, D, N, seed=25, dtype=weights),
    }


def options(B=2, D=6, L=7, dtype=torch.float64, weights=None):
    weights = weights or dtype
    return {
        "D": random(D, seed=26, dtype=weights),
        "z": random(B, D, L, seed=27, dtype=dtype),
        "delta_bias": random(D, seed=28, dtype=weights),
    }


class AgainstNaive(unittest.TestCase):
    def test_every_set_of_options(self):
        for names in itertools.chain.from_iterable(itertools.combinations(options(), n) for n in range(4)):
            for allow_neg_eigval in (False, True):
                with self.subTest(names=names, allow_neg_eigval=allow_neg_eigval):
                    tensors = {**inputs(), **{name: options()[name] for name in names}}
                    assert_like_naive(self, "selective_scan_fn", tensors, return_last_state=True,
                                      delta_softplus="delta_bias" in names, allow_neg_eigval=allow_neg_eigval)

    def test_many_shapes(self):
        for shape in (dict(L=1), dict(L=33, N=16, D=5), dict(B=1, L=17, D=1, N=1), dict(D=40, L=9)):
            for dtype in (torch.float64, torch.float32):
                with self.subTest(shape=shape, dtype=dtype):
                    assert_like_naive(self, "selective_scan_fn", inputs(**shape, dtype=dtype), allow_neg_eigval=True,
                                      return_last_state=True)

    def test_shapes_of_B_and_C(self):
        shapes = ((2, 3, 7), (2, 1, 3, 7), (2, 2, 3, 7), (2, 3, 3, 7), (6, 3))
        for shape_B, shape_C in itertools.product(shapes, shapes):
            with self.subTest(B=shape_B, C=shape_C):
                tensors = {**inputs(shape_B=shape_B, shape_C=shape_C), **options()}
                assert_like_naive(self, "selective_scan_fn", tensors, delta_softplus=True, return_last_state=True)

    def test_packed_sequences_with_empty_ones(self):
        for shape_B in ((1, 3, 23), (1, 2, 3, 23)):
            tensors = {**inputs(B=1, L=23, sequences=5, shape_B=shape_B), **options(B=1, L=23)}
            assert_like_naive(self, "selective_scan_fn", tensors, cu_seqlens=torch.tensor([0, 0, 9, 9, 22, 23]),
                              delta_softplus=True, allow_neg_eigval=True, return_last_state=True)

    def test_batches_of_nothing(self):
        for shape in (dict(L=0), dict(B=0)):
            with self.subTest(shape=shape):
                tensors = inputs(**shape)
                _, state = assert_like_naive(self, "selective_scan_fn", tensors, return_last_state=True)
                self.assertTrue(torch.equal(state, tensors["initial_state"]))

    def test_half_precision(self):
        for dtype in (torch.bfloat16, torch.float16):
            for weights in (dtype, torch.float32):
                with self.subTest(dtype=dtype, weights=weights):
                    types = dict(dtype=dtype, weights=weights)
                    y, state = assert_like_naive(self, "selective_scan_fn", {**inputs(**types), **options(**types)},
                                                 delta_softplus=True, return_last_state=True)
                    self.assertEqual((y.dtype, state.dtype), (dtype, torch.float32))


class AtenForm(AgainstNaive):
    """The same tests for the form that tensors outside the CPU take."""

    def setUp(self):
        patch = mock.patch.object(torch.ops.lrnn, "selective_scan", torch.ops.lrnn.selective_scan_aten)
        patch.start()
        self.addCleanup(patch.stop)

    def test_autocast_leaves_the_recurrence_alone(self):
        tensors = inputs(dtype=torch.float32)
        expected = lrnn.selective_scan_fn(**tensors)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            actual = lrnn.selective_scan_fn(**tensors)
        self.assertTrue(torch.equal(actual, expected))


class ByItself(unittest.TestCase):
    def test_gradcheck(self):
        for allow_neg_eigval in (False, True):
            tensors = {**inputs(B=1, D=2, L=3, N=2), **options(B=1, D=2, L=3)}
            names = list(tensors)
            leaves = [tensor.requires_grad_() for tensor in tensors.values()]
            self.assertTrue(torch.autograd.gradcheck(
                lambda *x: lrnn.selective_scan_fn(**dict(zip(names, x)), delta_softplus=True, return_last_state=True,
                                                  allow_neg_eigval=allow_neg_eigval), leaves))

    def test_negative_eigenvalues_compute_parity(self):
        # exp(delta A) = 0 at a one: the eigenvalue 2 exp(delta A) - 1 is -1 there and 1 at a zero, where delta = 0.
        bits = torch.randint(2, (4, 1, 1001), generator=torch.Generator().manual_seed(0))
        ones = torch.ones(4, 1, 1001)
        y = lrnn.selective_scan_fn(0 * ones, 1000.0 * bits, -torch.ones(1, 1), ones, ones, allow_neg_eigval=True,
                                   initial_state=torch.ones(4, 1, 1))
        self.assertTrue(torch.equal(y, 1.0 - 2.0 * (bits.cumsum(2) % 2)))

    def test_one_token_by_hand(self):
        one = torch.ones(1, 1, 1)
        y, state = lrnn.selective_scan_fn(
            3 * one, 0.5 * one, -2 * one[0], 5 * one, 7 * one, D=torch.tensor([0.25]), return_last_state=True,
            initial_state=11 * one)
        h = torch.exp(torch.tensor(-1.0)) * 11 + 0.5 * 5 * 3
        torch.testing.assert_close(state.flatten(), h.view(1))
        torch.testing.assert_close(y.flatten(), (7 * h + 0.25 * 3).view(1))

    def test_result_without_the_last_state_is_a_tensor(self):
        self.assertIsInstance(lrnn.selective_scan_fn(**inputs()), torch.Tensor)

    def test_channels_that_lie_side_by_side_are_not_copied(self):
        tensors = inputs()
        for name in ("u", "delta", "B", "C"):
            tensors[name] = tensors[name].transpose(1, 2).contiguous().transpose(1, 2)
        with mock.patch.object(torch.ops.lrnn, "selective_scan", wraps=torch.ops.lrnn.selective_scan) as kernel:
            lrnn.selective_scan_fn(**tensors)
        for given, name in zip(kernel.call_args.args, ("u", "delta", "A", "B", "C")):
            self.assertEqual(given.data_ptr(), tensors[name].data_ptr(), name)

    def test_other_devices_have_the_aten_form(self):
        y, state = lrnn.selective_scan_fn(
            **{name: tensor.to("meta") for name, tensor in inputs().items()}, return_last_state=True)
        self.assertEqual((y.device.type, y.shape, state.shape), ("meta", (2, 6, 7), (2, 6, 3)))


if __name__ == "__main__":
    unittest.main()
