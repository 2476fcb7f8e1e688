#include "interpreter_hooks/bindings/calls/arguments.h"

#include <cstring>

#include "engine/errors/errors.h"
#include "engine/tensor/transfer.h"
#include "interpreter_hooks/bindings/objects/dtype_object.h"
#include "interpreter_hooks/bindings/objects/generator_object.h"
#include "interpreter_hooks/bindings/tensor/memory_format.h"
#include "interpreter_hooks/bindings/tensor/scalars.h"
#include "interpreter_hooks/bindings/tensor/tensor_object.h"

namespace terra::hooks {

namespace {

bool is_sequence(Borrowed value) { return PyTuple_Check(value) || PyList_Check(value); }

/// Other names that PyTorch's functions take for a parameter.
constexpr struct {
  const char* given;
  const char* meant;
} other_names[] = {{"input", "self"},       {"axis", "dim"},
                   {"keepdims", "keepdim"}, {"x", "self"},
                   {"x2", "other"},         {"vec", "other"},
                   {"mat2", "other"},       {"tensor", "other"},
                   {"tensor", "self"},      {"split_size", "split_size_or_sections"}};

}  // namespace

Parameters::Parameters(const Op& op) : op(op) {
  int dtype = -1;
  bool has_tensor = false;
  for (size_t i = 0; i < op.sig().params.size(); ++i) {
    const Param& p = op.sig().params[i];
    names.push_back(lent(PyUnicode_InternFromString(p.name.c_str())));
    if (!p.keyword_only) positional = i + 1;
    if (p.varargs) varargs = static_cast<int>(i);
    if (p.type == ParamType::DType) dtype = static_cast<int>(i);
    has_tensor |= p.type == ParamType::Tensor || p.type == ParamType::TensorList;
  }
  ensure(names.size() <= Arguments::kMost, "an op has at most 24 parameters");
  is_factory = dtype >= 0 && (!has_tensor || op.name.ends_with("_like") || op.name.starts_with("new_"));
  if (is_factory && !has_tensor) dtype_of_out = dtype;
}

bool Arguments::is_no_number(Borrowed value) const { return tensors_stay_ && is_tensor(value); }

/// One function per ParamType, in its order: false when the object is of another kind.
struct Converters {
  static bool tensor(Arguments&, const Param&, Borrowed v, Arg& out) {
    if (!is_tensor(v)) return false;
    out = Arg(impl_of(v));
    return true;
  }
  static bool tensor_or_number(Arguments& a, const Param& p, Borrowed v, Arg& out) {
    return tensor(a, p, v, out) || (!a.parameters_.op.is(kTensorsOnly) && number(a, p, v, out));
  }
  static bool tensor_list(Arguments& a, const Param& p, Borrowed v, Arg& out) {
    if (!is_sequence(v)) return false;
    const Py_ssize_t n = PySequence_Fast_GET_SIZE(v);
    std::vector<Tensor> list;
    list.reserve(n);
    for (Py_ssize_t i = 0; i < n; ++i) {
      Borrowed item = PySequence_Fast_GET_ITEM(v, i);
      if (p.optional && item == Py_None) {  // an index list: ':'
        list.emplace_back();
        continue;
      }
      if (!is_tensor(item)) {
        raise(PyExc_TypeError, "expected Tensor as element %zd in argument 0, but got %s", i, Py_TYPE(item)->tp_name);
      }
      list.push_back(tensor_of(item));
    }
    a.lists_.push_back(std::move(list));
    out = Arg(std::span<const Tensor>(a.lists_.back()));
    return true;
  }
  static bool number(Arguments& a, const Param&, Borrowed v, Arg& out) {
    Scalar s;
    if (a.is_no_number(v) || !to_scalar(v, s)) return false;
    out = Arg(s);
    return true;
  }
  static bool integer(Arguments& a, const Param&, Borrowed v, Arg& out) {
    int64_t i;
    if (a.is_no_number(v) || !to_int(v, i)) return false;
    out = Arg(i);
    return true;
  }
  static bool real(Arguments& a, const Param&, Borrowed v, Arg& out) {
    Scalar s;
    if (a.is_no_number(v) || !to_scalar(v, s) || s.is_complex()) return false;
    out = Arg(s.to_double());
    return true;
  }
  /// Among overloads a flag without default is what one of them is there for: it must be set.
  static bool boolean(Arguments& a, const Param& p, Borrowed v, Arg& out) {
    Scalar s;
    const bool chooses = !a.name_ && !p.has_default && (p.keyword_only || p.name.starts_with("return_"));
    if (a.is_no_number(v) || (chooses && v == Py_False)) return false;
    if (PyBool_Check(v))
      s = Scalar(v == Py_True);
    else if (PyLong_Check(v) || PyFloat_Check(v) || !to_scalar(v, s) || s.kind() != Scalar::Kind::Bool)
      return false;
    out = Arg(s);
    return true;
  }
  static bool int_list(Arguments& a, const Param& p, Borrowed v, Arg& out) {
    const size_t n = std::max<size_t>(1, p.list_length);
    int64_t single;
    if (is_sequence(v)) {
      if (!a.ints_from(v, out)) return false;
      const size_t given = out.ints().size();
      if (n > 1 && given != 1 && given != n && !(given == 0 && p.optional))
        fail(ErrorKind::RuntimeError, "{} must either be a single int, or a tuple of {} ints, but got {}", p.name, n,
             to_string(out.ints()));
      if (given != 1 || n == 1) return true;
      single = out.ints()[0];
    } else if ((p.varargs && p.list_length == 0) || a.is_no_number(v) || !to_int(v, single)) {
      return false;
    }
    int64_t* to = a.space(n);
    std::fill_n(to, n, single);
    out = Arg(std::span<const int64_t>(to, n));
    return true;
  }
  static bool dtype(Arguments&, const Param&, Borrowed v, Arg& out) {
    const auto found = dtype_from(v);
    if (found) out = Arg(*found);
    return found.has_value();
  }
  static bool string(Arguments&, const Param& p, Borrowed v, Arg& out) {
    if (takes_memory_format(p)) {
      if (!is_memory_format(v)) return false;
      out = Arg(memory_format_name(v));
      return true;
    }
    if (!PyUnicode_Check(v)) return false;
    Py_ssize_t n = 0;
    const char* s = PyUnicode_AsUTF8AndSize(v, &n);
    if (!s) throw PythonError{};
    out = Arg(std::string_view(s, static_cast<size_t>(n)));
    return true;
  }
  static bool generator(Arguments&, const Param&, Borrowed v, Arg& out) {
    if (!is_generator(v)) return false;
    out = Arg(generator_of(v));
    return true;
  }

  using Function = bool (*)(Arguments&, const Param&, Borrowed, Arg&);
  struct Row {
    Function convert;
    const char* expected;
  };
  static const Row& row(ParamType type) {
    static constexpr Row rows[] = {{tensor, "Tensor"},
                                   {tensor_or_number, "Tensor"},
                                   {tensor_list, "tuple of Tensors"},
                                   {number, "Number"},
                                   {integer, "int"},
                                   {real, "float"},
                                   {boolean, "bool"},
                                   {int_list, "tuple of ints"},
                                   {dtype, "torch.dtype"},
                                   {string, "str"},
                                   {generator, "torch.Generator"}};
    return rows[static_cast<size_t>(type)];
  }
};

std::string signature_of(const Op& op) {
  std::string text(op.signature);
  constexpr std::string_view number = "|Number";
  if (!op.is(kTensorsOnly)) return text;
  for (size_t at; (at = text.find(number)) != std::string::npos;) text.erase(at, number.size());
  return text;
}

const char* expected_type(const Param& param) {
  return takes_memory_format(param) ? "torch.memory_format" : Converters::row(param.type).expected;
}

const char* given_type(Borrowed value) { return Py_TYPE(value)->tp_name; }

int64_t* Arguments::space(size_t count) {
  if (ints_used_ + count > ints_.size()) return long_ints_.emplace_back(count).data();
  int64_t* result = ints_.data() + ints_used_;
  ints_used_ += count;
  return result;
}

bool Arguments::ints_from(Borrowed sequence, Arg& out) {
  const size_t n = static_cast<size_t>(PySequence_Fast_GET_SIZE(sequence));
  int64_t* to = space(n);
  for (size_t i = 0; i < n; ++i)
    if (!to_int(PySequence_Fast_GET_ITEM(sequence, i), to[i])) return false;
  out = Arg(std::span<const int64_t>(to, n));
  return true;
}

bool Arguments::convert(size_t i, Borrowed value) {
  const Param& param = parameters_.op.sig().params[i];
  if (value == Py_None && param.optional)
    args_[i] = Arg();
  else if (!Converters::row(param.type).convert(*this, param, value, args_[i]))
    return false;
  sources_[i] = value;
  return true;
}

bool Arguments::set(size_t i, Borrowed value, size_t position) {
  return convert(i, value) || is_wrong_type(i, value, position);
}

bool Arguments::is_wrong_type(size_t i, Borrowed value, size_t position) const {
  if (!name_) return false;
  const Param& param = parameters_.op.sig().params[i];
  const char* name = i == 0 && param.name == "self" ? "input" : param.name.c_str();
  const char* expected = expected_type(param);
  if (param.type == ParamType::IntList && is_sequence(value)) {
    for (Py_ssize_t k = 0; k < PySequence_Fast_GET_SIZE(value); ++k) {
      Borrowed item = PySequence_Fast_GET_ITEM(value, k);
      int64_t ignored;
      if (!to_int(item, ignored))
        raise(PyExc_TypeError, "%s(): argument '%s' must be tuple of ints, but found element of type %s at pos %zd",
              name_, name, given_type(item), k);
    }
  }
  if (position == 0)
    raise(PyExc_TypeError, "%s(): argument '%s' must be %s, not %s", name_, name, expected, given_type(value));
  raise(PyExc_TypeError, "%s(): argument '%s' (position %zu) must be %s, not %s", name_, name,
        position - (as_method_ ? 1 : 0), expected, given_type(value));
}

bool Arguments::take_varargs(size_t i, PyObject* const* values, size_t count) {
  if (count == 1 && is_sequence(values[0])) return set(i, values[0], i + 1);
  int64_t* to = space(count);
  for (size_t k = 0; k < count; ++k)
    if (!to_int(values[k], to[k])) return is_wrong_type(i, values[k], i + k + 1);
  args_[i] = Arg(std::span<const int64_t>(to, count));
  sources_[i] = nullptr;
  return true;
}

bool Arguments::take_extra(Borrowed name, Borrowed value) {
  const auto is = [name](const char* text) { return PyUnicode_CompareWithASCIIString(name, text) == 0; };
  if (is("out") && !as_method_) {
    if (value != Py_None) out = value;
    return true;
  }
  if (is("generator")) return value == Py_None;
  if (!parameters_.is_factory) return false;
  if (is("device")) {
    if (value != Py_None) device = device_from(value);
    return true;
  }
  if (is("requires_grad")) {
    requires_grad = value;
    return true;
  }
  return is("layout") || is("pin_memory");
}

bool Arguments::take_keyword(Borrowed name, Borrowed value) {
  const auto& names = parameters_.names;
  size_t found = names.size();
  for (size_t i = 0; i < names.size() && found == names.size(); ++i)
    if (names[i] == name) found = i;
  for (size_t i = 0; i < names.size() && found == names.size(); ++i)
    if (PyUnicode_Compare(names[i], name) == 0) found = i;
  for (const auto& row : other_names) {
    if (found != names.size()) break;
    if (PyUnicode_CompareWithASCIIString(name, row.given) == 0) {
      const int i = parameters_.op.sig().find(row.meant);
      if (i >= 0) found = static_cast<size_t>(i);
    }
  }
  if (found == names.size()) {
    if (take_extra(name, value)) return true;
    if (!name_) return false;
    raise(PyExc_TypeError, "%s() got an unexpected keyword argument '%U'", name_, name);
  }
  if (sources_[found]) {
    if (!name_) return false;
    raise(PyExc_TypeError, "%s() got multiple values for argument '%U'", name_, name);
  }
  return set(found, value, 0);
}

bool Arguments::take_defaults(size_t first) {
  const auto& params = parameters_.op.sig().params;
  std::string missing;
  size_t count = 0;
  for (size_t i = first; i < count_; ++i) {
    if (sources_[i]) continue;
    if (params[i].varargs && static_cast<int>(i) == parameters_.varargs && args_[i].kind() == Arg::Kind::IntList)
      continue;
    if (params[i].has_default || params[i].optional) {
      args_[i] = params[i].default_value;
      continue;
    }
    const char* name = i == 0 && params[i].name == "self" ? "input" : params[i].name.c_str();
    missing += (count++ ? ", \"" : "\"") + std::string(name) + "\"";
  }
  if (count == 0) return true;
  if (!name_) return false;
  raise(PyExc_TypeError, "%s() missing %zu required positional arguments: %s", name_, count, missing.c_str());
}

void Arguments::take_dtype_of_out() {
  if (parameters_.dtype_of_out < 0 || !is_tensor(out)) return;
  const DType dtype = impl_of(out)->dtype;
  Arg& given = args_[static_cast<size_t>(parameters_.dtype_of_out)];
  check(given.is_none() || given.dtype() == dtype, "dtype {} does not match dtype of out parameter ({})",
        scalar_type_name(given.dtype()), scalar_type_name(dtype));
  given = Arg(dtype);
}

void Arguments::take_device() {
  for (size_t i = 0; i < count_; ++i) {
    if (!args_[i].is_tensor() || args_[i].impl()->device == *device) continue;
    stand_in_ = empty_like_on(args_[i].tensor(), *device);
    args_[i] = Arg(stand_in_);
    return;
  }
}

bool Arguments::are_too_many(size_t count) const {
  if (!name_) return false;
  const size_t self = as_method_ ? 1 : 0, most = parameters_.positional - self, given = count - self;
  raise(PyExc_TypeError, "%s() takes %zu positional argument%s but %zu %s given", name_, most, most == 1 ? "" : "s",
        given, given == 1 ? "was" : "were");
}

bool Arguments::take(PyObject* const* values, size_t count, PyObject* keywords) {
  positional_ = {values, count};
  count_ = parameters_.names.size();
  size_t given = 0;
  // x.permute(1, 0) and zeros(2, 3), but permute(x, (1, 0)).
  const bool spreads = parameters_.varargs == 0 || (parameters_.varargs > 0 && as_method_);
  const size_t plain = spreads ? static_cast<size_t>(parameters_.varargs) : parameters_.positional;
  if (!spreads && count > plain) return are_too_many(count);
  for (; given < count && given < plain; ++given)
    if (!set(given, values[given], given + 1)) return false;
  size_t unset = given;
  for (size_t i = unset; i < count_; ++i) sources_[i] = nullptr;
  if (given < count && !take_varargs(plain, values + given, count - given)) return false;
  for (Py_ssize_t i = 0; keywords && i < PyTuple_GET_SIZE(keywords); ++i)
    if (!take_keyword(PyTuple_GET_ITEM(keywords, i), values[count + i])) return false;
  return unset == count_ || take_defaults(unset);
}

void Arguments::parse(PyObject* const* values, size_t count, PyObject* keywords) { take(values, count, keywords); }

bool Arguments::fits(PyObject* const* values, size_t count, PyObject* keywords, bool tensors_stay) {
  tensors_stay_ = tensors_stay;
  try {
    return take(values, count, keywords);
  } catch (const PythonError&) {
    PyErr_Clear();
    return false;
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::OverflowError) throw;  // an int that fits nowhere
    return false;
  }
}

}  // namespace terra::hooks
