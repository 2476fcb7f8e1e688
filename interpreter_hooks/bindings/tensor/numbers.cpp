// Operators of tensors: number slots that go straight to the op.
#include <string_view>

#include "engine/errors/errors.h"
#include "engine/errors/warnings.h"
#include "engine/ops/overloads.h"
#include "interpreter_hooks/bindings/autograd/autocast.h"
#include "interpreter_hooks/bindings/calls/invoke.h"
#include "interpreter_hooks/bindings/calls/observer.h"
#include "interpreter_hooks/bindings/calls/override.h"
#include "interpreter_hooks/bindings/tensor/construction.h"
#include "interpreter_hooks/bindings/tensor/scalars.h"
#include "interpreter_hooks/bindings/tensor/tensor_object.h"
#include "interpreter_hooks/bindings/tensor/tensor_parts.h"

namespace terra::hooks {
namespace {

/// The operators by number, so that a slot is a template instance and its op an array element.
enum Operator {
  kAdd,
  kSub,
  kMul,
  kTrueDivide,
  kFloorDivide,
  kRemainder,
  kPower,
  kMatmul,
  kAnd,
  kOr,
  kXor,
  kLeft,
  kRight,
  kNegate,
  kInvert,
  kAbsolute,
  kLess,
  kLessEqual,
  kEqual,
  kNotEqual,
  kGreater,
  kGreaterEqual,
  kOperators
};

struct Row {
  std::string_view method;  ///< special method by which the engine's table knows it
  std::string_view in_place;
  int slot, in_place_slot;  ///< of PyNumberMethods; 0: none
  /// The attributes of Tensor that __torch_function__ gets, as PyTorch has it: a + 1, 1 + a (with a first), a += 1.
  const char *function, *reflected = nullptr, *in_place_function = nullptr;
};

constexpr Row rows[kOperators] = {
    {"__add__", "__iadd__", Py_nb_add, Py_nb_inplace_add, "add", "add", "add_"},
    {"__sub__", "__isub__", Py_nb_subtract, Py_nb_inplace_subtract, "sub", "__rsub__", "sub_"},
    {"__mul__", "__imul__", Py_nb_multiply, Py_nb_inplace_multiply, "mul", "mul", "mul_"},
    {"__truediv__", "__itruediv__", Py_nb_true_divide, Py_nb_inplace_true_divide, "div", "__rdiv__", "div_"},
    {"__floordiv__", "__ifloordiv__", Py_nb_floor_divide, Py_nb_inplace_floor_divide, "__floordiv__", "__rfloordiv__",
     "floor_divide_"},
    {"__mod__", "__imod__", Py_nb_remainder, Py_nb_inplace_remainder, "remainder", "__rmod__", "remainder_"},
    {"__pow__", "__ipow__", Py_nb_power, Py_nb_inplace_power, "pow", "__rpow__", "pow_"},
    {"__matmul__", "", Py_nb_matrix_multiply, 0, "matmul", "__rmatmul__"},
    {"__and__", "__iand__", Py_nb_and, Py_nb_inplace_and, "__and__", "bitwise_and", "__iand__"},
    {"__or__", "__ior__", Py_nb_or, Py_nb_inplace_or, "__or__", "bitwise_or", "__ior__"},
    {"__xor__", "__ixor__", Py_nb_xor, Py_nb_inplace_xor, "__xor__", "bitwise_xor", "__ixor__"},
    {"__lshift__", "__ilshift__", Py_nb_lshift, Py_nb_inplace_lshift, "__lshift__", "__rlshift__", "__ilshift__"},
    {"__rshift__", "__irshift__", Py_nb_rshift, Py_nb_inplace_rshift, "__rshift__", "__rrshift__", "__irshift__"},
    {"__neg__", "", Py_nb_negative, 0, "neg"},
    {"__invert__", "", Py_nb_invert, 0, "__invert__"},
    {"__abs__", "", Py_nb_absolute, 0, "abs"},
    {"__lt__", "", 0, 0, "lt"},
    {"__le__", "", 0, 0, "le"},
    {"__eq__", "", 0, 0, "__eq__"},
    {"__ne__", "", 0, 0, "ne"},
    {"__gt__", "", 0, 0, "gt"},
    {"__ge__", "", 0, 0, "ge"},
};

const Op* ops[kOperators];
bool has_in_place[kOperators];

/// A tensor or number as an argument; false for anything else.
bool operand(Borrowed object, Arg& out) {
  if (is_tensor(object)) {
    out = Arg(impl_of(object));
    return true;
  }
  Scalar number;
  if (!to_scalar(object, number)) return false;
  out = Arg(number);
  return true;
}

bool plain(Borrowed object) {
  const PyTypeObject* type = Py_TYPE(object);
  if (modes_see_calls) return false;
  return type == tensor_type || !(type->tp_flags & Py_TPFLAGS_HEAPTYPE) || !may_override(Py_TYPE(object));
}

/// The slow way, for subclasses and foreign objects.
Object call_overridden(int index, bool in_place, PyObject* const* values, size_t count) {
  const Row& row = rows[index];
  if (in_place) return overridden_method(row.in_place_function, values, count);
  if (count == 1) return overridden_method(row.function, values, count, Told::Self);
  if (is_tensor(values[0]) || !row.reflected) return overridden_method(row.function, values, count);
  PyObject* const swapped[] = {values[1], values[0]};
  return overridden_method(row.reflected, swapped, count);
}

Object apply(int index, bool in_place, PyObject* const* values, size_t count) {
  Arg args[2];
  for (size_t i = 0; i < count; ++i)
    if (!operand(values[i], args[i])) return Object::share(Py_NotImplemented);
  const Invocation call = {*ops[index], in_place, {args, count}, {values, count}, {values, count}};
  return casts_operands(*ops[index], in_place) ? invoke_autocast(call) : invoke(call);
}

/// A TypeError of those who were asked says that they don't know the operator, and leaves it to the other operand.
Object ask(int index, bool in_place, PyObject* const* values, size_t count) {
  try {
    return call_overridden(index, in_place, values, count);
  } catch (const PythonError&) {
    if (count == 1 || !PyErr_ExceptionMatches(PyExc_TypeError)) throw;
    PyErr_Clear();
    return Object::share(Py_NotImplemented);
  }
}

Object operate(int index, bool in_place, PyObject* const* values, size_t count) {
  if (plain(values[0]) && (count == 1 || plain(values[1]))) [[likely]]
    return apply(index, in_place, values, count);
  if (Object result = ask(index, in_place, values, count)) return result;
  PyTypeObject* subclass = result_subclass(values, count);
  Object result = apply(index, in_place, values, count);
  return subclass && !in_place ? as_subclass(std::move(result), subclass) : std::move(result);
}

template <int I>
Object binary(PyObject* a, PyObject* b) {
  PyObject* const values[] = {a, b};
  return operate(I, false, values, 2);
}
template <int I>
Object binary_in_place(PyObject* a, PyObject* b) {
  PyObject* const values[] = {a, b};
  return operate(I, true, values, 2);
}
template <int I>
Object unary(PyObject* a) {
  if constexpr (I == kInvert)
    check_kind(!is_inexact(impl_of(a)->dtype), ErrorKind::TypeError,
               "~ (operator.invert) is only implemented on integer and Boolean-type tensors");
  PyObject* const values[] = {a};
  return operate(I, false, values, 1);
}
Object power(PyObject* a, PyObject* b, PyObject*) { return binary<kPower>(a, b); }
Object power_in_place(PyObject* a, PyObject* b, PyObject*) { return binary_in_place<kPower>(a, b); }
/// numpy's numbers would otherwise try to treat a tensor as a sequence.
Object matmul(PyObject* a, PyObject* b) {
  if (!is_tensor(a) || !is_tensor(b)) {
    if (plain(a) && plain(b)) return Object::share(Py_NotImplemented);
  }
  return binary<kMatmul>(a, b);
}
Object positive(PyObject* a) { return Object::share(a); }

Object compare(PyObject* a, PyObject* b, int how) {
  static_assert(Py_LT == 0 && Py_LE == 1 && Py_EQ == 2 && Py_NE == 3 && Py_GT == 4 && Py_GE == 5);
  if (!ops[kLess + how]) return Object::share(Py_NotImplemented);
  Object array;  // numpy leaves comparisons with tensors to us
  if (!is_tensor(b) && PyObject_CheckBuffer(b) && std::string_view(Py_TYPE(b)->tp_name) == "numpy.ndarray")
    b = (array = tensor_from_data(b)).get();
  PyObject* const values[] = {a, b};
  return operate(kLess + how, false, values, 2);
}

Py_hash_t identity_hash(PyObject* self) { return _Py_HashPointer(self); }

int truth(PyObject* self) {
  if (!plain(self)) [[unlikely]]
    if (const Object given = overridden_method("__bool__", &self, 1, Told::Self))
      return succeeded(PyObject_IsTrue(given.get()));
  const TensorImpl& t = *impl_of(self);
  check(t.numel == 1, "Boolean value of Tensor with {} is ambiguous",
        t.numel == 0 ? "no values" : "more than one value");
  const bool value = item_of(t).to_bool();
  if (OpObserver* observer = op_observer()) observer->on_truth(self, value);
  return value;
}

/// `method`: the special method that asks.
Object number_of(PyObject* self, const char* method, Object (*convert)(const Scalar&)) {
  if (!plain(self)) [[unlikely]]
    if (Object given = overridden_method(method, &self, 1, Told::Self)) return given;
  const TensorImpl& t = *impl_of(self);
  check_kind(t.numel == 1, ErrorKind::ValueError, "only one element tensors can be converted to Python scalars");
  static bool told = false;
  if (t.requires_grad() && grad_enabled())
    warn_once(
        told,
        "Converting a tensor with requires_grad=True to a scalar may lead to unexpected behavior.\nConsider using "
        "tensor.detach() first.");
  const Scalar element = item_of(t);
  Object made = convert(element);
  if (OpObserver* observer = op_observer()) {
    Object value = owned(from_scalar(element));
    const bool converted = !made || Py_TYPE(made.get()) != Py_TYPE(value.get());
    observer->on_item(self, converted ? value.get() : made.get());
  }
  return made;
}

/// A complex number is a real one where its imaginary part is 0.
void check_no_part_lost(const Scalar& s, const char* type) {
  check(s.imag() == 0, "value cannot be converted to type {} without overflow", type);
}

Object as_int(PyObject* self) {
  return number_of(self, "__int__", [](const Scalar& s) {
    check_no_part_lost(s, "int64_t");
    if (s.kind() == Scalar::Kind::Unsigned) return owned(from_scalar(s));
    return owned(s.is_float() || s.is_complex() ? PyLong_FromDouble(s.to_double()) : PyLong_FromLongLong(s.to_int()));
  });
}
Object as_float(PyObject* self) {
  return number_of(self, "__float__", [](const Scalar& s) {
    check_no_part_lost(s, "double");
    return owned(PyFloat_FromDouble(s.to_double()));
  });
}
Object as_index(PyObject* self) {
  const TensorImpl& t = *impl_of(self);
  check_kind(is_integral(t.dtype, true) && t.numel == 1, ErrorKind::TypeError,
             "only integer tensors of a single element can be converted to an index");
  return as_int(self);
}

template <int I>
void append_binary(std::vector<PyType_Slot>& slots) {
  if (!ops[I]) return;
  slots.push_back({rows[I].slot, slot<binary<I>>()});
  if (has_in_place[I]) slots.push_back({rows[I].in_place_slot, slot<binary_in_place<I>>()});
}
template <int I>
void append_unary(std::vector<PyType_Slot>& slots) {
  if (ops[I]) slots.push_back({rows[I].slot, slot<unary<I>>()});
}

/// Which op each operator means is the engine's to say (engine/ops/overloads.h).
void find_ops() {
  for (int i = 0; i < kOperators; ++i) {
    for (const SpecialMethod& special : kSpecialMethods) {
      if (special.method == rows[i].method) ops[i] = find_op(special.op);
      if (!rows[i].in_place.empty() && special.method == rows[i].in_place) {
        const Op* op = find_op(special.op);
        has_in_place[i] = op && op->is(kInPlace);
      }
    }
  }
}

}  // namespace

void append_number_slots(std::vector<PyType_Slot>& slots) {
  find_ops();
  append_binary<kAdd>(slots);
  append_binary<kSub>(slots);
  append_binary<kMul>(slots);
  append_binary<kTrueDivide>(slots);
  append_binary<kFloorDivide>(slots);
  append_binary<kRemainder>(slots);
  append_binary<kAnd>(slots);
  append_binary<kOr>(slots);
  append_binary<kXor>(slots);
  append_binary<kLeft>(slots);
  append_binary<kRight>(slots);
  append_unary<kNegate>(slots);
  append_unary<kInvert>(slots);
  append_unary<kAbsolute>(slots);
  if (ops[kMatmul]) slots.push_back({Py_nb_matrix_multiply, slot<matmul>()});
  if (ops[kPower]) slots.push_back({Py_nb_power, slot<power>()});
  if (has_in_place[kPower]) slots.push_back({Py_nb_inplace_power, slot<power_in_place>()});
  slots.push_back({Py_nb_positive, slot<positive>()});
  slots.push_back({Py_nb_bool, slot<truth>()});
  slots.push_back({Py_nb_int, slot<as_int>()});
  slots.push_back({Py_nb_float, slot<as_float>()});
  slots.push_back({Py_nb_index, slot<as_index>()});
}

void append_compare_slots(std::vector<PyType_Slot>& slots) {
  slots.push_back({Py_tp_richcompare, slot<compare>()});
  slots.push_back({Py_tp_hash, reinterpret_cast<void*>(identity_hash)});
}

}  // namespace terra::hooks
