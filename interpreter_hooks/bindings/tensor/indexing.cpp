// x[...] and x[...] = v: integers, slices, None, ... and single booleans become views; tensors, masks and lists that
// remain go as one list to the engine's advanced indexing.
#include <algorithm>

#include "engine/errors/errors.h"
#include "engine/errors/warnings.h"
#include "engine/ops/overloads.h"
#include "interpreter_hooks/bindings/calls/invoke.h"
#include "interpreter_hooks/bindings/calls/observer.h"
#include "interpreter_hooks/bindings/calls/override.h"
#include "interpreter_hooks/bindings/tensor/construction.h"
#include "interpreter_hooks/bindings/tensor/scalars.h"
#include "interpreter_hooks/bindings/tensor/tensor_object.h"
#include "interpreter_hooks/bindings/tensor/tensor_parts.h"

namespace terra::hooks {
namespace {

/// The ops that indexing is made of.
struct IndexOps {
  const Op& select = required_op("select");
  const Op& slice = required_op("slice");
  const Op& unsqueeze = required_op("unsqueeze");
  const Op& view = required_op("view");
  const Op& get = required_op(kGetItem.data());
  const Op& put = required_op(kSetItem.data());
  const Op& copy = required_op("copy");
  const Op& fill = required_op("fill");
  const Op& nonzero = required_op("where_true");
  const Op& to_dtype = required_op("to_dtype");
};
const IndexOps& ops() {
  static const IndexOps all;
  return all;
}

bool is_mask(const TensorImpl& t) { return t.dtype == DType::Bool || t.dtype == DType::U8; }

/// Throws unless the elements can be spread over that many: what expand() says of it.
void check_fits(const Tensor& source, const Dims& target) {
  static const Op* expand = find_op("expand");
  const Dims& sizes = source.sizes();
  bool fits = sizes.size() <= target.size();
  for (size_t i = 1; fits && i <= sizes.size(); ++i)
    fits = sizes[sizes.size() - i] == 1 || sizes[sizes.size() - i] == target[target.size() - i];
  if (!fits) (*expand)(source, target);
}

/// A list, range or array that stands for a tensor of positions.
Object as_index_tensor(Borrowed item) {
  Object tensor = tensor_from_data(item);
  if (impl_of(tensor.get())->numel == 0 && is_floating(impl_of(tensor.get())->dtype))
    tensor = Object::steal(wrap(Tensor::empty(impl_of(tensor.get())->sizes, DType::I64)));  // x[[]]
  observe_construction("an index that is no list of numbers", item, tensor.get());
  return tensor;
}

/// Of x[[[0, 1], [1, 2]]]: a list means a tuple if an item of it is no number, as numpy had it once.
bool stands_for_tuple(Borrowed index) {
  constexpr Py_ssize_t most = 32;
  if (!PyList_Check(index) || PyList_GET_SIZE(index) >= most) return false;
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(index); ++i) {
    PyObject* const item = PyList_GET_ITEM(index, i);
    if (is_tensor(item) || PySequence_Check(item) || PySlice_Check(item) || item == Py_Ellipsis || item == Py_None)
      return true;
  }
  return false;
}

/// The items of an index.
Object items_of(Borrowed index) {
  if (PyTuple_Check(index)) return Object::share(index);
  if (!stands_for_tuple(index)) return owned(PyTuple_Pack(1, static_cast<PyObject*>(index)));
  report_opaque("an index that is a list of sequences", index);
  return owned(PyList_AsTuple(index));
}

/// Walks the items of an index from left to right, narrowing `current` by views and collecting tensors.
class Walk {
 public:
  explicit Walk(PyObject* self) : current_(Object::share(self)) {}

  void apply(Borrowed index) {
    const Object items = items_of(index);
    const Py_ssize_t n = PyTuple_GET_SIZE(items.get());
    std::vector<Object> prepared;
    int64_t used = 0;
    for (Py_ssize_t i = 0; i < n; ++i) {
      prepared.push_back(prepare(PyTuple_GET_ITEM(items.get(), i)));
      used += dimensions_used(prepared.back().get());
    }
    const auto rank = static_cast<int64_t>(impl()->sizes.size());
    check_kind(used <= rank, ErrorKind::IndexError, "too many indices for tensor of dimension {}", rank);
    for (size_t i = 0; i < prepared.size(); ++i) {
      Borrowed item = prepared[i].get();
      place_ = static_cast<int64_t>(i);
      if (item == Py_Ellipsis)
        dim_ += rank - used;
      else
        take(item, i + 1 == prepared.size());
    }
  }

  bool has_tensors() const { return !indices_.empty(); }
  const Object& current() const { return current_; }
  std::span<const Tensor> indices() const { return indices_; }

 private:
  TensorImpl* impl() const { return impl_of(current_.get()); }
  Tensor tensor() const { return tensor_of(current_.get()); }

  /// Sequences become tensors; everything else stays.
  static Object prepare(Borrowed item) {
    if (item == Py_None || item == Py_Ellipsis || PySlice_Check(item) || PyLong_Check(item) || is_tensor(item))
      return Object::share(item);
    int64_t ignored;
    Scalar number;
    if (to_int(item, ignored)) return owned(PyLong_FromLongLong(ignored));
    if (PyUnicode_Check(item)) raise(PyExc_TypeError, "new(): invalid data type 'str'");
    if (PySequence_Check(item) || PyObject_CheckBuffer(item)) return as_index_tensor(item);
    if (to_scalar(item, number) && number.kind() == Scalar::Kind::Bool) return owned(PyBool_FromLong(number.to_bool()));
    raise(PyExc_IndexError,
          "only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are valid indices (got %s)",
          Py_TYPE(item)->tp_name);
  }

  static int64_t dimensions_used(Borrowed item) {
    if (item == Py_None || item == Py_Ellipsis || PyBool_Check(item)) return 0;
    if (!is_tensor(item)) return 1;
    const TensorImpl& t = *impl_of(item);
    return is_mask(t) ? static_cast<int64_t>(t.sizes.size()) : 1;
  }

  /// `numbers`: the objects that the arguments from 2 on were made from.
  void view(const Op& op, std::initializer_list<Arg> args, std::initializer_list<PyObject*> numbers = {}) {
    PyObject* sources[5] = {current_.get(), nullptr};
    std::copy(numbers.begin(), numbers.end(), sources + 2);
    current_ = invoke({op, false, {args.begin(), args.size()}, {sources, 2 + numbers.size()}, {}});
  }

  void take(Borrowed item, bool last) {
    if (PyBool_Check(item)) return take_truth(item == Py_True);
    if (PyLong_Check(item)) return take_position(item);
    if (PySlice_Check(item)) return take_slice(item);
    if (item == Py_None) {
      view(ops().unsqueeze, {tensor(), dim_});
      ++dim_;
      return;
    }
    take_tensor(item, last);
  }

  void take_position(Borrowed item) {
    int64_t position;
    if (!to_int(item, position)) throw PythonError{};
    const Dims& sizes = impl()->sizes;
    check_kind(
        static_cast<size_t>(dim_) < sizes.size(), ErrorKind::IndexError,
        "invalid index of a 0-dim tensor. Use `tensor.item()` in Python or `tensor.item<T>()` in C++ to convert a "
        "0-dim tensor to a number");
    const int64_t size = sizes[static_cast<size_t>(dim_)];
    check_kind(position >= -size && position < size, ErrorKind::IndexError,
               "index {} is out of bounds for dimension {} with size {}", position, place_, size);
    view(ops().select, {tensor(), dim_, position}, {item});
  }

  void take_slice(Borrowed item) {
    auto* slice = reinterpret_cast<PySliceObject*>(item);
    Arg bounds[3] = {Arg(), Arg(), Arg(int64_t{1})};
    PyObject* given[3] = {slice->start, slice->stop, slice->step};
    bool whole = true;
    for (int i = 0; i < 3; ++i) {
      if (given[i] == Py_None) continue;
      int64_t value;
      if (!to_int(given[i], value)) value = clipped(given[i]);
      if (i == 2) {
        check_kind(value != 0, ErrorKind::ValueError, "slice step cannot be zero");
        check_kind(value > 0, ErrorKind::ValueError, "step must be greater than zero");
        whole &= value == 1;
      } else {
        whole = false;
      }
      bounds[i] = Arg(value);
    }
    if (!whole)  // x[:, i] is x.select(1, i)
      view(ops().slice, {tensor(), dim_, bounds[0], bounds[1], bounds[2]}, {given[0], given[1], given[2]});
    ++dim_;
  }

  /// Slice bounds beyond 64 bits mean the end; others must be integers.
  static int64_t clipped(Borrowed bound) {
    if (PyFloat_Check(bound) || !PyIndex_Check(bound))
      raise(PyExc_TypeError, "slice indices must be integers or None or have an __index__ method");
    const Py_ssize_t value = PyNumber_AsSsize_t(bound, nullptr);
    if (value == -1 && PyErr_Occurred()) throw PythonError{};
    return value;
  }

  void take_truth(bool truth) {
    view(ops().unsqueeze, {tensor(), dim_});
    Tensor mask = Tensor::empty(Dims{1}, DType::Bool);
    *mask->data_as<bool>() = truth;
    record(std::move(mask));
  }

  void take_tensor(Borrowed item, bool last) {
    const TensorImpl& t = *impl_of(item);
    check_kind(!is_inexact(t.dtype), ErrorKind::IndexError,
               "tensors used as indices must be long, int, byte or bool tensors");
    if (t.sizes.empty() && !is_mask(t)) {
      int64_t position;
      if (!to_int(item, position)) position = item_of(t).to_int();
      Object number = owned(PyLong_FromLongLong(position));
      return take_position(number.get());
    }
    if (t.dtype == DType::U8)
      warn("indexing with dtype torch.uint8 is now deprecated, please use a dtype torch.bool instead.");
    if (t.sizes.empty()) return take_truth(item_of(t).to_bool());
    if (is_mask(t) && t.sizes.size() > 1 && !last) {  // later items count its dimensions
      Object positions = invoke_simple(ops().nonzero, {tensor_of(item)}, {item});
      for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(positions.get()); ++i)
        record(tensor_of(PyTuple_GET_ITEM(positions.get(), i)));
      return;
    }
    record(tensor_of(item));
  }

  void record(Tensor index) {
    indices_.resize(static_cast<size_t>(dim_) + 1);
    indices_[static_cast<size_t>(dim_++)] = std::move(index);
  }

  Object current_;
  int64_t dim_ = 0;
  int64_t place_ = 0;            // of the item among those in the brackets: what messages name
  std::vector<Tensor> indices_;  // undefined: the whole dimension
};

Object get_item(PyObject* self, PyObject* index) {
  if (may_be_taken_over(self)) [[unlikely]] {
    PyObject* const values[] = {self, index};
    if (Object result = overridden_method("__getitem__", values, 2)) return result;
    if (PyTypeObject* subclass = result_subclass(values, 1)) {
      WithoutOverrides scope;
      return as_subclass(get_item(self, index), subclass);
    }
  }
  Walk walk(self);
  walk.apply(index);
  const Object& view = walk.current();
  if (walk.has_tensors()) return invoke_simple(ops().get, {tensor_of(view.get()), Arg(walk.indices())}, {view.get()});
  if (view.get() != self) return view;
  if (PySlice_Check(index)) return invoke_simple(ops().slice, {tensor_of(self), 0, Arg(), Arg(), 1}, {self});  // x[:]
  return invoke_simple(ops().view, {tensor_of(self), impl_of(self)->sizes},
                       {self});  // x[...], x[:, :]: another view of all
}

/// A number as a 0-d tensor of the target's dtype; `source` is what it was given as.
Object number_tensor(const Scalar& value, DType dtype, Borrowed source) {
  Tensor t = Tensor::empty({}, dtype);
  store_scalar(t->data(), dtype, value);
  Object tensor = Object::steal(wrap(std::move(t)));
  observe_construction("a number that is stored", source, tensor.get());
  return tensor;
}

/// What is stored there is one number for all: it's converted as that of masked_fill() is.
bool is_one_mask(std::span<const Tensor> indices) {
  const auto is_defined = [](const Tensor& t) { return t.defined(); };
  const auto mask = std::find_if(indices.begin(), indices.end(), is_defined);
  return std::count_if(indices.begin(), indices.end(), is_defined) == 1 && is_mask(*mask->get());
}

int set_item(PyObject* self, PyObject* index, PyObject* value) {
  if (!value) raise(PyExc_TypeError, "Tensor does not support deleting items");
  if (may_be_taken_over(self) || may_override(Py_TYPE(value))) [[unlikely]] {
    PyObject* const values[] = {self, index, value};
    if (overridden_method("__setitem__", values, 3)) return 0;
  }
  Scalar number;
  const bool is_number = !is_tensor(value) && to_scalar(value, number);
  Object source;
  if (is_tensor(value))
    source = Object::share(value);
  else if (!is_number && PyObject_CheckBuffer(value))
    source = tensor_from_data(value);
  else if (!is_number)
    raise(PyExc_TypeError, "can't assign a %s to a torch.%sTensor", Py_TYPE(value)->tp_name,
          scalar_type_name(impl_of(self)->dtype).data());
  Walk walk(self);
  walk.apply(index);
  Borrowed target = walk.current().get();
  if (!walk.has_tensors()) {
    if (is_number) return invoke_in_place(ops().fill, {tensor_of(target), number}, {target, value}), 0;
    // Leading dimensions of size 1 that the target doesn't have are dropped.
    const Dims& sizes = impl_of(source.get())->sizes;
    const size_t rank = impl_of(target)->sizes.size();
    size_t extra = 0;
    while (sizes.size() - extra > rank && sizes[extra] == 1) ++extra;
    if (extra > 0) {
      const Dims rest{std::span<const int64_t>(sizes).subspan(extra)};
      source = invoke_simple(ops().view, {tensor_of(source.get()), rest}, {source.get()});
    }
    check_fits(tensor_of(source.get()), impl_of(target)->sizes);
    return invoke_in_place(ops().copy, {tensor_of(target), tensor_of(source.get())}, {target, source.get()}), 0;
  }
  const DType wanted = impl_of(target)->dtype;
  if (is_number) source = number_tensor(number, wanted, value);
  const TensorImpl& given = *impl_of(source.get());
  if (given.dtype != wanted && given.numel == 1 && !is_complex(given.dtype) && is_one_mask(walk.indices()))
    source = invoke_simple(ops().to_dtype, {tensor_of(source.get()), wanted}, {source.get()});
  const Tensor values = tensor_of(source.get());
  check(values.dtype() == impl_of(target)->dtype,
        "Index put requires the source and destination dtypes match, got {} for the destination and {} for the source.",
        scalar_type_name(impl_of(target)->dtype), scalar_type_name(values.dtype()));
  invoke_in_place(ops().put, {tensor_of(target), Arg(walk.indices()), values}, {target, nullptr, source.get()});
  return 0;
}

Py_ssize_t length(PyObject* self) {
  if (may_be_taken_over(self)) [[unlikely]]
    if (const Object given = overridden_method("__len__", &self, 1)) {
      const Py_ssize_t n = PyNumber_AsSsize_t(given.get(), PyExc_OverflowError);
      if (n == -1 && PyErr_Occurred()) throw PythonError{};
      return n;
    }
  const TensorImpl& t = *impl_of(self);
  check_kind(!t.sizes.empty(), ErrorKind::TypeError, "len() of a 0-d tensor");
  if (OpObserver* observer = op_observer()) {
    Object value = owned(PyLong_FromLongLong(t.sizes[0]));
    observer->on_metadata(self, "len", value.get(), 0);
  }
  return t.sizes[0];
}

Object iterate(PyObject* self) {
  check_kind(!impl_of(self)->sizes.empty(), ErrorKind::TypeError, "iteration over a 0-d tensor");
  Object unbind = owned(PyUnicode_InternFromString("unbind"));
  Object rows = owned(PyObject_CallMethodNoArgs(self, unbind.get()));
  return owned(PyObject_GetIter(rows.get()));
}

/// PySequence_GetItem, by which C code walks a tensor.
Object sequence_item(PyObject* self, Py_ssize_t i) {
  Object index = owned(PyLong_FromSsize_t(i));
  return get_item(self, index.get());
}

int contains(PyObject* self, PyObject* value) {
  Object name = owned(PyUnicode_InternFromString("__contains__"));
  Object method = Object::share(_PyType_Lookup(tensor_type, name.get()));
  PyObject* const values[] = {self, value};
  Object found = owned(PyObject_Vectorcall(method.get(), values, 2, nullptr));
  return succeeded(PyObject_IsTrue(found.get()));
}

}  // namespace

void append_indexing_slots(std::vector<PyType_Slot>& slots) {
  slots.push_back({Py_mp_subscript, slot<get_item>()});
  slots.push_back({Py_mp_ass_subscript, slot<set_item>()});
  slots.push_back({Py_mp_length, slot<length>()});
  slots.push_back({Py_sq_length, slot<length>()});
  slots.push_back({Py_sq_item, slot<sequence_item>()});
  slots.push_back({Py_sq_contains, slot<contains>()});
  slots.push_back({Py_tp_iter, slot<iterate>()});
}

}  // namespace terra::hooks
