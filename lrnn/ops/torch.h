// What lrnn uses of libtorch: tensors, autograd and modules.
//
// torch/torch.h has the optimisers, data loaders and ready-made modules in it, too; each file that includes it takes
// twice as long to compile, even precompiled. This header is precompiled (cmake/LrnnComponent.cmake).
#pragma once

#include <torch/autograd.h>
#include <torch/nn/module.h>
#include <torch/nn/pimpl.h>
#include <torch/types.h>
#include <torch/utils.h>
