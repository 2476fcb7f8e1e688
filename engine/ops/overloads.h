// Python names that stand for several ops, as they do in PyTorch: which op gets which arguments.
//
// Rules of the binding that hold for every name, listed here or not:
//  - parameter `self` may be passed as `input`, `dim` as `axis`, `keepdim` as `keepdims`;
//  - an int is accepted for int[] and int[1], a bool never for an int; int[2] wants one int or two;
//  - int[] *size is a list, or the last arguments of a method or a factory: x.permute(1, 0), but permute(x, (1, 0));
//  - a function of terra.nn.functional whose op has kInPlace takes a further last parameter `inplace`;
//  - an op without result names returns its first result only (the others are for its gradient), Tensor[] is a tuple;
//  - an op with kInPlace has the method name_, also where neither kFunction nor kMethod is set;
//  - a tensor stands for a number only where no overload takes it as a tensor, except those that are the last resort;
//    a flag without default must be True.
#pragma once
#include <string_view>

#include "engine/ops/op.h"

namespace terra {

/// `name` called with some arguments means the first of `ops` whose signature accepts them by number, keyword and type.
/// An entry takes precedence over records of that name in the places it names. The method name_ exists if every op
/// listed has kInPlace. An entry whose own name ends in _ stands for the in-place forms of its ops.
struct Overload {
  std::string_view name;
  uint32_t where;  ///< kFunction, kMethod, kFunctional
  std::string_view ops[4];
};

inline constexpr Overload kOverloads[] = {
    {"arange", kFunction, {"arange_to", "arange"}},
    {"argwhere", kFunction | kMethod, {"nonzero"}},
    {"bernoulli", kFunction | kMethod, {"bernoulli_each", "bernoulli_fresh"}},
    {"bernoulli_", kMethod, {"bernoulli_by", "bernoulli"}},
    {"bucketize", kFunction, {"bucketize", "bucketize_number"}},
    {"clamp", kFunction | kMethod, {"clamp", "clamp_tensor"}},
    {"clip", kFunction | kMethod, {"clamp", "clamp_tensor"}},
    {"conv2d", kFunction | kFunctional, {"conv2d_batched"}},
    {"conv3d", kFunction | kFunctional, {"conv3d_batched"}},
    {"copy_", kMethod, {"copy", "fill"}},
    {"cumprod", kFunction | kMethod, {"cumprod", "cumprod_dtype"}},
    {"cumsum", kFunction | kMethod, {"cumsum", "cumsum_dtype"}},
    {"cumulative_trapezoid", kFunction, {"cumulative_trapezoid", "cumulative_trapezoid_x"}},
    {"dsplit", kFunction | kMethod, {"dsplit", "dsplit_at"}},
    {"fill", kFunction, {"fill", "fill_tensor"}},
    {"float_power_", kMethod, {"float_power_here"}},
    {"hsplit", kFunction | kMethod, {"hsplit", "hsplit_at"}},
    {"linalg_cond", kFunction, {"linalg_cond", "linalg_cond_named"}},
    {"linalg_matrix_norm", kFunction, {"linalg_matrix_norm", "linalg_matrix_norm_named"}},
    {"linalg_matrix_rank", kFunction, {"linalg_matrix_rank", "linalg_matrix_rank_tol"}},
    {"linalg_norm", kFunction, {"linalg_norm", "linalg_norm_named"}},
    {"linalg_pinv", kFunction, {"linalg_pinv", "linalg_pinv_rcond"}},
    {"linspace", kFunction, {"linspace", "linspace_tensors"}},
    {"log_softmax", kFunction | kMethod | kFunctional, {"log_softmax", "log_softmax_dtype"}},
    {"logspace", kFunction, {"logspace", "logspace_tensors"}},
    {"index_fill", kFunction | kMethod, {"index_fill", "index_fill_tensor"}},
    {"index_put", kFunction | kMethod, {"index_put_masked"}},
    {"masked_fill", kFunction | kMethod, {"masked_fill_tensor", "masked_fill"}},
    {"max", kFunction | kMethod, {"max_all", "max_with_index", "maximum"}},
    {"median", kFunction | kMethod, {"median_all", "median_with_index"}},
    {"min", kFunction | kMethod, {"min_all", "min_with_index", "minimum"}},
    {"nanmedian", kFunction | kMethod, {"nanmedian_all", "nanmedian_with_index"}},
    {"narrow", kFunction | kMethod, {"narrow", "narrow_tensor"}},
    {"nonzero", kFunction | kMethod, {"nonzero_tuple", "nonzero"}},
    {"norm", kFunction | kMethod, {"norm", "norm_named"}},
    {"normal", kFunction, {"normal_sized", "normal_tensors"}},
    {"polygamma", kFunction, {"polygamma"}},
    {"polygamma", kMethod, {"polygamma_method"}},
    {"prod", kFunction | kMethod, {"prod", "prod_dtype"}},
    {"randint", kFunction, {"randint_to", "randint"}},
    {"random_", kMethod, {"random_any", "random_to", "random_range"}},
    {"repeat_interleave", kFunction, {"repeat_interleave", "repeat_interleave_tensor", "repeat_interleave_counts"}},
    {"repeat_interleave", kMethod, {"repeat_interleave", "repeat_interleave_tensor"}},
    {"round", kFunction | kMethod, {"round", "round_decimals"}},
    {"scatter", kFunction | kMethod, {"scatter", "scatter_value", "scatter_named", "scatter_value_named"}},
    {"searchsorted", kFunction, {"searchsorted", "searchsorted_number"}},
    {"softmax", kFunction | kMethod | kFunctional, {"softmax", "softmax_dtype"}},
    {"split", kFunction | kMethod, {"split", "split_sizes"}},
    {"std_mean", kFunction, {"std_mean", "std_mean_unbiased", "std_mean_dim_unbiased"}},
    {"std", kFunction | kMethod, {"std", "std_unbiased", "std_dim_unbiased"}},
    {"sum", kFunction | kMethod, {"sum", "sum_dtype"}},
    {"trapezoid", kFunction, {"trapezoid", "trapezoid_x"}},
    {"trapz", kFunction, {"trapezoid", "trapezoid_x"}},
    {"unique", kFunction | kMethod, {"unique_inverse_counts", "unique_inverse", "unique_counts", "unique"}},
    {"unique_consecutive",
     kFunction | kMethod,
     {"unique_consecutive_inverse_counts", "unique_consecutive_inverse", "unique_consecutive_counts",
      "unique_consecutive"}},
    {"tensor_split", kFunction | kMethod, {"tensor_split", "tensor_split_at", "tensor_split_tensor"}},
    {"var_mean", kFunction, {"var_mean", "var_mean_unbiased", "var_mean_dim_unbiased"}},
    {"var", kFunction | kMethod, {"var", "var_unbiased", "var_dim_unbiased"}},
    {"view", kMethod, {"view", "view_dtype"}},
    {"vsplit", kFunction | kMethod, {"vsplit", "vsplit_at"}},
    {"where", kFunction, {"where", "where_true"}},
    {"where", kMethod, {"where_method"}},
};

/// An op (or an entry above) whose name begins so is no function of the package but one of a module of that name,
/// without the beginning, and no method; its other names are found where its flags say.
inline constexpr std::string_view kModuleOfOps = "linalg_";

/// Methods that convert: x.float() is to_dtype(x, float32).
struct Conversion {
  std::string_view method;
  DType dtype;
};

inline constexpr Conversion kConversions[] = {
    {"bfloat16", DType::BF16}, {"bool", DType::Bool}, {"byte", DType::U8}, {"char", DType::I8},  {"double", DType::F64},
    {"float", DType::F32},     {"half", DType::F16},  {"int", DType::I32}, {"long", DType::I64}, {"short", DType::I16},
};

/// What the syntax of Python calls. `x[i]` and `x[i] = v` first apply integers, slices, None and ... through the view
/// ops; tensors, masks and lists that remain go as one list (undefined for ':') to these two.
inline constexpr std::string_view kGetItem = "advanced_index";
inline constexpr std::string_view kSetItem = "advanced_index_put";

/// Special methods: `swapped` is set for the reflected form (__rsub__: other - self).
struct SpecialMethod {
  std::string_view method, op;
  bool swapped = false, in_place = false;
};

inline constexpr SpecialMethod kSpecialMethods[] = {
    {"__abs__", "abs"},
    {"__add__", "add"},
    {"__and__", "bitwise_and"},
    {"__eq__", "eq"},
    {"__floordiv__", "floor_divide"},
    {"__ge__", "ge"},
    {"__gt__", "gt"},
    {"__iadd__", "add", false, true},
    {"__iand__", "bitwise_and", false, true},
    {"__ifloordiv__", "floor_divide", false, true},
    {"__ilshift__", "bitwise_left_shift", false, true},
    {"__imod__", "remainder", false, true},
    {"__imul__", "mul", false, true},
    {"__invert__", "bitwise_not"},
    {"__ior__", "bitwise_or", false, true},
    {"__ipow__", "pow", false, true},
    {"__irshift__", "bitwise_right_shift", false, true},
    {"__isub__", "sub", false, true},
    {"__itruediv__", "true_divide", false, true},
    {"__ixor__", "bitwise_xor", false, true},
    {"__le__", "le"},
    {"__lshift__", "bitwise_left_shift"},
    {"__lt__", "lt"},
    {"__matmul__", "matmul"},
    {"__mod__", "remainder"},
    {"__mul__", "mul"},
    {"__ne__", "ne"},
    {"__neg__", "neg"},
    {"__or__", "bitwise_or"},
    {"__pow__", "pow"},
    {"__radd__", "add", true},
    {"__rand__", "bitwise_and", true},
    {"__rfloordiv__", "floor_divide", true},
    {"__rlshift__", "bitwise_left_shift", true},
    {"__rmatmul__", "matmul", true},
    {"__rmod__", "remainder", true},
    {"__rmul__", "mul", true},
    {"__ror__", "bitwise_or", true},
    {"__rpow__", "pow", true},
    {"__rrshift__", "bitwise_right_shift", true},
    {"__rshift__", "bitwise_right_shift"},
    {"__rsub__", "sub", true},
    {"__rtruediv__", "true_divide", true},
    {"__rxor__", "bitwise_xor", true},
    {"__sub__", "sub"},
    {"__truediv__", "true_divide"},
    {"__xor__", "bitwise_xor"},
};

}  // namespace terra
