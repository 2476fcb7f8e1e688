// repr(), str() and format() of tensors, and the options that shape them.
#include "interpreter_hooks/bindings/tensor/printing.h"

#include <cmath>
#include <string_view>

#include "engine/autograd/autograd.h"
#include "engine/errors/errors.h"
#include "engine/ops/call.h"
#include "engine/tensor/sparse.h"
#include "interpreter_hooks/bindings/calls/function_tables.h"
#include "interpreter_hooks/bindings/calls/observer.h"
#include "interpreter_hooks/bindings/calls/override.h"
#include "interpreter_hooks/bindings/tensor/scalars.h"
#include "interpreter_hooks/bindings/tensor/tensor_object.h"
#include "interpreter_hooks/bindings/tensor/tensor_parts.h"

namespace terra::hooks {
namespace {

std::string tuple_text(const Dims& sizes) {
  std::string text = "(";
  for (size_t i = 0; i < sizes.size(); ++i) text += (i ? ", " : "") + std::to_string(sizes[i]);
  return text + (sizes.size() == 1 ? ",)" : ")");
}

/// Of the node that made the tensor; empty: none did. "Invalid" where the tape refuses to say.
std::string history_name(const Tensor& t) {
  try {
    const autograd::Edge made = autograd::own_history(t);
    return made.node ? made.node->name() : std::string();
  } catch (const Error&) {
    return "Invalid";
  }
}

/// "tensor(" + elements + what else there is to know, in as few lines as fit.
std::string tensor_text(PyObject* self) {
  const TensorImpl& t = *impl_of(self);
  const bool is_plain = is_plain_tensor_type(Py_TYPE(self));
  std::string text = is_plain ? "tensor(" : std::string(_PyType_Name(Py_TYPE(self))) + "(";
  const size_t indent = text.size();
  std::vector<std::string> suffixes;
  if (!t.device.is_cpu()) suffixes.push_back("device='" + to_string(t.device) + "'");
  const std::string dtype = "dtype=torch." + std::string(name_of(t.dtype));
  if (t.is_symbolic() || is_foreign(t) || t.device.is_meta()) {
    text += "...";
    suffixes.push_back("size=" + tuple_text(t.sizes));
    if (!t.device.is_meta() || t.dtype != default_dtype()) suffixes.push_back(dtype);
  } else if (t.numel == 0) {
    text += "[]";
    if (t.sizes.size() != 1) suffixes.push_back("size=" + tuple_text(t.sizes));
    if (t.dtype != default_dtype()) suffixes.push_back(dtype);
  } else {
    if (print_options.edge_items == 0) suffixes.push_back("size=" + tuple_text(t.sizes));
    const bool is_default = t.dtype == default_dtype() || t.dtype == default_complex_dtype();
    if (!is_default && t.dtype != DType::I64 && t.dtype != DType::Bool) suffixes.push_back(dtype);
    text += elements_text(t, indent);
  }
  if (const std::string maker = history_name(tensor_of(self)); !maker.empty())
    suffixes.push_back("grad_fn=<" + maker + ">");
  else if (t.requires_grad())
    suffixes.push_back("requires_grad=True");

  const size_t newline = text.rfind('\n');
  size_t last_line = text.size() - (newline == std::string::npos ? static_cast<size_t>(-1) : newline) + 1;
  for (const std::string& suffix : suffixes) {
    if (static_cast<int64_t>(last_line + suffix.size() + 2) > print_options.line_width) {
      text += ",\n" + std::string(indent, ' ') + suffix;
      last_line = indent + suffix.size();
    } else {
      text += ", " + suffix;
      last_line += suffix.size() + 2;
    }
  }
  text += ")";
  return is_plain || !PyType_IsSubtype(Py_TYPE(self), parameter_type) ? text : "Parameter(" + text + ")";
}

Object text_object(const std::string& text) { return owned(PyUnicode_FromStringAndSize(text.data(), text.size())); }

/// A 0-d tensor formats as its number, any other tensor as object does.
Object format(PyObject* self, PyObject* spec) {
  const TensorImpl& t = *impl_of(self);
  if (t.sizes.empty() && Py_TYPE(self) == tensor_type && !t.device.is_meta()) {
    Object value = owned(from_scalar(item_of(t)));
    if (OpObserver* observer = op_observer()) observer->on_item(self, value.get());
    return owned(PyObject_Format(value.get(), spec));
  }
  Object text = owned(PyObject_Str(self));
  if (PyUnicode_GetLength(spec) == 0) return text;
  raise(PyExc_TypeError, "unsupported format string passed to Tensor.__format__");
}

/// Named settings of all options at once.
struct Profile {
  std::string_view name;
  int precision;
  double threshold;
  int64_t edge_items, line_width;
};
constexpr Profile profiles[] = {{"default", 4, 1000, 3, 80}, {"short", 2, 1000, 2, 80}, {"full", 4, INFINITY, 3, 80}};

Object set_printoptions(PyObject*, PyObject* args, PyObject* kwargs) {
  static const char* names[] = {"precision", "threshold", "edgeitems", "linewidth", "profile", "sci_mode", nullptr};
  PyObject *precision = Py_None, *threshold = Py_None, *edge = Py_None, *width = Py_None, *profile = Py_None,
           *scientific = Py_None;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|OOOOOO:set_printoptions", const_cast<char**>(names), &precision,
                                   &threshold, &edge, &width, &profile, &scientific))
    throw PythonError{};
  report_opaque("print options");
  PrintOptions options = print_options;
  if (profile != Py_None) {
    const char* name = PyUnicode_AsUTF8(profile);
    if (!name) throw PythonError{};
    for (const Profile& p : profiles)
      if (p.name == name) options = {p.precision, p.threshold, p.edge_items, p.line_width, std::nullopt};
  }
  const auto number = [](PyObject* value, auto& to) {
    if (value == Py_None) return;
    Object as_float = owned(PyNumber_Float(value));
    to = static_cast<std::remove_reference_t<decltype(to)>>(PyFloat_AS_DOUBLE(as_float.get()));
  };
  number(precision, options.precision);
  number(threshold, options.threshold);
  number(edge, options.edge_items);
  number(width, options.line_width);
  check_kind(options.precision >= 0 && options.precision <= 60 && options.edge_items >= 0 && options.line_width > 0,
             ErrorKind::ValueError,
             "set_printoptions(): precision must be within [0, 60], edgeitems and linewidth not negative");
  options.scientific.reset();
  if (scientific != Py_None) options.scientific = succeeded(PyObject_IsTrue(scientific));
  print_options = options;
  return Object::share(Py_None);
}

Object get_printoptions(PyObject*, PyObject*) {
  report_opaque("print options");
  Object scientific =
      print_options.scientific ? owned(PyBool_FromLong(*print_options.scientific)) : Object::share(Py_None);
  return owned(Py_BuildValue("{s:i,s:d,s:L,s:L,s:O}", "precision", print_options.precision, "threshold",
                             print_options.threshold, "edgeitems", print_options.edge_items, "linewidth",
                             print_options.line_width, "sci_mode", scientific.get()));
}

/// _elements_text(tensor, indent): the elements as repr() has them, in lines that begin behind `indent` columns.
Object elements_of(PyObject*, PyObject* args) {
  PyObject* tensor;
  Py_ssize_t indent = 0;
  if (!PyArg_ParseTuple(args, "O!n:_elements_text", tensor_type, &tensor, &indent)) throw PythonError{};
  const TensorImpl& t = *impl_of(tensor);
  check(!t.is_symbolic() && !is_foreign(t) && indent >= 0, "_elements_text() takes a tensor that has elements");
  report_opaque("repr", tensor);
  return text_object(elements_text(t, static_cast<size_t>(indent)));
}

}  // namespace

Object tensor_repr(PyObject* self) {
  if (may_be_taken_over(self)) [[unlikely]]
    if (Object given = overridden_method("__repr__", &self, 1, Told::Self)) return given;
  report_opaque("repr", self);
  return text_object(tensor_text(self));
}

PyMethodDef printing_methods[] = {{"__format__", method<format>(), METH_O, nullptr}, {}};

PyMethodDef printing_functions[] = {
    {"set_printoptions", method<set_printoptions>(), METH_VARARGS | METH_KEYWORDS,
     "set_printoptions(precision, threshold, edgeitems, linewidth, profile, sci_mode): how tensors print."},
    {"_elements_text", method<elements_of>(), METH_VARARGS, nullptr},
    {"get_printoptions", method<get_printoptions>(), METH_NOARGS, "The print options as a dict."},
    {}};

}  // namespace terra::hooks
