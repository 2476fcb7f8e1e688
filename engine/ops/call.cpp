#include "engine/ops/call.h"

#include <optional>

#include "engine/errors/errors.h"
#include "engine/memory/inline_array.h"
#include "engine/ops/composition.h"
#include "engine/ops/devices.h"
#include "engine/ops/draws.h"
#include "engine/ops/emitter.h"
#include "engine/ops/halves.h"
#include "engine/ops/inference.h"
#include "engine/ops/layout.h"
#include "engine/ops/overlap.h"
#include "engine/ops/refusals.h"
#include "engine/ops/rules.h"
#include "engine/profile/scope.h"

namespace terra {
namespace {

thread_local bool grad_asked_for = true;
thread_local bool grad_mode = true;  // and not in inference mode

/// A call's arguments once completed and converted. Holds the converted tensors alive.
struct Prepared {
  explicit Prepared(const Op& op) : count(op.sig().params.size()), args(count) {}

  const size_t count;
  InlineArray<Arg, kMaxParams> args;
  DType common = DType::F32;
  DType half = DType::F32;    ///< the dtype of 16 bits that results with fractions go back to; F32: none
  bool keeps_halves = false;  ///< the emitter gets floats of 16 bits as they are, though the kernel doesn't
  std::vector<Tensor> converted;
  std::vector<std::vector<Tensor>> converted_lists;  ///< whose elements stay where they are when the lists move

  std::span<const Arg> span() const { return {args.data(), count}; }
};

/// Result metadata of the call in progress; one per nesting depth, kept between calls.
class MetaScratch {
 public:
  MetaScratch() {
    auto& p = pool();
    if (p.empty()) p.emplace_back();
    metas = std::move(p.back());
    p.pop_back();
    metas.clear();
  }
  ~MetaScratch() { pool().push_back(std::move(metas)); }
  MetaScratch(const MetaScratch&) = delete;

  std::vector<ResultMeta> metas;

 private:
  static std::vector<std::vector<ResultMeta>>& pool() {
    static thread_local std::vector<std::vector<ResultMeta>> p;
    return p;
  }
};

const Op& to_dtype_op() {
  static const Op* op = find_op("to_dtype");
  ensure(op != nullptr, "the op 'to_dtype' is registered");
  return *op;
}

const Op& copy_op() {
  static const Op* op = find_op("copy");
  ensure(op != nullptr, "the op 'copy' is registered");
  return *op;
}

const Op& clone_op() {
  static const Op* op = find_op("clone");
  ensure(op != nullptr, "the op 'clone' is registered");
  return *op;
}

void complete(const Op& op, std::span<const Arg> args, Prepared& p) {
  const auto& params = op.sig().params;
  ensure(args.size() <= params.size(), "an op is called with at most as many arguments as it has parameters");
  std::copy(args.begin(), args.end(), p.args.data());
  for (size_t i = 0; i < args.size(); ++i)  // `{}` in C++ is a list without numbers, and stands for nothing elsewhere
    if (args[i].kind() == Arg::Kind::IntList && args[i].ints().empty() && params[i].type != ParamType::IntList)
      p.args[i] = Arg();
  for (size_t i = args.size(); i < params.size(); ++i) {
    if (!params[i].has_default && !params[i].optional)
      fail(ErrorKind::TypeError, "{}() missing required argument '{}' (pos {})", op.name, params[i].name, i + 1);
    p.args[i] = params[i].default_value;
  }
}

bool takes_part(const Op& op, size_t i) {
  const ParamType type = op.sig().params[i].type;
  return (op.promoted >> i & 1) &&
         (type == ParamType::Tensor || type == ParamType::TensorOrNumber || type == ParamType::TensorList);
}

/// An attribute takes part in promotion, though it isn't converted, where the record names it (the bounds of clamp).
bool promotes(const Op& op, size_t i) {
  return op.promoted != ~0u && (op.promoted >> i & 1) && op.sig().params[i].type == ParamType::Number;
}

DType common_dtype(const Op& op, const Prepared& p) {
  InlineArray<Arg, kMaxParams> operands(p.count);
  size_t n = 0;
  for (size_t i = 0; i < p.count; ++i)
    if (takes_part(op, i) || promotes(op, i)) operands[n++] = p.args[i];
  // The overwhelmingly common case: every operand has the dtype of the first.
  bool same = n > 0 && operands[0].is_tensor() && !operands[0].impl()->wrapped_number;
  for (size_t i = 1; same && i < n; ++i)
    same = operands[i].is_none() || (operands[i].is_tensor() && operands[i].impl()->dtype == operands[0].impl()->dtype);
  DType t = same ? operands[0].impl()->dtype : result_type({operands.data(), n});
  if (op.promotion == Promotion::Floating && !is_inexact(t)) t = default_dtype();
  return t;
}

void convert(Prepared& p, size_t i, DType dtype) {
  Arg& a = p.args[i];
  if (a.is_tensor() && a.impl()->dtype != dtype) {
    p.converted.push_back(to_dtype_op()(a, dtype));
    a = Arg(p.converted.back());
  } else if (a.kind() == Arg::Kind::TensorList) {
    bool differs = false;
    for (const Tensor& t : a.tensors()) differs |= t.defined() && t.dtype() != dtype;
    if (!differs) return;
    auto& list = p.converted_lists.emplace_back(a.tensors().begin(), a.tensors().end());
    for (Tensor& t : list)
      if (t.defined() && t.dtype() != dtype) t = to_dtype_op()(t, dtype);
    a = Arg(std::span<const Tensor>(list));
  }
}

/// The dtype of the first operand of 16 bits in it; F32: there is none.
DType half_in(const Arg& a) {
  if (a.is_tensor()) return is_half(a.impl()->dtype) ? a.impl()->dtype : DType::F32;
  if (a.kind() == Arg::Kind::TensorList)
    for (const Tensor& t : a.tensors())
      if (t.defined() && is_half(t.dtype())) return t.dtype();
  return DType::F32;
}

/// Tensors of 16 bits become what kernels compute in, others stay what they are.
void convert_halves(Prepared& p, size_t i) {
  if (p.args[i].is_tensor()) return convert(p, i, computed_in(p.args[i].impl()->dtype));
  auto& list = p.converted_lists.emplace_back(p.args[i].tensors().begin(), p.args[i].tensors().end());
  for (Tensor& t : list)
    if (t.defined() && is_half(t.dtype())) t = to_dtype_op()(t, computed_in(t.dtype()));
  p.args[i] = Arg(std::span<const Tensor>(list));
}

/// The dtype of 16 bits that all operands with fractions have; F32 if they differ or have another one.
DType common_half(std::span<const Arg> args) {
  DType found = DType::F32;
  bool one = true;
  const auto look = [&](DType t) {
    one &= !is_inexact(t) || found == DType::F32 || found == t;
    if (is_inexact(t)) found = t;
    one &= !is_inexact(t) || is_half(t);
  };
  for (const Arg& a : args) {
    if (a.is_tensor() && !a.impl()->wrapped_number) look(a.impl()->dtype);
    if (a.kind() == Arg::Kind::TensorList)
      for (const Tensor& t : a.tensors())
        if (t.defined()) look(t.dtype());
  }
  return one ? found : DType::F32;
}

/// Whether some floating operands have 16 bits and others more.
bool mixes_floats(std::span<const Arg> args) {
  bool narrow = false, wide = false;
  for (const Arg& a : args) {
    if (!a.is_tensor()) continue;
    narrow |= is_half(a.impl()->dtype);
    wide |= is_floating(a.impl()->dtype) && !is_half(a.impl()->dtype);
  }
  return narrow && wide;
}

void check_no_bool(const Prepared& p) {
  if (p.common == DType::Bool) return;  // the shape rule's to refuse
  for (const Arg& a : p.span()) {
    const bool number = a.kind() == Arg::Kind::Scalar && a.scalar().kind() == Scalar::Kind::Bool;
    check_kind(
        !number && (!a.is_tensor() || a.impl()->dtype != DType::Bool), ErrorKind::NotImplementedError,
        "Subtraction, the `-` operator, with a bool tensor is not supported. If you are trying to invert a mask, "
        "use the `~` or `logical_not()` operator instead.");
  }
}

void check_no_integer_division(const Prepared& p) {
  const auto is_whole = [](const Arg& a) { return a.is_tensor() && is_integral(a.impl()->dtype, true); };
  check(!is_whole(p.args[1]) || !is_whole(p.args[2]),
        "Integer division with addcdiv is no longer supported, and in a future  release addcdiv will perform a true "
        "division of tensor1 and tensor2. The historic addcdiv behavior can be implemented as (input + value * "
        "torch.trunc(tensor1 / tensor2)).to(input.dtype) for integer inputs and as (input + value * tensor1 / tensor2) "
        "for float inputs. The future addcdiv behavior is just the latter implementation: (input + value * tensor1 / "
        "tensor2), for all dtypes.");
}

bool any_requires_gradient(std::span<const Arg> args) {
  for (const Arg& a : args) {
    if (a.is_tensor()) {
      if (a.impl()->requires_grad()) return true;
    } else if (a.kind() == Arg::Kind::TensorList) {
      for (const Tensor& t : a.tensors())
        if (t.defined() && t.requires_grad()) return true;
    }
  }
  return false;
}

bool wants_gradient(const Op& op, std::span<const Arg> args) {
  return grad_mode && op.gradient && !op.is(kNoGradient) && any_requires_gradient(args);
}

/// Whether the emitter is to get floats of 16 bits as they are: all tensors are such, on the host, and no gradient will
/// ask for what they were converted to.
bool keeps_halves(const Op& op, const Prepared& p, DType half) {
  if (!is_floating(half) || wants_gradient(op, p.span()) || !current_emitter().widens(op)) return false;
  bool all = true;
  each_tensor(p.span(), [&](const TensorImpl& t) { all &= t.dtype == half && t.device.is_cpu(); });
  return all;
}

/// Brings the operands to the dtypes that the kernel computes in.
void promote(const Op& op, Prepared& p) {
  if (op.promotion != Promotion::None) {
    p.common = common_dtype(op, p);
    if (op.is(kRefusesBool)) check_no_bool(p);
    if (op.name == "addcdiv") check_no_integer_division(p);
    if (is_half(p.common) && !op.is(kMovesBytes) && !(p.keeps_halves = keeps_halves(op, p, p.common))) {
      p.half = p.common;
      p.common = computed_in(p.common);
    }
    for (size_t i = 0; i < p.count; ++i)
      if (takes_part(op, i)) convert(p, i, p.common);
  } else if (!op.is(kMovesBytes | kView | kHost) && !(op.is(kSameFloats) && mixes_floats(p.span()))) {
    for (size_t i = 0; i < p.count; ++i) {
      const DType half = half_in(p.args[i]);
      if (half == DType::F32 || takes_as_it_is(op, half)) continue;
      if (op.is(kReduction) && (p.keeps_halves = keeps_halves(op, p, half))) continue;
      p.half = half;
      convert_halves(p, i);
    }
  }
}

/// A composite computes operands of 16 bits as kernels do from its operands to its results, unless it is asked for a
/// dtype.
void promote_composite(const Op& op, Prepared& p) {
  if (op.promotion != Promotion::None) return promote(op, p);
  if (op.is(kMovesBytes | kMayAlias)) return;
  bool any = false;
  for (size_t i = 0; i < p.count; ++i) {
    if (p.args[i].kind() == Arg::Kind::DType) return;
    any |= half_in(p.args[i]) != DType::F32;
  }
  if (!any || (p.half = common_half(p.span())) == DType::F32) return;
  for (size_t i = 0; i < p.count; ++i)
    if (half_in(p.args[i]) != DType::F32) convert_halves(p, i);
}

/// The node of a result that goes back to 16 bits is the conversion's, which takes the name of the one before.
void to_half(const Prepared& p, std::span<Tensor> results) {
  if (p.half == DType::F32) return;
  for (Tensor& r : results) {
    if (r.dtype() != DType::C64 && r.dtype() != DType::F32) continue;
    r = to_dtype_op()(r, is_complex(r.dtype()) ? complex_dtype_of(p.half) : real_dtype_of(p.half));
    if (grad_mode && r.requires_grad()) tape_hooks().name(r, "", nullptr, {});
  }
}

/// A kernel never sees complex numbers that its record doesn't admit.
void check_complex(const Op& op, const Prepared& p) {
  if (op.is(kComplex | kView | kMovesBytes)) return;
  each_tensor(p.span(), [&](const TensorImpl& t) {
    if (is_complex(t.dtype) && !takes(op, t.dtype)) refuse(op, t.dtype);
  });
  for (size_t i = 0; i < p.count; ++i)
    if (op.sig().params[i].type == ParamType::Number && p.args[i].kind() == Arg::Kind::Scalar)
      check(!p.args[i].scalar().is_complex(), "value cannot be converted to type double without overflow");
}

/// Nor barebones integers, which PyTorch finds out once shapes are known to fit; that holds for factories, too.
void check_barebones(const Op& op, const Prepared& p) {
  const auto look = [&op](DType dtype) {
    if (is_barebones(dtype) && !takes(op, dtype)) [[unlikely]]
      refuse(op, dtype);
  };
  each_tensor(p.span(), [&](const TensorImpl& t) { look(t.dtype); });
  if (!op.is(kFactory)) return;
  for (const Arg& a : p.span())
    if (a.kind() == Arg::Kind::DType) look(a.dtype());
}

void check_integers(const Op& op, const Prepared& p) {
  if (p.count == 0 || !p.args[0].is_tensor() || !is_integral(p.args[0].impl()->dtype, true)) [[likely]]
    return;
  bool all = refuses_integers(op);
  each_tensor(p.span(), [&all](const TensorImpl& t) { all &= is_integral(t.dtype, true); });
  if (all) refuse(op, p.args[0].impl()->dtype);
}

/// Elements of bcomplex32 are moved, converted and compared, and there is no arithmetic that makes them.
void check_bcomplex(const Op& op, const Prepared& p, std::span<const ResultMeta> metas) {
  if (p.half != DType::BF16 && p.half != DType::BC32) [[likely]]
    return;
  const bool makes = std::any_of(metas.begin(), metas.end(), [](const ResultMeta& m) { return is_complex(m.dtype); });
  if (makes && !takes(op, DType::BC32)) refuse(op, DType::BC32);
}

void infer(const Op& op, Prepared& p, std::vector<ResultMeta>& metas) {
  const Device device = device_of(op, p.span());
  if (op.is(kHost)) return check_barebones(op, p);
  Inference inference(op, p.span(), p.common, metas);
  op.shape(inference);
  check_barebones(op, p);
  check_bcomplex(op, p, metas);
  if (!op.is(kView)) lay_out_results(op, p.span(), metas);
  if (!device.is_cpu()) [[unlikely]]
    for (ResultMeta& m : metas) m.device = device;
  if (op.is(kMovesBytes | kView) || p.keeps_halves) return;
  for (ResultMeta& m : metas)  // a factory was asked for them
    if (is_half(m.dtype) && !takes_as_it_is(op, m.dtype)) {
      p.half = m.dtype;
      m.dtype = computed_in(m.dtype);
    }
}

/// Runs an op whose record says that it replaces the values of some parameters (optimizer updates).
void call_writing(const Op& op, Prepared& p, std::vector<Tensor>& results) {
  std::vector<Tensor> targets;
  for (size_t i = 0; i < p.count; ++i) {
    if (!(op.writes >> i & 1) || p.args[i].is_none()) continue;
    if (p.args[i].is_tensor())
      targets.push_back(p.args[i].tensor());
    else
      targets.insert(targets.end(), p.args[i].tensors().begin(), p.args[i].tensors().end());
  }
  for (const Tensor& t : targets) check_distinct_elements(t);
  MetaScratch scratch;
  infer(op, p, scratch.metas);
  if (grad_mode)
    for (const Tensor& t : targets) tape_hooks().check_write(t, false);
  current_emitter().emit_write(op, p.span(), scratch.metas, targets);
  for (const Tensor& t : targets) check_counts_writes(*t);
  results.insert(results.end(), targets.begin(), targets.end());
}

/// The result of an in-place form takes the place of the target's value, unless its dtype is of a higher kind.
void write_result(const Tensor& target, const Tensor& result) {
  check_cast(result.dtype(), target.dtype());
  const Arg args[] = {target, result};
  call_in_place(copy_op(), args);
}

/// What an in-place form refuses before anything was computed.
void check_overlaps(const Op& op, const Tensor& target, std::span<const Arg> args) {
  if (!op.is(kWritesOneValue)) check_distinct_elements(target);
  if (op.is(kReadsFirst)) return;
  const auto look = [&op, &target](TensorImpl* operand) {
    if (!op.is(kScatters)) return check_not_shifted(target, *operand);
    if (operand->numel != 1) check_apart(target, *operand);
  };
  for (size_t i = 1; i < args.size(); ++i) {
    if (args[i].is_tensor()) look(args[i].impl());
    if (args[i].kind() == Arg::Kind::TensorList)
      for (const Tensor& t : args[i].tensors())
        if (t.defined()) look(t.get());
  }
}

/// The node of a composite's result gets the composite's name, unless the result is an argument handed through.
void name_history(const Op& op, std::span<const Arg> args, const Tensor& result) {
  if (!result.defined() || !result.requires_grad()) return;
  for (const Arg& a : args)
    if (a.is_tensor() && a.impl() == result.get()) return;
  if (const std::string_view name = op.node_name(args); !name.empty()) tape_hooks().name(result, name, &op, args);
}

/// Whether PyTorch makes this composite's results anew, if they don't lie in an argument, where it has no node of a
/// view.
bool makes_results(const Op& op, std::span<const Arg> args) {
  const std::string_view name = op.node_name(args);
  return op.is(kMayAlias) || (!name.empty() && !name.starts_with("View"));
}

/// A result that is an argument, or a view of one, where the record doesn't say so.
Tensor made_fresh(std::span<const Arg> args, const Tensor& result) {
  const auto lies_in = [&result](const TensorImpl& operand) { return shares_memory(*result, operand); };
  for (const Arg& a : args) {
    if (a.is_tensor() && lies_in(*a.impl())) return clone_op()(result);
    if (a.kind() == Arg::Kind::TensorList)
      for (const Tensor& t : a.tensors())
        if (t.defined() && lies_in(*t)) return clone_op()(result);
  }
  return result;
}

void call_composite(const Op& op, Prepared& p, std::vector<Tensor>& results) {
  const size_t first = results.size();
  check_complex(op, p);
  check_barebones(op, p);
  check_integers(op, p);
  promote_composite(op, p);
  std::optional<DeviceScope> scope;  // for the tensors that it makes of nothing
  if (const Device device = device_of(op, p.span()); device != current_device()) scope.emplace(device);
  Composition c(op, p.span(), results);
  op.composite(c);
  const std::span<Tensor> made(results.data() + first, results.size() - first);
  to_half(p, made);
  if (op.is(kKeepsFormat | kLaidOutAsAsked)) lay_out_made(op, p.span(), made);
  if (!op.is(kMayAlias))
    for (Tensor& t : made)
      if (t.defined()) t = made_fresh(p.span(), t);
  for (const Tensor& t : made)
    if (t.defined() && t->autograd && t->autograd->is_view && makes_results(op, p.span()))
      tape_hooks().forget_inner_base(t, p.span());
  if (grad_mode && (op.grad_fn_of || !op.grad_fn.empty()))
    for (const Tensor& t : made) name_history(op, p.span(), t);
}

/// Random numbers go by places in memory: for an operand that doesn't lie row by row they are drawn for its dimensions
/// from outer to inner. False: it lies row by row.
bool draw_by_places(const Op& op, const Prepared& p, std::vector<Tensor>& results) {
  static const Op* const permute = find_op("permute");
  if (!p.args[0].is_tensor()) return false;
  const Tensor self = p.args[0].tensor();
  const Dims order = order_of_places(*self);
  if (order.empty()) return false;
  const Tensor rows = (*permute)(self, order);
  InlineArray<Arg, kMaxParams> args(p.count);
  std::copy(p.span().begin(), p.span().end(), args.data());
  args[0] = Arg(rows);
  call(op, {args.data(), p.count}, results);
  results.back() = in_place_of_rows(results.back(), preserved_strides(*self));
  return true;
}

/// What a profile shows of a call.
profile::Subject subject_of(const Op& op, std::span<const Arg> args, bool in_place) {
  profile::Subject subject{profile::name_of_op(op.name, in_place)};
  if (!profile::wants_shapes()) return subject;
  for (const Arg& a : args) subject.shapes.push_back(a.is_tensor() ? a.impl()->sizes : Dims());
  return subject;
}

}  // namespace

bool grad_enabled() { return grad_mode; }
GradientModes gradient_modes() { return {grad_asked_for, inference_mode()}; }
void set_gradient_modes(GradientModes modes) {
  grad_asked_for = modes.enabled;
  detail::inference_mode = modes.inference;
  grad_mode = modes.enabled && !modes.inference;
}

void call(const Op& op, std::span<const Arg> args, std::vector<Tensor>& results) {
  const profile::Scope scope([&] { return subject_of(op, args, op.writes != 0); });
  Prepared p(op);
  complete(op, args, p);
  if (op.composite) return call_composite(op, p, results);
  if (op.is(kDrawsBySizes) && draw_by_places(op, p, results)) return;
  promote(op, p);
  check_complex(op, p);
  if (op.writes) return call_writing(op, p, results);
  const size_t first = results.size();
  {
    MetaScratch scratch;
    infer(op, p, scratch.metas);
    current_emitter().emit(op, p.span(), scratch.metas, results);
  }
  const std::span<Tensor> fresh(results.data() + first, results.size() - first);
  if (wants_gradient(op, p.span())) tape_hooks().record(op, p.span(), fresh);
  if (op.is(kView) && !op.is(kNoGradient)) tape_hooks().record_view(op, p.span(), p.args[0].tensor(), results[first]);
  to_half(p, fresh);
}

/// An in-place form that computes beside its target and writes the result over it. Gradients may be computed from the
/// value that is overwritten: y.silu_() of a y that somebody made.
static Tensor call_beside(const Op& op, std::span<const Arg> args, const Tensor& target) {
  std::vector<Tensor> results;
  std::vector<Arg> kept;
  Tensor before;
  const bool may_save = op.composite || (op.gradient && (op.saved & saves({0})) != 0);
  if (may_save && grad_mode && any_requires_gradient(args)) {
    before = tape_hooks().before_write(target);
    kept.assign(args.begin(), args.end());
    for (Arg& a : kept)
      if (a.is_tensor() && a.impl() == target.get()) a = Arg(before);
  }
  call(op, before.defined() ? std::span<const Arg>(kept) : args, results);
  write_result(target, results.front());
  if (grad_mode && target.requires_grad())
    tape_hooks().name(target, op.node_name(args), before.defined() ? &op : nullptr, kept);
  return target;
}

Tensor call_in_place(const Op& op, std::span<const Arg> args) {
  const profile::Scope scope([&] { return subject_of(op, args, true); });
  ensure(!args.empty() && args[0].is_tensor(), "the in-place form of an op gets the tensor it writes");
  const Tensor target = args[0].tensor();
  check_overlaps(op, target, args);
  if (op.composite) return call_beside(op, args, target);
  Prepared p(op);
  complete(op, args, p);
  promote(op, p);
  check_complex(op, p);
  MetaScratch scratch;
  infer(op, p, scratch.metas);
  check(op.is(kHost) || !is_complex(p.args[0].is_tensor() ? p.args[0].impl()->dtype : DType::F32) ||
            is_complex(scratch.metas[0].dtype) || op.is(kCompares),
        "In-place {} is not supported for complex tensors.", op.name);
  if (op.is(kHost) || scratch.metas[0].dtype != target.dtype() || p.half != DType::F32 ||
      p.args[0].impl() != target.get()) {
    return call_beside(op, args, target);  // the kernel's result isn't of the target's dtype
  }
  check(scratch.metas[0].sizes == target.sizes(), "output with shape {} doesn't match the broadcast shape {}",
        listed(target.sizes()), listed(scratch.metas[0].sizes));
  const bool records = wants_gradient(op, p.span());
  if (grad_mode) tape_hooks().check_write(target, records);
  const Tensor targets[] = {target};
  const auto write = [&] { current_emitter().emit_write(op, p.span(), scratch.metas, targets); };
  if (records)
    tape_hooks().record_write(op, p.span(), target, write);
  else
    write();
  check_counts_writes(*target);
  return target;
}

}  // namespace terra
