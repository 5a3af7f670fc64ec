"""Loads liblrnn_torch_ops.so, which lies beside this file and registers torch.ops.lrnn."""

import os

import torch

PATH = os.path.join(os.path.dirname(os.path.abspath(__file__)), "liblrnn_torch_ops.so")

try:
    torch.ops.load_library(PATH)
except OSError as error:
    raise ImportError(
        f"lrnn: {PATH} does not load into torch {torch.__version__}. It has to be built with this very torch: "
        f"see docs/python.md. The loader says: {error}"
    ) from error


def version():
    return torch.ops.lrnn.version()
