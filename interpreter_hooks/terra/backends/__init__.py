"""Switches of other engines' backends, so that programs that set them run. Each is a module; what is set is kept."""

from .._names import lazily

__getattr__ = lazily(__name__, ("cpu", "cuda", "cudnn", "mha", "mkl", "mkldnn", "mps", "nnpack", "openmp", "opt_einsum", "quantized"))
