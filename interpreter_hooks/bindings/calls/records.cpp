// The op records as Python data: what stubs and reference pages are generated from.
#include "engine/ops/draws.h"
#include "engine/ops/op.h"
#include "engine/ops/overloads.h"
#include "engine/ops/rules.h"
#include "interpreter_hooks/bindings/calls/arguments.h"
#include "interpreter_hooks/bindings/calls/function_tables.h"
#include "interpreter_hooks/bindings/entry.h"
#include "interpreter_hooks/bindings/tensor/memory_format.h"

namespace terra::hooks {
namespace {

void put(const Object& dict, const char* key, Object value) {
  succeeded(PyDict_SetItemString(dict.get(), key, value.get()));
}
Object text(std::string_view s) {
  return owned(PyUnicode_FromStringAndSize(s.data(), static_cast<Py_ssize_t>(s.size())));
}

/// Facts about an op that are true or false, by the name Python gets.
constexpr struct {
  const char* name;
  uint32_t flag;
} flag_names[] = {
    {"elementwise", kElementwise}, {"view", kView},         {"random", kRandom},     {"in_place", kInPlace},
    {"reduction", kReduction},     {"function", kFunction}, {"method", kMethod},     {"functional", kFunctional},
    {"property", kProperty},       {"host", kHost},         {"may_alias", kMayAlias},
    {"draws_by_sizes", kDrawsBySizes}};

Object type_name(ParamType type) {
  static constexpr const char* names[] = {"Tensor", "Tensor|Number", "Tensor[]", "Number", "int",      "float",
                                          "bool",   "int[]",         "dtype",    "str",    "Generator"};
  return text(names[static_cast<size_t>(type)]);
}

/// "linalg" for an op whose functions stand there.
Object module_of(std::string_view name) {
  return text(name.starts_with(kModuleOfOps) ? kModuleOfOps.substr(0, kModuleOfOps.size() - 1) : "");
}

Object params_of(const Op& op) {
  Object list = owned(PyList_New(0));
  for (const Param& p : op.sig().params) {
    Object dict = owned(PyDict_New());
    put(dict, "name", text(p.name));
    const bool no_number = p.type == ParamType::TensorOrNumber && op.is(kTensorsOnly);
    const ParamType type = no_number ? ParamType::Tensor : p.type;
    put(dict, "type", takes_memory_format(p) ? text("memory_format") : type_name(type));
    put(dict, "optional", owned(PyBool_FromLong(p.optional)));
    put(dict, "default", owned(PyBool_FromLong(p.has_default)));
    put(dict, "keyword_only", owned(PyBool_FromLong(p.keyword_only)));
    put(dict, "varargs", owned(PyBool_FromLong(p.varargs)));
    succeeded(PyList_Append(list.get(), dict.get()));
  }
  return list;
}

Object samples_of(const Op& op) {
  Object list = owned(PyList_New(0));
  for (const Sample& sample : op.samples) {
    Object dict = owned(PyDict_New());
    put(dict, "args", text(sample.args));
    put(dict, "dtypes", text(sample.dtypes));
    put(dict, "differentiable", owned(PyBool_FromLong(sample.differentiable)));
    succeeded(PyList_Append(list.get(), dict.get()));
  }
  return list;
}

Object record_of(const Op& op) {
  Object dict = owned(PyDict_New());
  put(dict, "name", text(op.name));
  put(dict, "module", module_of(op.name));
  put(dict, "signature", text(signature_of(op)));
  put(dict, "doc", text(op.doc));
  put(dict, "example", text(op.example));
  put(dict, "aliases", text(op.aliases));
  put(dict, "params", params_of(op));
  put(dict, "samples", samples_of(op));
  put(dict, "differentiable", owned(PyBool_FromLong(op.gradient || (op.composite && !op.is(kNoGradient)))));
  put(dict, "writes", owned(PyBool_FromLong(op.writes != 0)));
  put(dict, "composite", owned(PyBool_FromLong(op.composite != nullptr)));
  Object results = owned(PyList_New(0));
  for (const std::string& name : op.sig().result_names) succeeded(PyList_Append(results.get(), text(name).get()));
  put(dict, "results", std::move(results));
  put(dict, "result_is_list", owned(PyBool_FromLong(op.sig().result_is_list)));
  for (const auto& row : flag_names) put(dict, row.name, owned(PyBool_FromLong(op.is(row.flag))));
  return dict;
}

Object op_records(PyObject*, PyObject*) {
  Object list = owned(PyList_New(0));
  for (const Op* op : all_ops()) succeeded(PyList_Append(list.get(), record_of(*op).get()));
  return list;
}

Object op_overloads(PyObject*, PyObject*) {
  Object dict = owned(PyDict_New());
  for (const Overload& overload : kOverloads) {
    Object names = owned(PyList_New(0));
    for (std::string_view op : overload.ops)
      if (!op.empty()) succeeded(PyList_Append(names.get(), text(op).get()));
    Object entry = owned(PyDict_New());
    put(entry, "ops", std::move(names));
    for (const auto& row : flag_names)
      if (row.flag & (kFunction | kMethod | kFunctional))
        put(entry, row.name, owned(PyBool_FromLong((overload.where & row.flag) != 0)));
    put(dict, overload.name.data(), std::move(entry));
  }
  return dict;
}

}  // namespace

PyMethodDef record_functions[] = {{"op_records", method<op_records>(), METH_NOARGS, "Every op record as a dict."},
                                  {"op_overloads", method<op_overloads>(), METH_NOARGS,
                                   "Names that stand for several ops: those ops, and where the names are found."},
                                  {}};

}  // namespace terra::hooks
