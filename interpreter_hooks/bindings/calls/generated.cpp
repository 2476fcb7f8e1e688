#include "interpreter_hooks/bindings/calls/generated.h"

#include <string>
#include <unordered_set>

#include <cstring>

#include "engine/ops/op.h"
#include "engine/ops/overloads.h"
#include "interpreter_hooks/bindings/calls/invoke.h"
#include "interpreter_hooks/bindings/calls/op_function.h"
#include "interpreter_hooks/bindings/calls/overridable.h"
#include "interpreter_hooks/bindings/objects/types.h"
#include "interpreter_hooks/bindings/tensor/tensor_object.h"

namespace terra::hooks {
namespace {

/// "a, b" as {"a", "b"}.
std::vector<std::string> names_in(std::string_view list) {
  std::vector<std::string> names;
  while (!list.empty()) {
    const size_t comma = list.find(',');
    std::string_view name = list.substr(0, comma);
    while (name.starts_with(' ')) name.remove_prefix(1);
    if (!name.empty()) names.emplace_back(name);
    list = comma == std::string_view::npos ? std::string_view() : list.substr(comma + 1);
  }
  return names;
}

/// A property that calls an op: T, mT.
Object get_property(PyObject* self, void* op) {
  return invoke_simple(*static_cast<const Op*>(op), {tensor_of(self)}, {self});
}

/// x.imag = y writes into the memory of x: the parts of a number are views.
int set_part(PyObject* self, PyObject* value, void* op) {
  if (!value) raise(PyExc_AttributeError, "a tensor keeps its parts");
  Object part = get_property(self, op);
  return PyObject_SetItem(part.get(), Py_Ellipsis, value);
}

class Generator {
 public:
  explicit Generator(Borrowed module)
      : module_(module),
        functional_(owned(PyModule_New("_terra_C._functional"))),
        linalg_(owned(PyModule_New("_terra_C._linalg"))),
        ops_(owned(PyModule_New("_terra_C._ops"))) {}

  void run() {
    for (const Overload& overload : kOverloads) take(overload);
    for (const Op* op : all_ops()) take(*op);
    add_object(module_, "_functional", functional_.get());
    add_object(module_, "_linalg", linalg_.get());
    add_object(module_, "_ops", ops_.get());
  }

 private:
  void take(const Overload& overload) {
    const std::string name(overload.name);
    OpFunctionSpec spec{name, {}, name.back() == '_', false, false};
    bool in_place = true;
    for (std::string_view op_name : overload.ops) {
      const Op* op = op_name.empty() ? nullptr : find_op(op_name);
      if (!op) continue;
      in_place &= op->is(kInPlace);
      spec.candidates.push_back(&parameters_of(*op));
    }
    if (spec.candidates.empty()) return;
    // "random_" lists in-place forms of ops whose own names don't end so.
    overloaded_.insert(name);
    if (spec.in_place && !in_place) spec.in_place = false;
    place(spec, overload.where);
    if (in_place && name.back() != '_') {
      spec.name += "_";
      spec.in_place = true;
      overloaded_.insert(spec.name);
      place(spec, kMethod | (overload.where & kFunction));
    }
  }

  void take(const Op& op) {
    const OpFunctionSpec own{std::string(op.name), {&parameters_of(op)}, false, false, false};
    add(ops_.get(), own);
    std::vector<std::string> names = names_in(op.aliases);
    names.insert(names.begin(), std::string(op.name));
    for (const std::string& name : names) {
      OpFunctionSpec spec = own;
      spec.name = name;
      if (!overloaded_.count(name)) place(spec, op.flags, op.is(kInPlace));
      if (op.is(kProperty)) add_property(op, name);
      if (!op.is(kInPlace)) continue;
      spec.name += "_";
      spec.in_place = true;
      if (!overloaded_.count(spec.name)) place(spec, kMethod | (op.flags & (kFunction | kFunctional)));
      if (name == op.name) add(ops_.get(), spec);
    }
  }

  /// Puts callables where the flags say. `optional_inplace`: the functional form takes `inplace`.
  void place(OpFunctionSpec spec, uint32_t where, bool optional_inplace = false) {
    if (spec.name.starts_with(kModuleOfOps)) {
      if (where & kFunction) add(linalg_.get(), spec, kModuleOfOps.size());
      return;
    }
    if (where & kFunction) add(module_, spec);
    if (where & kFunctional) {
      OpFunctionSpec functional = spec;
      functional.takes_inplace = optional_inplace;
      add(functional_.get(), functional);
    }
    if (where & kMethod) {
      spec.as_method = true;
      Object function = make_op_function(spec);
      succeeded(PyDict_SetItemString(tensor_type->tp_dict, spec.name.c_str(), function.get()));
    }
  }

  /// Under its name, or what is left of it.
  static void add(Borrowed module, const OpFunctionSpec& spec, size_t left_out = 0) {
    Object function = make_op_function(spec);
    add_object(module, spec.name.c_str() + left_out, function.get());
  }

  static void add_property(const Op& op, const std::string& name) {
    auto* rows = new PyGetSetDef[2]{// they live for ever
                                    {strdup(name.c_str()), entry<get_property>,
                                     op.is(kFunction) ? entry<set_part> : nullptr, op.doc.data(), const_cast<Op*>(&op)},
                                    {}};
    add_overridable_getters(tensor_type, rows);
  }

  Borrowed module_;
  Object functional_, linalg_, ops_;
  std::unordered_set<std::string> overloaded_;
};

}  // namespace

void generate_ops(Borrowed module) {
  Generator(module).run();
  PyType_Modified(tensor_type);
}

}  // namespace terra::hooks
