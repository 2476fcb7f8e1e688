#include "interpreter_hooks/bindings/calls/invoke.h"

#include <structmember.h>
#include <structseq.h>

#include <optional>
#include <string>
#include <unordered_map>

#include "engine/eager/long_call.h"
#include "engine/errors/errors.h"
#include "engine/ops/call.h"
#include "interpreter_hooks/bindings/calls/call_watcher.h"
#include "interpreter_hooks/bindings/calls/counters.h"
#include "interpreter_hooks/bindings/calls/observer.h"
#include "interpreter_hooks/bindings/tensor/tensor_object.h"

namespace terra::hooks {
namespace {

/// A vector for results that keeps its memory between calls. Calls nest only through Python code that an op runs, so
/// one spare is enough.
class Results {
 public:
  Results() { values = std::move(spare()); }
  ~Results() {
    values.clear();
    spare() = std::move(values);
  }
  Results(const Results&) = delete;

  std::vector<Tensor> values;

 private:
  static std::vector<Tensor>& spare() {
    static thread_local std::vector<Tensor> memory;
    return memory;
  }
};

/// torch.return_types.max(
/// values=tensor(3),
/// indices=tensor(2))
Object named_tuple_repr(PyObject* self) {
  std::string text = std::string(Py_TYPE(self)->tp_name) + "(\n";
  const PyMemberDef* member = Py_TYPE(self)->tp_members;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(self); ++i) {
    Object value = owned(PyObject_Repr(PyTuple_GET_ITEM(self, i)));
    text += (i ? ",\n" : "") + std::string(member ? member[i].name : "") + "=" + PyUnicode_AsUTF8(value.get());
  }
  return owned(PyUnicode_FromString((text + ")").c_str()));
}

/// The named tuple type of an op's results, made on first use and kept. Ops behind one name can have results of their
/// own.
PyTypeObject* named_tuple_type(const Op& op, const char* name) {
  struct Named {
    std::string title;
    std::vector<PyStructSequence_Field> fields;
    PyTypeObject* type = nullptr;
  };
  static auto& types = *new std::unordered_map<const Op*, Named>;
  Named& named = types[&op];
  if (named.type) return named.type;
  named.title = "torch.return_types." + std::string(name);
  for (const std::string& field : op.sig().result_names) named.fields.push_back({field.c_str(), nullptr});
  named.fields.push_back({});
  PyStructSequence_Desc description = {named.title.c_str(), "Results of an op, by name.", named.fields.data(),
                                       static_cast<int>(op.sig().result_names.size())};
  named.type = PyStructSequence_NewType(&description);
  if (!named.type) throw PythonError{};
  named.type->tp_repr = entry<named_tuple_repr>;
  PyType_Modified(named.type);
  return named.type;
}

/// What Python gets. Results without names behind the first are for the gradient only.
Object pack(const Op& op, std::vector<Tensor>& results, const char* name) {
  const Signature& signature = op.sig();
  if (signature.result_is_list) {
    Object tuple = owned(PyTuple_New(static_cast<Py_ssize_t>(results.size())));
    for (size_t i = 0; i < results.size(); ++i) PyTuple_SET_ITEM(tuple.get(), i, wrap(results[i]));
    return tuple;
  }
  if (signature.result_names.size() < 2) return Object::steal(wrap(results[0]));
  Object tuple = owned(PyStructSequence_New(named_tuple_type(op, name)));
  for (size_t i = 0; i < results.size(); ++i) PyStructSequence_SET_ITEM(tuple.get(), i, wrap(results[i]));
  return tuple;
}

/// Arguments completed with defaults, as observers are promised them.
void report(OpObserver& observer, const Invocation& call, std::span<const Tensor> results, PyObject* result) {
  const auto& params = call.op.sig().params;
  std::vector<Arg> args(call.args.begin(), call.args.end());
  std::vector<PyObject*> sources(call.sources.begin(), call.sources.end());
  for (size_t i = args.size(); i < params.size(); ++i) args.push_back(params[i].default_value);
  sources.resize(params.size());
  observer.on_call({&call.op, call.in_place, args, sources, call.positional, results, result});
}

}  // namespace

Object invoke(const Invocation& call) {
  counters.count_eager_call();
  if (call_watcher) [[unlikely]]
    call_watcher->before_call(call.op, call.in_place, call.args);
  OpObserver* observer = op_observer();
  if (call.in_place) {
    const Tensor target = call_in_place(call.op, call.args);
    Object result = Object::share(call.sources[0]);
    if (observer) [[unlikely]]
      report(*observer, call, {&target, 1}, result.get());
    return result;
  }
  Results results;
  {
    // The caller's stack holds the arguments. A recording has the thread to itself for the length of an instruction.
    std::optional<eager::LettingGo> others;
    if (!observer) others.emplace();
    terra::call(call.op, call.args, results.values);
  }
  if (!observer && call.op.sig().result_names.empty() && !call.op.sig().result_is_list) [[likely]]
    return Object::steal(wrap(std::move(results.values[0])));
  Object result = pack(call.op, results.values, call.name ? call.name : call.op.name.data());
  if (observer) report(*observer, call, results.values, result.get());
  return result;
}

Object invoke_simple(const Op& op, std::initializer_list<Arg> args, std::initializer_list<PyObject*> sources) {
  return invoke({op, false, {args.begin(), args.size()}, {sources.begin(), sources.size()}, {}});
}

Object invoke_in_place(const Op& op, std::initializer_list<Arg> args, std::initializer_list<PyObject*> sources) {
  return invoke({op, true, {args.begin(), args.size()}, {sources.begin(), sources.size()}, {}});
}

const Op& required_op(const char* name) {
  const Op* op = find_op(name);
  check_kind(op != nullptr, ErrorKind::NotImplementedError, "this build of Terra has no op '{}'", name);
  return *op;
}

}  // namespace terra::hooks
