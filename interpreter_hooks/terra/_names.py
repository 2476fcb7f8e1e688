"""Names of the top level that are looked up when a program first uses them, and what is said of those that aren't there.

The tables say where a name lives; a new module or function needs a line in one of them."""

import importlib
import math
import sys

import _terra_C as C

from ._overridable import HOMES, NOT_OFFERED, offered

PACKAGE = __name__.rpartition(".")[0]

MODULES = frozenset((
    "_C", "_VF", "__config__", "__future__", "_dynamo", "_functorch", "_higher_order_ops", "_inductor", "_jit_internal", "_lobpcg", "_lowrank",
    "_subclasses", "_tensor", "_tensor_str", "_utils", "_vmap_internals", "ao", "compiler", "distributed", "export",
    "fft", "func", "functional", "futures", "fx", "hub", "jit", "library", "masked",
    "multiprocessing", "nested", "onnx", "ops", "overrides", "profiler", "quantization",
    "quasirandom", "return_types", "signal", "storage", "types", "xpu",
))  # fmt: skip

CONSTANTS = {
    "inf": math.inf, "nan": math.nan, "pi": math.pi, "e": math.e, "newaxis": None, "has_lapack": True, "has_mkl": False,
    "has_openmp": True, "has_spectral": True, "legacy_contiguous_format": C.contiguous_format,
}  # fmt: skip

_EACH = (
    "abs", "acos", "add", "addcdiv", "addcmul", "asin", "atan", "ceil", "clamp_max", "clamp_min", "cos", "cosh", "div", "erf", "erfc",
    "exp", "expm1", "floor", "frac", "lerp", "lgamma", "log", "log10", "log1p", "log2", "maximum", "minimum", "mul", "neg", "pow",
    "reciprocal", "round", "rsqrt", "sigmoid", "sign", "sin", "sinh", "sqrt", "sub", "tan", "tanh", "trunc",
)  # fmt: skip
FOREACH = (
    *("_foreach_" + name for name in _EACH), *(f"_foreach_{name}_" for name in _EACH), "_foreach_clone", "_foreach_copy_",
    "_foreach_zero_",
)  # fmt: skip

FUNCTIONS = {
    "_C": (
        "AnyType", "AwaitType", "BoolType", "ClassType", "ComplexType", "DeviceObjType", "DictType", "EnumType", "FloatType",
        "FutureType", "InterfaceType", "IntType", "ListType", "NoneType", "NumberType", "OptionalType", "PyObjectType",
        "RRefType", "StreamObjType", "StringType", "SymBoolType", "SymIntType", "TensorType", "TupleType", "UnionType",
    ),
    "_array_api": (
        "__array_api_version__", "__array_namespace_info__", "astype", "bitwise_invert", "broadcast_arrays", "cumulative_prod",
        "cumulative_sum", "expand_dims", "isdtype", "matrix_transpose", "permute_dims", "repeat", "take_along_axis", "unique_all",
        "unique_counts", "unique_inverse", "unique_values", "unstack", "vecdot",
    ),
    "_foreach": (*FOREACH, "_foreach_max", "_foreach_mm", "_foreach_norm"),
    "_quantized": (
        "_empty_affine_quantized", "_empty_per_channel_affine_quantized", "_make_per_channel_quantized_tensor", "_make_per_tensor_quantized_tensor", "dequantize", "fused_moving_avg_obs_fake_quant", "int_repr",
        "per_channel_affine", "per_channel_affine_float_qparams", "per_channel_symmetric", "per_tensor_affine", "per_tensor_symmetric",
        "q_per_channel_axis", "q_per_channel_scales", "q_per_channel_zero_points", "q_scale", "q_zero_point", "qscheme",
        "quantize_per_channel", "quantize_per_tensor", "quantize_per_tensor_dynamic",
    ),
    "_rare_functions": (
        "alias_copy", "as_strided_copy", "atleast_3d", "broadcast_shapes", "combinations", "cond", "detach_", "detach_copy", "diagonal_copy",
        "empty_permuted", "empty_strided", "expand_copy", "fake_quantize_per_channel_affine", "fake_quantize_per_tensor_affine", "frobenius_norm", "gradient", "gru_cell", "lstm_cell", "nan_to_num_", "narrow_copy", "native_layer_norm",
        "nonzero_static", "norm_except_dim", "nuclear_norm", "permute_copy", "range", "resize_as_", "rnn_relu_cell", "rnn_tanh_cell", "scalar_tensor", "_segment_reduce", "segment_reduce", "select_copy", "slice_copy", "split_copy",
        "split_with_sizes", "split_with_sizes_copy", "squeeze_copy", "t_copy", "transpose_copy", "unbind_copy", "unfold_copy", "unravel_index",
        "unsafe_chunk", "unsafe_split", "unsafe_split_with_sizes", "unsqueeze_copy", "view_as_complex_copy", "view_as_real_copy",
        "view_copy", "zero_",
    ),
    "_settings": (
        "are_deterministic_algorithms_enabled", "get_default_device", "get_deterministic_debug_mode",
        "get_float32_matmul_precision", "get_num_interop_threads", "is_deterministic_algorithms_warn_only_enabled",
        "is_warn_always_enabled", "set_default_device", "set_default_tensor_type", "set_deterministic_debug_mode",
        "set_float32_matmul_precision", "set_flush_denormal", "set_num_interop_threads", "set_warn_always",
        "use_deterministic_algorithms",
    ),
    "_predicates": (
        "_assert", "_assert_async", "_check", "_check_index", "_check_is_size", "_check_not_implemented", "_check_tensor_all", "_check_tensor_all_with", "_check_type",
        "_check_value", "_check_with", "compiled_with_cxx11_abi", "get_device", "is_complex", "is_conj", "is_distributed",
        "is_inference", "is_neg",
        "is_same_size", "is_signed", "is_storage", "is_vulkan_available", "typename",
        "get_device_module", "is_anomaly_check_nan_enabled", "is_anomaly_enabled",
    ),
    "_spectral": ("istft", "stft"),
    "_sym": ("sym_float", "sym_int", "sym_ite", "sym_max", "sym_min", "sym_not", "sym_sqrt", "sym_sum"),
    "_higher_order_ops": ("while_loop",),
    "_windows": ("bartlett_window", "blackman_window", "hamming_window", "hann_window", "kaiser_window"),
    "_sparse_functions": (
        "_convert_indices_from_coo_to_csr", "_convert_indices_from_csr_to_coo", "_sparse_coo_tensor_unsafe", "dsmm", "hsmm",
        "hspmm", "saddmm", "smm", "sparse_coo_tensor", "sparse_csc_tensor", "sparse_csr_tensor", "spmm", "sspaddmm",
    ),
    "amp": (
        "autocast_decrement_nesting", "autocast_increment_nesting", "clear_autocast_cache", "get_autocast_cpu_dtype",
        "get_autocast_dtype", "get_autocast_gpu_dtype", "is_autocast_available", "is_autocast_cache_enabled",
        "is_autocast_cpu_enabled", "is_autocast_enabled", "set_autocast_cache_enabled", "set_autocast_cpu_dtype",
        "set_autocast_cpu_enabled", "set_autocast_dtype", "set_autocast_enabled", "set_autocast_gpu_dtype", "GradScaler",
    ),
    "accelerator": ("AcceleratorError",),
    "serialization": ("PyTorchFileReader",),
    "cpu": ("Event", "Stream"),
    "futures": ("Future",),
    "jit": ("ScriptFunction", "ScriptModule"),
    "_layer_functions": (
        "adaptive_max_pool1d", "affine_grid_generator", "alpha_dropout", "alpha_dropout_", "batch_norm",
        "binary_cross_entropy_with_logits", "constant_pad_nd", "cosine_embedding_loss", "ctc_loss",
        "feature_alpha_dropout", "feature_alpha_dropout_", "feature_dropout", "feature_dropout_", "grid_sampler",
        "grid_sampler_2d", "grid_sampler_3d", "group_norm", "hinge_embedding_loss",
        "instance_norm", "kl_div", "layer_norm", "margin_ranking_loss", "poisson_nll_loss", "threshold",
        "triplet_margin_loss",
    ),
    "_histograms": ("histogram", "histogramdd"),
    "_native_functions": (
        "_cast_Byte", "_cast_Char", "_cast_Double", "_cast_Float", "_cast_Half", "_cast_Int", "_cast_Long", "_cast_Short", "_chunk_cat", "_dim_arange", "_log_softmax", "_log_softmax_backward_data", "_native_batch_norm_legit", "_shape_as_tensor", "_softmax", "_softmax_backward_data", "_unique2", "_unsafe_masked_index", "_unsafe_masked_index_put_accumulate", "_weight_norm", "convolution", "embedding_bag", "embedding_renorm_", "native_batch_norm", "native_dropout", "native_group_norm",
    ),
    "_mapped_files": ("from_file",),
    "_recurrent": ("gru", "lstm", "rnn_relu", "rnn_tanh"),
    "_lobpcg": ("lobpcg",),
    "_linear_algebra": ("chain_matmul", "eig", "lstsq", "lu", "pca_lowrank", "solve", "svd_lowrank", "symeig"),
    "func": ("vmap",),
    "nn.functional": (
        "adaptive_avg_pool1d", "avg_pool1d", "bilinear", "celu", "celu_", "conv_tbc", "hardshrink", "max_pool1d",
        "max_pool1d_with_indices", "native_channel_shuffle", "pairwise_distance", "pdist", "rrelu", "rrelu_",
        "threshold_",
    ),
    "types": ("SymBool", "SymFloat", "SymInt"),
    "utils.dlpack": ("from_dlpack", "to_dlpack"),
    "storage": (
        "BFloat16Storage", "BoolStorage", "ByteStorage", "CharStorage", "ComplexDoubleStorage", "ComplexFloatStorage",
        "DoubleStorage", "FloatStorage", "HalfStorage", "IntStorage", "LongStorage", "ShortStorage", "Storage", "TypedStorage",
        "UntypedStorage",
    ),
}  # fmt: skip
_HOME = {name: module for module, names in FUNCTIONS.items() for name in names}


def names():
    """Each name that `find` knows."""
    return *MODULES, *CONSTANTS, *_HOME


def find(name):
    """The attribute `name` of the package, which keeps it from then on."""
    package = sys.modules[PACKAGE]
    if name in MODULES:
        return importlib.import_module("." + name, PACKAGE)
    if name == "torch":  # PyTorch imports itself; some programs have come to say torch.torch
        value = package
    elif name in CONSTANTS:
        value = CONSTANTS[name]
    elif name in _HOME:
        value = getattr(importlib.import_module("." + _HOME[name], PACKAGE), name)
        if _HOME[name] in HOMES and name not in NOT_OFFERED:
            value = offered(value, package.__name__)
    else:
        raise missing(package, name, names())
    setattr(package, name, value)
    return value


def missing(module, name, more=()):
    """The AttributeError for `module.name`: what the user wrote, and the nearest name that there is."""
    shown = "torch" + module.__name__[len(PACKAGE) :]
    message = f"{shown}.{name} is not in Terra yet"
    if not name.startswith("_"):
        import difflib

        known = {n for n in (*dir(module), *more) if not n.startswith("_")}
        nearest = difflib.get_close_matches(name, known, 1, 0.7)
        if nearest:
            message += f"; the nearest name that is there is {shown}.{nearest[0]}"
    return AttributeError(message, name=name)


def lazily(module_name, submodules=(), functions=None):
    """The `__getattr__` of a subpackage: submodules by name, functions by {module: names}, else the error of missing()."""
    homes = {name: home for home, names in (functions or {}).items() for name in names}

    def __getattr__(name):
        module = sys.modules[module_name]
        if name in submodules:
            return importlib.import_module("." + name, module_name)
        if name in homes:
            value = getattr(importlib.import_module(homes[name], module_name), name)
            setattr(module, name, value)
            return value
        raise missing(module, name, (*submodules, *homes))

    return __getattr__
