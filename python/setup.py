"""Builds liblrnn_torch_ops.so with CMake, for the torch of the Python that runs this, and packs it with lrnn/*.py.

LRNN_TORCH_OPS=FILE packs that library instead. What is built stays in build/python: a second time compiles nothing.
"""

import os
import pathlib
import re
import shutil
import subprocess

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / "build" / "python"
LIBRARY = "liblrnn_torch_ops.so"


def version():
    return re.search(r'kVersion = "(.*)"', (ROOT / "lrnn" / "base" / "version.h").read_text()).group(1)


def build_library():
    import torch

    options = ["-DCMAKE_BUILD_TYPE=Release", "-DLRNN_TESTS=OFF"]
    prefix = torch.utils.cmake_prefix_path
    if os.path.isdir(prefix):  # Debian's torch names a folder that does not exist; CMake finds that torch by itself
        options.append(f"-DCMAKE_PREFIX_PATH={prefix}")
    subprocess.check_call(["cmake", "--fresh", "-S", ROOT, "-B", BUILD, "-G", "Ninja", *options])
    subprocess.check_call(["cmake", "--build", BUILD, "--target", "lrnn_torch_ops"])
    return BUILD / "python" / "lrnn" / LIBRARY


class BuildLibrary(build_ext):
    def get_ext_filename(self, fullname):
        return os.path.join(*fullname.split(".")[:-1], LIBRARY)

    def build_extension(self, extension):
        library = os.environ.get("LRNN_TORCH_OPS") or build_library()
        target = pathlib.Path(self.get_ext_fullpath(extension.name))
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(library, target)


shutil.rmtree(BUILD / "pip", ignore_errors=True)  # setuptools would pack what an earlier version left there
BUILD.mkdir(parents=True, exist_ok=True)
setup(
    version=version(),
    ext_modules=[Extension("lrnn.torch_ops", sources=[])],
    cmdclass={"build_ext": BuildLibrary},
    # Nothing is written beside the sources.
    options={"build": {"build_base": str(BUILD / "pip")}, "egg_info": {"egg_base": str(BUILD)}},
)
