"""Wrong arguments raise an exception that names the argument."""

import unittest

import torch

import lrnn


def delta(**changes):
    ones = {
        "q": torch.ones(2, 7, 4, 3),
        "k": torch.ones(2, 7, 4, 3),
        "v": torch.ones(2, 7, 4, 5),
        "beta": torch.ones(2, 7, 4),
    }
    return {**ones, **changes}


def gated(**changes):
    return delta(g=torch.zeros(2, 7, 4), **changes)


def product(**changes):
    return delta(**{"g": None, "num_householder": 2, "k": torch.ones(2, 14, 4, 3), "v": torch.ones(2, 14, 4, 5),
                    "beta": torch.ones(2, 14, 4), **changes})


def scan(**changes):
    ones = {
        "u": torch.ones(2, 6, 7),
        "delta": torch.ones(2, 6, 7),
        "A": -torch.ones(6, 3),
        "B": torch.ones(2, 3, 7),
        "C": torch.ones(2, 3, 7),
    }
    return {**ones, **changes}


class Messages(unittest.TestCase):
    def fails(self, function, arguments, exception, message):
        with self.subTest(message=message):
            with self.assertRaises(exception) as caught:
                getattr(lrnn, function)(**arguments)
            self.assertEqual(str(caught.exception), f"[{function}] {message}")

    def test_right_arguments_pass(self):
        lrnn.chunk_delta_rule(**delta())
        lrnn.fused_recurrent_delta_rule(**delta())
        lrnn.chunk_gated_delta_rule(**gated())
        lrnn.chunk_gated_delta_product(**product())
        lrnn.selective_scan_fn(**scan())

    def test_shapes(self):
        ones = torch.ones
        for name in ("chunk_delta_rule", "fused_recurrent_delta_rule"):
            self.fails(name, delta(q=ones(7, 4, 3)), ValueError, "expected q of shape [B, T, H, K], got [7, 4, 3]")
            self.fails(name, delta(k=ones(2, 7, 4, 2)), ValueError,
                       "expected k of shape [B, T, H, K] = [2, 7, 4, 3], got [2, 7, 4, 2]")
            self.fails(name, delta(v=ones(2, 6, 4, 5)), ValueError,
                       "expected v of shape [B, T, H, V], got [2, 6, 4, 5]")
            self.fails(name, delta(beta=ones(2, 7, 3)), ValueError,
                       "expected beta of shape [B, T, H] = [2, 7, 4], got [2, 7, 3]")
            self.fails(name, delta(initial_state=ones(1, 4, 3, 5)), ValueError,
                       "expected initial_state of shape [N, H, K, V] = [2, 4, 3, 5], got [1, 4, 3, 5]")
        self.fails("chunk_delta_rule", delta(beta=ones(2, 7, 4, 5)), ValueError,
                   "expected beta of shape [B, T, H] = [2, 7, 4], got [2, 7, 4, 5]")
        self.fails("fused_recurrent_delta_rule", delta(beta=ones(2, 7, 4, 4)), ValueError,
                   "expected beta of shape [B, T, H, V] = [2, 7, 4, 5], got [2, 7, 4, 4]")
        self.fails("chunk_delta_rule", delta(q=ones(2, 7, 4, 0)), ValueError,
                   "expected q of shape [B, T, H, K], got [2, 7, 4, 0]")

        self.fails("chunk_gated_delta_rule", {**gated(), "g": ones(2, 7, 1)}, ValueError,
                   "expected g of shape [B, T, HV] = [2, 7, 4], got [2, 7, 1]")
        self.fails("chunk_gated_delta_rule", gated(beta=ones(2, 7, 8)), ValueError,
                   "expected beta of shape [B, T, HV] = [2, 7, 4], got [2, 7, 8]")
        six = {**gated(v=ones(2, 7, 6, 5), beta=ones(2, 7, 6)), "g": ones(2, 7, 6)}
        self.fails("chunk_gated_delta_rule", six, ValueError, "expected v with a multiple of q's 4 heads, got 6")
        self.fails("chunk_gated_delta_rule", gated(initial_state=ones(2, 4, 3, 5), state_v_first=True), ValueError,
                   "expected initial_state of shape [N, HV, V, K] = [2, 4, 5, 3], got [2, 4, 3, 5]")
        self.fails("chunk_gated_delta_rule", gated(use_gate_in_kernel=True, A_log=ones(3)), ValueError,
                   "expected A_log of shape [HV] = [4], got [3]")
        self.fails("chunk_gated_delta_rule", gated(use_gate_in_kernel=True, A_log=ones(4), dt_bias=ones(1)), ValueError,
                   "expected dt_bias of shape [HV] = [4], got [1]")

        self.fails("chunk_gated_delta_product", product(k=ones(2, 7, 4, 3)), ValueError,
                   "expected k of shape [B, T*n_h, H, K] = [2, 14, 4, 3], got [2, 7, 4, 3]")
        self.fails("chunk_gated_delta_product", product(v=ones(2, 7, 4, 5)), ValueError,
                   "expected v of shape [B, T*n_h, H, V], got [2, 7, 4, 5]")
        self.fails("chunk_gated_delta_product", product(beta=ones(2, 7, 4)), ValueError,
                   "expected beta of shape [B, T*n_h, H] = [2, 14, 4], got [2, 7, 4]")
        self.fails("chunk_gated_delta_product", product(g=ones(2, 14, 4)), ValueError,
                   "expected g of shape [B, T, H] = [2, 7, 4], got [2, 14, 4]")

        self.fails("selective_scan_fn", scan(u=ones(6, 7)), ValueError, "expected u of shape [B, D, L], got [6, 7]")
        self.fails("selective_scan_fn", scan(delta=ones(2, 7, 6)), ValueError,
                   "expected delta of shape [B, D, L] = [2, 6, 7], got [2, 7, 6]")
        self.fails("selective_scan_fn", scan(A=ones(5, 3)), ValueError, "expected A of shape [D, N], got [5, 3]")
        for name in ("B", "C"):
            self.fails("selective_scan_fn", scan(**{name: ones(2, 7, 3)}), ValueError,
                       f"expected {name} of shape [B, N, L] = [2, 3, 7], got [2, 7, 3]")
            self.fails("selective_scan_fn", scan(**{name: ones(7)}), ValueError,
                       f"expected {name} of shape [B, N, L], [B, G, N, L] or [D, N], got [7]")
            self.fails("selective_scan_fn", scan(**{name: ones(3, 6)}), ValueError,
                       f"expected {name} of shape [D, N] = [6, 3], got [3, 6]")
            self.fails("selective_scan_fn", scan(**{name: ones(2, 2, 4, 7)}), ValueError,
                       f"expected {name} of shape [B, G, N, L], got [2, 2, 4, 7]")
            self.fails("selective_scan_fn", scan(**{name: ones(2, 4, 3, 7)}), ValueError,
                       f"expected {name} with a number of groups that divides the 6 channels of u, got 4")
        self.fails("selective_scan_fn", scan(D=ones(7)), ValueError, "expected D of shape [D] = [6], got [7]")
        self.fails("selective_scan_fn", scan(z=ones(6, 7)), ValueError,
                   "expected z of shape [B, D, L] = [2, 6, 7], got [6, 7]")
        self.fails("selective_scan_fn", scan(delta_bias=ones(6, 1)), ValueError,
                   "expected delta_bias of shape [D] = [6], got [6, 1]")
        self.fails("selective_scan_fn", scan(initial_state=ones(2, 3, 6)), ValueError,
                   "expected initial_state of shape [S, D, N] = [2, 6, 3], got [2, 3, 6]")

    def test_types(self):
        ints, doubles = torch.ones(2, 7, 4, 3).long(), torch.ones(2, 7, 4, 3).double()
        halves = torch.ones(2, 7, 4).half()
        self.fails("chunk_delta_rule", delta(q=None), TypeError, "expected q as a tensor, got NoneType")
        self.fails("chunk_delta_rule", delta(q=ints), TypeError,
                   "expected q of float64, float32, bfloat16 or float16, got torch.int64")
        self.fails("chunk_delta_rule", delta(k=doubles), TypeError,
                   "expected k of q's dtype torch.float32, got torch.float64")
        self.fails("chunk_delta_rule", delta(q=doubles, k=doubles), TypeError,
                   "expected v of q's dtype torch.float64, got torch.float32")
        self.fails("chunk_delta_rule", delta(beta=0.5), TypeError, "expected beta as a tensor, got float")
        self.fails("chunk_delta_rule", delta(beta=halves), TypeError,
                   "expected beta of q's dtype torch.float32, got torch.float16")
        bf16 = {name: tensor.bfloat16() for name, tensor in delta().items()}
        self.fails("chunk_delta_rule", {**bf16, "beta": halves}, TypeError,
                   "expected beta of q's dtype torch.bfloat16 or float32, got torch.float16")
        self.fails("chunk_delta_rule", delta(scale=torch.tensor(1.0)), TypeError,
                   "expected scale as a number, got Tensor")
        self.fails("chunk_delta_rule", delta(initial_state=torch.ones(2, 4, 3, 5).double()), TypeError,
                   "expected initial_state of q's dtype torch.float32, got torch.float64")
        self.fails("chunk_gated_delta_rule", {**gated(), "g": None}, TypeError, "expected g as a tensor, got NoneType")
        self.fails("chunk_gated_delta_rule", gated(use_gate_in_kernel=True), TypeError,
                   "expected A_log as a tensor, got NoneType")
        self.fails("selective_scan_fn", scan(A=torch.ones(6, 3, dtype=torch.complex64)), TypeError,
                   "expected A of real numbers (complex states are not supported), got torch.complex64")
        self.fails("selective_scan_fn", scan(B=torch.ones(2, 3, 7).double()), TypeError,
                   "expected B of u's dtype torch.float32, got torch.float64")
        self.fails("selective_scan_fn", scan(C=3), TypeError, "expected C as a tensor, got int")

    def test_devices(self):
        self.fails("chunk_delta_rule", delta(beta=torch.ones(2, 7, 4, device="meta")), ValueError,
                   "expected beta on q's device cpu, got meta")
        self.fails("selective_scan_fn", scan(A=torch.ones(6, 3, device="meta")), ValueError,
                   "expected A on u's device cpu, got meta")

    def test_boundaries(self):
        one = {name: tensor[:1] for name, tensor in delta().items()}
        for values in ([0, 3], [1, 7], [0, 5, 4, 7], [7]):
            self.fails("chunk_delta_rule", {**one, "cu_seqlens": torch.tensor(values)}, ValueError,
                       f"expected cu_seqlens that rises from 0 to the 7 tokens of q, got {values}")
        self.fails("chunk_delta_rule", {**one, "cu_seqlens": [0, 7]}, TypeError,
                   "expected cu_seqlens as a tensor, got list")
        self.fails("chunk_delta_rule", {**one, "cu_seqlens": torch.tensor([0.0, 7.0])}, TypeError,
                   "expected cu_seqlens of int32 or int64, got torch.float32")
        self.fails("chunk_delta_rule", {**one, "cu_seqlens": torch.tensor([[0, 7]])}, ValueError,
                   "expected cu_seqlens of shape [N + 1], got [1, 2]")
        self.fails("chunk_delta_rule", delta(cu_seqlens=torch.tensor([0, 7])), ValueError,
                   "expected a batch of 1 with cu_seqlens: the sequences one after the other, got 2")
        self.fails("chunk_delta_rule", {**one, "cu_seqlens": torch.tensor([0, 2, 7]),
                                        "initial_state": torch.ones(1, 4, 3, 5)}, ValueError,
                   "expected initial_state of shape [N, H, K, V] = [2, 4, 3, 5], got [1, 4, 3, 5]")
        self.fails("selective_scan_fn", scan(cu_seqlens=torch.tensor([0, 7])), ValueError,
                   "expected a batch of 1 with cu_seqlens: the sequences one after the other, got 2")

    def test_too_many_tokens(self):
        shape = (2**16, 2**15, 1, 1)
        many = torch.ones(1).expand(shape)
        self.fails("chunk_delta_rule", dict(q=many, k=many, v=many, beta=many[..., 0]), ValueError,
                   "expected fewer than 2^31 tokens in a batch, got 2147483648")

    def test_values(self):
        self.fails("chunk_gated_delta_rule", gated(allow_neg_eigval=True), ValueError,
                   "expected use_beta_sigmoid_in_kernel with allow_neg_eigval (else double beta yourself), got False")
        for value in (0, 1.5):
            self.fails("chunk_gated_delta_product", product(num_householder=value), ValueError,
                       f"expected num_householder as an integer of at least 1, got {value}")


if __name__ == "__main__":
    unittest.main()
