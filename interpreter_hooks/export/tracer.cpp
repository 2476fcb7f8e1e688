#include "interpreter_hooks/export/tracer.h"

#include <fmt/format.h>

#include "engine/eager/value_dependent.h"
#include "engine/errors/errors.h"
#include "engine/ops/call.h"
#include "graph/file/compact.h"
#include "graph/ir/verify.h"
#include "graph/trace/build.h"
#include "graph/trace/ids.h"
#include "interpreter_hooks/bindings/object.h"
#include "interpreter_hooks/bindings/tensor/tensor_object.h"

namespace terra::capture {

using graph::kNoValue;
using graph::TraceArg;
using graph::TraceId;
using Role = graph::ProgramTensor::Role;

namespace {

/// Provisional numbers of constants are counted from here: the trace has them before all results.
constexpr TraceId kFirstConstant = 1u << 30;

struct Line {
  std::string file;
  int line = 0;
};

/// Where the Python program is.
Line here() {
  PyFrameObject* frame = PyEval_GetFrame();
  if (!frame) return {};
  const auto code = hooks::Object::steal(reinterpret_cast<PyObject*>(PyFrame_GetCode(frame)));
  const char* file = PyUnicode_AsUTF8(reinterpret_cast<PyCodeObject*>(code.get())->co_filename);
  if (!file) PyErr_Clear();
  return {file ? file : "", PyFrame_GetLineNumber(frame)};
}

}  // namespace

ProgramTracer::ProgramTracer(std::string name)
    : before_(hooks::op_observer()), element_sizes_(eager::value_dependent_calls()) {
  trace_.name = std::move(name);
  trace_.modes.enabled = false;
  hooks::op_observer() = this;
}

ProgramTracer::~ProgramTracer() { hooks::op_observer() = before_; }

void ProgramTracer::refuse(const std::string& what) {
  if (!refused_.empty()) return;
  const Line at = here();
  refused_ = fmt::format("{} ({}:{})", what, at.file, at.line);
}

void ProgramTracer::record(decltype(graph::TraceRecord::what) what) {
  Line at = here();
  trace_.records.push_back({std::move(what), std::move(at.file), at.line});
}

// ---- values --------------------------------------------------------------------------------------------------------

void ProgramTracer::bind(std::string name, const Tensor& tensor, Role role) {
  check_kind(tensor->storage.get() != nullptr, ErrorKind::NotImplementedError,
             "'{}' is a tensor without memory of its own", name);
  graph::TraceInput input;
  input.name = name;
  input.meta = {tensor.dtype(), tensor.sizes()};
  input.strides = tensor.strides();
  input.offset = tensor->offset;
  input.storage_group = static_cast<uint32_t>(trace_.inputs.size());
  trace_.inputs.push_back(std::move(input));
  ids_[tensor.get()] = next_++;
  held_.push_back(tensor);
  bound_.push_back({std::move(name), role, tensor.dtype(), tensor.sizes(), tensor.strides(),
                    role == Role::Argument ? Tensor() : tensor});
}

TraceId ProgramTracer::define(const Tensor& tensor) {
  held_.push_back(tensor);
  return ids_[tensor.get()] = next_++;
}

/// As it is now.
TraceId ProgramTracer::constant(const Tensor& tensor) {
  static const Op* const clone = find_op("clone");
  const auto id = kFirstConstant + static_cast<TraceId>(trace_.constants.size());
  trace_.constants.emplace_back(id, (*clone)(tensor, "contiguous_format"));
  return id;
}

TraceId ProgramTracer::id_of(const Tensor& tensor) {
  if (!tensor.defined()) return kNoValue;
  if (const auto known = ids_.find(tensor.get()); known != ids_.end()) return known->second;
  if (!tensor->storage) {
    refuse("it uses a tensor without memory of its own");
    return kNoValue;
  }
  held_.push_back(tensor);
  return ids_[tensor.get()] = constant(tensor);
}

TraceArg ProgramTracer::argument(const Arg& arg) {
  TraceArg out;
  switch (arg.kind()) {
    case Arg::Kind::Tensor:
      out.kind = TraceArg::Kind::Value;
      out.value = id_of(arg.tensor());
      return out;
    case Arg::Kind::TensorList:
      out.kind = TraceArg::Kind::ValueList;
      for (const Tensor& tensor : arg.tensors()) out.list.push_back(id_of(tensor));
      return out;
    case Arg::Kind::Generator: refuse("it draws random numbers from a generator of its own"); return out;
    default: out.constant = OwnedArgs(std::span<const Arg>(&arg, 1)); return out;
  }
}

// ---- reports -------------------------------------------------------------------------------------------------------

void ProgramTracer::on_call(const hooks::CallReport& report) {
  if (!refused_.empty()) return;
  if (eager::value_dependent_calls() != element_sizes_)
    return refuse(fmt::format("the sizes of what {}() gives depend on elements", report.op->name));
  graph::CallRecord call;
  call.op = report.op;
  call.in_place = report.in_place;
  for (const Arg& arg : report.args) call.args.push_back(argument(arg));
  for (const Tensor& result : report.results) {
    const bool known = result.defined() && ids_.contains(result.get());
    if (report.in_place)
      call.results.push_back(id_of(result));
    else
      call.results.push_back(known ? kNoValue : result.defined() ? define(result) : next_++);
  }
  record(std::move(call));
}

void ProgramTracer::on_construct(PyObject*, PyObject* tensor) {
  const Tensor made = hooks::tensor_of(tensor);
  graph::CallRecord call;
  call.op = find_op("clone");
  TraceArg value;
  value.kind = TraceArg::Kind::Value;
  value.value = constant(made);
  const Arg none;
  TraceArg format;
  format.constant = OwnedArgs(std::span<const Arg>(&none, 1));
  call.args.push_back(std::move(value));
  call.args.push_back(std::move(format));
  call.results = {define(made)};
  record(std::move(call));
}

void ProgramTracer::on_data(PyObject* tensor, PyObject* data) {
  const TraceId of = id_of(hooks::tensor_of(tensor));
  record(graph::DataRecord{of, define(hooks::tensor_of(data))});
}

void ProgramTracer::on_history(PyObject* tensor, const void*, unsigned, PyObject* result) { on_data(tensor, result); }

void ProgramTracer::on_item(PyObject*, PyObject*) { refuse("an element of a tensor becomes a number of Python"); }
void ProgramTracer::on_truth(PyObject*, bool) { refuse("an element of a tensor decides what Python does"); }
void ProgramTracer::on_opaque(const char* what, PyObject*) { refuse(fmt::format("{} leads out of the program", what)); }
void ProgramTracer::on_backward(const hooks::BackwardReport&) { refuse("it computes gradients"); }
void ProgramTracer::on_grad(const hooks::BackwardReport&) { refuse("it computes gradients"); }
void ProgramTracer::on_grad_write(PyObject*, PyObject*) { refuse("it assigns a gradient"); }
void ProgramTracer::on_data_write(PyObject*, PyObject*) { refuse("it assigns x.data"); }

// ---- the program ---------------------------------------------------------------------------------------------------

/// Constants come behind the inputs, results behind the constants.
void ProgramTracer::renumber() {
  const auto inputs = static_cast<TraceId>(trace_.inputs.size()),
             constants = static_cast<TraceId>(trace_.constants.size());
  const auto renumbered = [&](TraceId& id, bool = false) {
    if (id == kNoValue || id < inputs) return;
    id = id >= kFirstConstant ? id - kFirstConstant + inputs : id + constants;
  };
  graph::EachId each(renumbered);
  for (auto& record : trace_.records) each(record);
  for (auto& [id, tensor] : trace_.constants) renumbered(id);
  for (TraceId& id : trace_.outputs) renumbered(id);
  trace_.values = next_ + constants;
}

/// A program that is read back has each of its tensors in a memory of its own.
void ProgramTracer::check_apart(const graph::Program& program) const {
  for (const graph::StorageWrite& w : program.writes) {
    const uint32_t written = program.inputs[w.input].index;
    for (size_t i = 0; i < bound_.size(); ++i)
      check_kind(i == written || held_[i]->storage.get() != held_[written]->storage.get(),
                 ErrorKind::NotImplementedError, "'{}' shares its memory with '{}', which is written", bound_[i].name,
                 bound_[written].name);
  }
}

graph::PortableProgram ProgramTracer::finish(const std::vector<Tensor>& results) {
  hooks::op_observer() = before_;
  for (const Tensor& result : results) trace_.outputs.push_back(id_of(result));
  if (!refused_.empty()) throw Error(ErrorKind::NotImplementedError, refused_);
  renumber();
  try {
    graph::PortableProgram made;
    made.program = graph::build(trace_, {.joint = false});
    for (graph::TensorSpec& spec : made.program.tensors) spec.view = nullptr, spec.base = 0;  // nothing has a history
    graph::compact(made.program.graph);
    graph::verify(made.program.graph, graph::Stage::Portable, "of an exported call");
    check_apart(made.program);
    made.tensors = std::move(bound_);
    return made;
  } catch (const InternalError& e) {
    throw Error(ErrorKind::NotImplementedError, e.what());
  }
}

}  // namespace terra::capture
