#include "interpreter_hooks/bindings/autograd/autocast.h"

#include <optional>
#include <span>
#include <vector>

#include "engine/errors/errors.h"
#include "interpreter_hooks/bindings/calls/function_tables.h"
#include "interpreter_hooks/bindings/calls/observer.h"
#include "interpreter_hooks/bindings/objects/dtype_object.h"
#include "interpreter_hooks/bindings/tensor/tensor_object.h"

namespace terra::hooks {
namespace {

thread_local Autocast mode;

enum class Policy : uint8_t { none, lower, single, widest, padding, power };

/// Products and convolutions: most of the time of a network, and accurate enough in 16 bits.
constexpr std::string_view lower_ops[] = {
    "addbmm",
    "addmm",
    "baddbmm",
    "bmm",
    "conv1d",
    "conv2d_batched",
    "conv3d_batched",
    "conv_transpose1d",
    "conv_transpose2d",
    "conv_transpose3d",
    "corrcoef",
    "cov",
    "inner",
    "linalg_multi_dot",
    "linalg_vecdot",
    "linear",
    "matmul",
    "mm",
    "prelu",
    "scaled_dot_product_attention",
};

/// Sums of many terms, and what libraries compute in no less than 32 bits.
constexpr std::string_view single_ops[] = {
    "adaptive_avg_pool3d",
    "adaptive_max_pool3d_with_indices",
    "avg_pool3d",
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
    "cdist",
    "cholesky_inverse",
    "cholesky_solve",
    "cross_entropy",
    "fft_c2c",
    "fft_c2r",
    "fft_r2c",
    "geqrf",
    "huber_loss",
    "kl_div",
    "l1_loss",
    "linalg_cholesky",
    "linalg_cholesky_ex",
    "linalg_cond",
    "linalg_cond_named",
    "linalg_eigh",
    "linalg_eigvalsh",
    "linalg_householder_product",
    "linalg_inv",
    "linalg_inv_ex",
    "linalg_lstsq",
    "linalg_lu_solve",
    "linalg_matrix_rank",
    "linalg_matrix_rank_tol",
    "linalg_matrix_sqrth",
    "linalg_qr",
    "linalg_solve",
    "linalg_svd",
    "linalg_svdvals",
    "linalg_tensorinv",
    "linalg_tensorsolve",
    "lu_solve",
    "max_pool3d",
    "max_pool3d_with_indices",
    "mse_loss",
    "nanquantile",
    "nll_loss",
    "ormqr",
    "pinverse",
    "polar",
    "prod",
    "prod_dtype",
    "quantile",
    "smooth_l1_loss",
    "svd",
    "trace",
    "triangular_solve",
    "view_as_complex",
};

/// Ops whose operands have to be of one dtype.
constexpr std::string_view widest_ops[] = {"cat", "index_copy", "stack"};

/// Ops whose arguments decide.
constexpr std::string_view padding_ops[] = {"pad"};
constexpr std::string_view power_ops[] = {"linalg_matrix_power"};

std::vector<Policy> read_tables() {
  std::vector<Policy> all(all_ops().size(), Policy::none);
  const auto mark = [&all](std::span<const std::string_view> names, Policy policy) {
    for (const std::string_view name : names) {
      const Op* op = find_op(name);
      ensure(op != nullptr, "the tables of autocast name registered ops");
      all[op->id] = policy;
    }
  };
  mark(lower_ops, Policy::lower);
  mark(single_ops, Policy::single);
  mark(widest_ops, Policy::widest);
  mark(padding_ops, Policy::padding);
  mark(power_ops, Policy::power);
  return all;
}

Policy policy_of(const Op& op) {
  static const std::vector<Policy> policies = read_tables();
  return policies[op.id];
}

bool is_eligible(DType dtype) { return is_floating(dtype) && dtype != DType::F64; }

/// Of the ways of padding, those with kernels of their own in PyTorch.
bool pads_in_single(const Invocation& call) {
  if (call.args.size() < 3 || call.args[2].kind() != Arg::Kind::String) return false;
  const std::string_view way = call.args[2].text();
  return way == "replicate" || (way == "reflect" && call.args[1].ints().size() < 6);
}

/// Powers that are products.
bool multiplies(const Invocation& call) { return call.args[1].scalar().to_int() > 1; }

/// The dtype that a call of this policy computes in; none: what its operands have.
std::optional<DType> wanted(Policy policy, const Invocation& call) {
  if (policy == Policy::padding && !pads_in_single(call)) return {};
  if (policy == Policy::padding) return DType::F32;
  if (policy == Policy::power) return multiplies(call) ? std::optional(mode.dtype) : std::nullopt;
  if (policy == Policy::lower) return mode.dtype;
  if (policy == Policy::single) return DType::F32;
  DType widest = mode.dtype;
  const auto look = [&widest](DType dtype) {
    if (!is_eligible(dtype) || widest == DType::F32 || dtype == mode.dtype) return;
    check(dtype == DType::F32, "Unexpected floating ScalarType in at::autocast::prioritize");
    widest = DType::F32;
  };
  for (const Arg& arg : call.args) {
    if (arg.is_tensor()) look(arg.impl()->dtype);
    if (arg.kind() == Arg::Kind::TensorList)
      for (const Tensor& t : arg.tensors())
        if (t.defined()) look(t.dtype());
  }
  return widest;
}

/// Arguments in the dtype, as long as the call lives: the tensors that it makes are Python's too, so that observers
/// know them.
class Converted {
 public:
  Converted(const Invocation& call, DType dtype)
      : args_(call.args.begin(), call.args.end()), sources_(call.sources.begin(), call.sources.end()), dtype_(dtype) {
    lists_.reserve(args_.size());  // Args point into these
    for (size_t i = 0; i < args_.size(); ++i) {
      if (args_[i].is_tensor() && differs(args_[i].impl()->dtype)) {
        sources_[i] = convert(args_[i].tensor());
        args_[i] = Arg(tensor_of(sources_[i]));
      } else if (args_[i].kind() == Arg::Kind::TensorList) {
        auto& list = lists_.emplace_back(args_[i].tensors().begin(), args_[i].tensors().end());
        for (Tensor& t : list)
          if (t.defined() && differs(t.dtype())) t = tensor_of(convert(t));
        args_[i] = Arg(std::span<const Tensor>(list));
      }
    }
  }
  Converted(const Converted&) = delete;

  std::span<const Arg> args() const { return args_; }
  std::span<PyObject* const> sources() const { return sources_; }

 private:
  bool differs(DType dtype) const { return is_eligible(dtype) && dtype != dtype_; }
  PyObject* convert(const Tensor& tensor) {
    static const Op& to_dtype = required_op("to_dtype");
    const Object source = Object::steal(wrap(tensor));
    return held_.emplace_back(invoke_simple(to_dtype, {tensor, dtype_}, {source.get()})).get();
  }

  std::vector<Arg> args_;
  std::vector<PyObject*> sources_;  // borrowed: from the call, or from held_
  std::vector<std::vector<Tensor>> lists_;
  std::vector<Object> held_;
  const DType dtype_;
};

// ---- what the package builds its context manager from ----

/// The observer learns that a fact of this thread was read.
void read_mode() {
  if (OpObserver* observer = op_observer()) observer->on_mode_read();
}

Object is_enabled(PyObject*, PyObject*) {
  read_mode();
  return owned(PyBool_FromLong(mode.enabled));
}
Object dtype_now(PyObject*, PyObject*) {
  read_mode();
  return Object::share(dtype_object(mode.dtype));
}
Object set_mode(PyObject*, PyObject* const* args, Py_ssize_t count) {
  if (count != 2 || !is_dtype(args[1])) raise(PyExc_TypeError, "_set_autocast() takes a bool and a dtype");
  read_mode();
  mode = {succeeded(PyObject_IsTrue(args[0])) != 0, *dtype_from(args[1])};
  return Object::share(Py_None);
}

/// For functions that are written in Python: one tensor, or a tuple.
Object converted(PyObject* const* args, Py_ssize_t count, DType dtype) {
  static const Op& to_dtype = required_op("to_dtype");
  Object all = owned(PyTuple_New(count));
  for (Py_ssize_t i = 0; i < count; ++i) {
    Object value = Object::share(args[i]);
    if (is_tensor(args[i])) {
      const DType now = impl_of(args[i])->dtype;
      if (OpObserver* observer = op_observer()) observer->on_metadata(args[i], "dtype", dtype_object(now), 0);
      if (mode.enabled && is_eligible(now) && now != dtype)
        value = invoke_simple(to_dtype, {tensor_of(args[i]), dtype}, {args[i]});
    }
    if (count == 1) return value;
    PyTuple_SET_ITEM(all.get(), i, value.release());
  }
  return all;
}
Object in_single(PyObject*, PyObject* const* args, Py_ssize_t count) { return converted(args, count, DType::F32); }
Object in_lower(PyObject*, PyObject* const* args, Py_ssize_t count) { return converted(args, count, mode.dtype); }

}  // namespace

Autocast autocast() { return mode; }
void set_autocast(Autocast now) { mode = now; }

bool casts_operands(const Op& op, bool in_place) { return mode.enabled && !in_place && policy_of(op) != Policy::none; }

Object invoke_autocast(const Invocation& call) {
  const std::optional<DType> dtype = wanted(policy_of(call.op), call);
  if (!dtype) return invoke(call);
  const Converted converted(call, *dtype);
  return invoke({call.op, call.in_place, converted.args(), converted.sources(), call.positional, call.name});
}

PyMethodDef autocast_functions[] = {
    {"_autocast_enabled", method<is_enabled>(), METH_NOARGS, "Whether calls of this thread convert their operands."},
    {"_autocast_dtype", method<dtype_now>(), METH_NOARGS, "What they are converted to."},
    {"_in_single", method<in_single>(), METH_FASTCALL,
     "The tensors, in float32 where calls convert their operands (those of float64 aside)."},
    {"_in_lower", method<in_lower>(), METH_FASTCALL, "The same in the dtype of products."},
    {"_set_autocast", method<set_mode>(), METH_FASTCALL, "Changes both."},
    {}};

}  // namespace terra::hooks
