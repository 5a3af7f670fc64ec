"""The delta rule's functions against the loops of lrnn.naive, finite differences, and values known by heart."""

import math
import unittest
from unittest import mock

import torch

import lrnn
from compare import assert_like_naive, names_of_arguments, random


def inputs(B=2, T=7, H=2, K=5, V=3, HV=None, n_h=1, N=None, dtype=torch.float64, gate=False, state=True):
    """Keys of about unit length, beta in (0, 2), gates in (0, 1)."""
    HV = HV or H
    tensors = {
        "q": random(B, T, H, K, seed=10, dtype=dtype),
        "k": (random(B, T * n_h, H, K, seed=11) / K**0.5).to(dtype),
        "v": random(B, T * n_h, HV, V, seed=12, dtype=dtype),
        "beta": (2 * torch.sigmoid(random(B, T * n_h, HV, seed=13))).to(dtype),
    }
    if gate:
        tensors["g"] = torch.nn.functional.logsigmoid(random(B, T, HV, seed=14)).to(dtype)
    if state:
        compute = torch.float64 if dtype == torch.float64 else torch.float32
        tensors["initial_state"] = random(B if N is None else N, HV, K, V, seed=15, dtype=compute)
    return tensors


class AgainstNaive(unittest.TestCase):
    def test_delta_rule_of_many_shapes(self):
        for shape in (dict(T=1), dict(T=16), dict(T=17), dict(T=33, H=1, K=32, V=32), dict(H=3, K=1, V=1),
                      dict(B=1, T=65, K=8, V=40)):
            for dtype in (torch.float64, torch.float32):
                with self.subTest(shape=shape, dtype=dtype):
                    assert_like_naive(self, "chunk_delta_rule", inputs(**shape, dtype=dtype), output_final_state=True)

    def test_without_states(self):
        o, = assert_like_naive(self, "chunk_delta_rule", inputs(state=False))
        self.assertEqual(o.shape, (2, 7, 2, 3))

    def test_scale_and_norm(self):
        for name in ("chunk_delta_rule", "fused_recurrent_delta_rule"):
            for scale in (None, 1, 0.3):
                for norm in (False, True):
                    with self.subTest(name=name, scale=scale, norm=norm):
                        assert_like_naive(self, name, inputs(), scale=scale, use_qk_l2norm_in_kernel=norm)

    def test_zero_keys_with_the_norm(self):
        tensors = inputs()
        tensors["k"][:, 3] = 0
        assert_like_naive(self, "chunk_delta_rule", tensors, use_qk_l2norm_in_kernel=True)

    def test_beta_at_the_ends_of_its_range(self):
        tensors = inputs(T=40)
        tensors["beta"][:, ::3], tensors["beta"][:, 1::3] = 0, 2
        assert_like_naive(self, "chunk_delta_rule", tensors, use_qk_l2norm_in_kernel=True, output_final_state=True)

    def test_one_beta_for_each_value(self):
        tensors = inputs()
        tensors["beta"] = 2 * torch.sigmoid(random(2, 7, 2, 3, seed=3))
        assert_like_naive(self, "fused_recurrent_delta_rule", tensors, output_final_state=True)
        del tensors["initial_state"]
        assert_like_naive(self, "fused_recurrent_delta_rule", tensors)

    def test_no_beta_is_one(self):
        tensors = inputs()
        beta = torch.ones_like(tensors.pop("beta"))
        o, state = assert_like_naive(self, "fused_recurrent_delta_rule", tensors, output_final_state=True)
        expected_o, expected_state = lrnn.chunk_delta_rule(**tensors, beta=beta, output_final_state=True)
        self.assertTrue(torch.equal(o, expected_o) and torch.equal(state, expected_state))

    def test_packed_sequences_with_empty_ones(self):
        boundaries = torch.tensor([0, 0, 5, 5, 22, 23, 23])
        tensors = inputs(B=1, T=23, N=6, gate=True)
        plain = {name: tensor for name, tensor in tensors.items() if name != "g"}
        for integer in (torch.int32, torch.int64):
            packed = dict(cu_seqlens=boundaries.to(integer), output_final_state=True)
            assert_like_naive(self, "chunk_delta_rule", plain, **packed)
            assert_like_naive(self, "fused_recurrent_delta_rule", plain, **packed)
            assert_like_naive(self, "chunk_gated_delta_rule", tensors, **packed)
            assert_like_naive(self, "chunk_gated_delta_product", tensors, num_householder=1, **packed)
        assert_like_naive(self, "chunk_delta_rule", plain, cu_seqlens_cpu=boundaries)
        assert_like_naive(self, "chunk_gated_delta_rule", tensors, cu_seqlens_cpu=boundaries)

    def test_batches_of_nothing(self):
        for shape in (dict(T=0), dict(B=0), dict(B=0, T=0)):
            with self.subTest(shape=shape):
                tensors = inputs(**shape, n_h=2, gate=True)
                o, state = assert_like_naive(
                    self, "chunk_gated_delta_product", tensors, num_householder=2, output_final_state=True)
                self.assertTrue(torch.equal(state, tensors["initial_state"]))

    def test_gates_from_nothing_to_everything(self):
        tensors = inputs(T=40, gate=True)
        tensors["g"][:, ::3], tensors["g"][:, 1::3] = 0, -math.inf
        o, state = assert_like_naive(self, "chunk_gated_delta_rule", tensors, output_final_state=True)
        del tensors["g"]
        ungated, _ = lrnn.chunk_delta_rule(**tensors)
        gated, _ = lrnn.chunk_gated_delta_rule(**tensors, g=torch.zeros(2, 40, 2, dtype=torch.float64))
        self.assertTrue(torch.equal(gated, ungated))

    def test_more_value_heads_than_key_heads(self):
        for H, HV in ((1, 3), (2, 6), (2, 2)):
            with self.subTest(H=H, HV=HV):
                assert_like_naive(
                    self, "chunk_gated_delta_rule", inputs(H=H, HV=HV, gate=True), output_final_state=True)

    def test_states_with_values_first(self):
        tensors = inputs(H=1, HV=2, gate=True)
        _, plain = lrnn.chunk_gated_delta_rule(**tensors, output_final_state=True)
        tensors["initial_state"] = tensors["initial_state"].transpose(2, 3).contiguous()
        _, state = assert_like_naive(
            self, "chunk_gated_delta_rule", tensors, state_v_first=True, output_final_state=True)
        self.assertTrue(torch.equal(state, plain.transpose(2, 3)))
        o, nothing = lrnn.chunk_gated_delta_rule(**tensors, state_v_first=True)
        self.assertIsNone(nothing)

    def test_sigmoid_of_beta_in_the_kernel(self):
        tensors = inputs(gate=True)
        tensors["beta"] = random(2, 7, 2, seed=4)
        for allow_neg_eigval in (False, True):
            assert_like_naive(self, "chunk_gated_delta_rule", tensors, use_beta_sigmoid_in_kernel=True,
                              allow_neg_eigval=allow_neg_eigval)

    def test_gate_in_the_kernel(self):
        tensors = inputs(H=1, HV=2, gate=True)
        tensors["g"], tensors["A_log"] = random(2, 7, 2, seed=4), random(2, seed=5)
        assert_like_naive(self, "chunk_gated_delta_rule", tensors, use_gate_in_kernel=True)
        tensors["dt_bias"] = random(2, seed=6)
        assert_like_naive(self, "chunk_gated_delta_rule", tensors, use_gate_in_kernel=True)

    def test_products_of_householder_steps(self):
        for n_h in (1, 2, 3):
            for gate in (False, True):
                with self.subTest(n_h=n_h, gate=gate):
                    tensors = inputs(n_h=n_h, gate=gate)
                    options = {} if gate else {"g": None}
                    assert_like_naive(self, "chunk_gated_delta_product", tensors, num_householder=n_h, scale=0.7,
                                      output_final_state=True, use_qk_l2norm_in_kernel=True, **options)
        boundaries = torch.tensor([0, 3, 3, 11])
        assert_like_naive(self, "chunk_gated_delta_product", inputs(B=1, T=11, N=3, n_h=2, gate=True),
                          num_householder=2, cu_seqlens=boundaries, output_final_state=True)

    def test_half_precision(self):
        for dtype in (torch.bfloat16, torch.float16):
            for gates in (dtype, torch.float32):
                with self.subTest(dtype=dtype, gates=gates):
                    tensors = inputs(T=33, dtype=dtype, gate=True)
                    tensors["g"], tensors["beta"] = tensors["g"].to(gates), tensors["beta"].to(gates)
                    o, state = assert_like_naive(self, "chunk_gated_delta_rule", tensors, output_final_state=True)
                    self.assertEqual((o.dtype, state.dtype), (dtype, torch.float32))
        tensors = inputs(dtype=torch.bfloat16, n_h=2)
        tensors["initial_state"] = tensors["initial_state"].bfloat16()
        assert_like_naive(self, "chunk_gated_delta_product", tensors, g=None, num_householder=2,
                          use_qk_l2norm_in_kernel=True, output_final_state=True)

    def test_tensors_that_are_slices(self):
        wide = random(2, 7, 2, 13, seed=1)
        assert_like_naive(self, "chunk_delta_rule", {
            **inputs(), "q": wide[..., :5], "k": wide[..., 5:10] / 2, "v": wide[..., 10:]})


class AtenForm(AgainstNaive):
    """The same tests for the form that tensors outside the CPU take."""

    def setUp(self):
        patch = mock.patch.object(torch.ops.lrnn, "delta_rule", torch.ops.lrnn.delta_rule_aten)
        patch.start()
        self.addCleanup(patch.stop)

    def test_autocast_leaves_the_recurrence_alone(self):
        tensors = inputs(dtype=torch.float32)
        expected, _ = lrnn.chunk_delta_rule(**tensors)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            actual, _ = lrnn.chunk_delta_rule(**tensors)
        self.assertTrue(torch.equal(actual, expected))

    def test_can_be_differentiated_twice(self):
        tensors = {name: tensor.requires_grad_() for name, tensor in inputs(B=1, T=2, H=1, K=2, V=2).items()}
        self.assertTrue(torch.autograd.gradgradcheck(
            lambda *x: lrnn.chunk_delta_rule(*x)[0], list(tensors.values())[:4]))


class ByThemselves(unittest.TestCase):
    def test_gradcheck(self):
        for n_h in (1, 2):
            tensors = inputs(B=1, T=3, H=2, K=3, V=2, n_h=n_h, gate=True)
            leaves = [tensors[name].requires_grad_() for name in ("q", "k", "v", "g", "beta", "initial_state")]
            self.assertTrue(torch.autograd.gradcheck(
                lambda q, k, v, g, beta, state: lrnn.chunk_gated_delta_product(
                    q, k, v, g, beta, n_h, initial_state=state, output_final_state=True,
                    use_qk_l2norm_in_kernel=True), leaves))

    def test_one_token_by_hand(self):
        q, k = torch.tensor([3.0, 4.0]), torch.tensor([1.0, 2.0])
        v, beta = torch.tensor([5.0, 6.0, 7.0]), torch.tensor(1.5)
        o, state = lrnn.chunk_delta_rule(
            q.view(1, 1, 1, 2), k.view(1, 1, 1, 2), v.view(1, 1, 1, 3), beta.view(1, 1, 1), output_final_state=True)
        torch.testing.assert_close(state[0, 0], 1.5 * torch.outer(k, v))
        torch.testing.assert_close(o[0, 0, 0], 1.5 * 11 * v / math.sqrt(2))

    def test_beta_of_two_computes_parity(self):
        bits = torch.randint(2, (4, 1001), generator=torch.Generator().manual_seed(0))
        ones = torch.ones(4, 1001, 1, 1)
        o, _ = lrnn.chunk_delta_rule(
            ones, ones, 0 * ones, 2.0 * bits[..., None], scale=1, initial_state=torch.ones(4, 1, 1, 1))
        self.assertTrue(torch.equal(o[..., 0, 0], 1.0 - 2.0 * (bits.cumsum(1) % 2)))

    def test_state_carried_over_a_split(self):
        tensors = inputs(T=20, gate=True)
        state = tensors.pop("initial_state")
        whole, last = lrnn.chunk_gated_delta_rule(**tensors, initial_state=state, output_final_state=True)
        pieces = []
        for part in (slice(0, 9), slice(9, 20)):
            o, state = lrnn.chunk_gated_delta_rule(
                **{name: tensor[:, part] for name, tensor in tensors.items()}, initial_state=state,
                output_final_state=True)
            pieces.append(o)
        torch.testing.assert_close(torch.cat(pieces, 1), whole, rtol=1e-12, atol=1e-12)
        torch.testing.assert_close(state, last, rtol=1e-12, atol=1e-12)

    def test_kernel_can_be_differentiated_once(self):
        tensors = inputs()
        q = tensors["q"].requires_grad_()
        o, _ = lrnn.chunk_delta_rule(**tensors)
        with self.assertRaisesRegex(RuntimeError, "differentiated once"):
            torch.autograd.grad(o.sum(), q, create_graph=True)

    def test_contiguous_tensors_are_not_copied(self):
        tensors = inputs(gate=True, n_h=2)
        with mock.patch.object(torch.ops.lrnn, "delta_rule", wraps=torch.ops.lrnn.delta_rule) as kernel:
            lrnn.chunk_gated_delta_product(**tensors, num_householder=2)
        q, k, v, beta, _, _, _, state = kernel.call_args.args
        for given, name in ((q, "q"), (k, "k"), (v, "v"), (beta, "beta"), (state, "initial_state")):
            self.assertEqual(given.data_ptr(), tensors[name].data_ptr(), name)

    def test_other_devices_have_the_aten_form(self):
        tensors = {name: tensor.to("meta") for name, tensor in inputs(gate=True).items()}
        o, state = lrnn.chunk_gated_delta_rule(**tensors, output_final_state=True)
        self.assertEqual((o.device.type, o.shape, state.shape), ("meta", (2, 7, 2, 3), (2, 2, 5, 3)))

    def test_naive_forms_have_the_same_arguments(self):
        for name in ("chunk_delta_rule", "fused_recurrent_delta_rule", "chunk_gated_delta_rule",
                     "chunk_gated_delta_product", "selective_scan_fn"):
            self.assertEqual(names_of_arguments(getattr(lrnn, name)), names_of_arguments(getattr(lrnn.naive, name)))


if __name__ == "__main__":
    unittest.main()
