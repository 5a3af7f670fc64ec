"""A function of `lrnn` against its loop in `lrnn.naive`: outputs and the gradients of every tensor."""

import inspect

import torch

import lrnn

TOLERANCE = {torch.float64: 1e-11, torch.float32: 2e-5, torch.bfloat16: 2**-7, torch.float16: 2**-10}


def random(*shape, seed=0, dtype=torch.float64):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64).to(dtype)


def results_and_gradients(function, tensors, options):
    """Results as a list, {name: gradient} of a fixed weighting of all of them."""
    leaves = {name: tensor.detach().clone().requires_grad_() for name, tensor in tensors.items()}
    results = function(**leaves, **options)
    results = [results] if isinstance(results, torch.Tensor) else [x for x in results if x is not None]
    loss = sum((x.double() * random(*x.shape, seed=i + 1)).sum() for i, x in enumerate(results))
    # A loop over no token uses no tensor: its gradients are zeros, not missing.
    loss = loss + sum((0 * leaf.double()).sum() for leaf in leaves.values())
    return results, dict(zip(leaves, torch.autograd.grad(loss, list(leaves.values()))))


def assert_close(test, actual, expected, message):
    test.assertEqual(actual.dtype, expected.dtype, message)
    test.assertEqual(actual.shape, expected.shape, message)
    if actual.numel() == 0:
        return
    test.assertTrue(torch.isfinite(actual).all(), message)
    scale = max(1.0, expected.abs().max().item())
    error = (actual.double() - expected.double()).abs().max().item()
    test.assertLessEqual(error, TOLERANCE[actual.dtype] * scale, message)


def assert_like_naive(test, name, tensors, **options):
    """Gives the results of lrnn's function."""
    actual, actual_gradients = results_and_gradients(getattr(lrnn, name), tensors, options)
    expected, expected_gradients = results_and_gradients(getattr(lrnn.naive, name), tensors, options)
    test.assertEqual(len(actual), len(expected))
    for i, (a, e) in enumerate(zip(actual, expected)):
        assert_close(test, a, e, f"result {i} of {name}")
    for argument in tensors:
        assert_close(test, actual_gradients[argument], expected_gradients[argument], f"gradient of {argument}")
    return actual


def names_of_arguments(function):
    return list(inspect.signature(function).parameters.values())
