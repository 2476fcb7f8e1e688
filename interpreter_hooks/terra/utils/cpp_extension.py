"""C++ extensions of PyTorch need its headers, which are not there."""

from .._missing_parts import sentences
from .._names import lazily

CUDA_HOME = None
_NAMES = ("BuildExtension", "CUDAExtension", "CppExtension", "include_paths", "library_paths", "load", "load_inline")
globals().update(sentences("torch.utils.cpp_extension", _NAMES, "Terra can't build extensions that include PyTorch's headers"))

__getattr__ = lazily(__name__)
