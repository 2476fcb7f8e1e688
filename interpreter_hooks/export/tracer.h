// Makes a program of one call of a Python function: the tensor operations that it ran, whatever Python it ran them
// with.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "graph/file/portable.h"
#include "graph/trace/trace.h"
#include "interpreter_hooks/bindings/calls/observer.h"

namespace terra::capture {

/// Watches the calls of this thread while it lives. The program stands for all runs with tensors of the same dtypes and
/// sizes: what else Python decides by (numbers, attributes, sizes) is what it was. A call in which elements of tensors
/// decide (bool(x), x.item(), x.numpy()) is none that a program can stand for, and is refused, with the line.
class ProgramTracer final : public hooks::OpObserver {
 public:
  explicit ProgramTracer(std::string name);
  ~ProgramTracer() override;
  ProgramTracer(const ProgramTracer&) = delete;

  /// What the call gets, or has: before the call.
  void bind(std::string name, const Tensor& tensor, graph::ProgramTensor::Role role);
  /// After the call, with what it gave. Throws Error(NotImplementedError) for a call that is refused.
  graph::PortableProgram finish(const std::vector<Tensor>& results);

  void on_call(const hooks::CallReport& report) override;
  void on_item(PyObject* tensor, PyObject* value) override;
  void on_truth(PyObject* tensor, bool value) override;
  void on_construct(PyObject* data, PyObject* tensor) override;
  void on_data(PyObject* tensor, PyObject* data) override;
  void on_history(PyObject* tensor, const void* node, unsigned index, PyObject* result) override;
  void on_opaque(const char* what, PyObject* tensor) override;
  void on_backward(const hooks::BackwardReport& report) override;
  void on_grad(const hooks::BackwardReport& report) override;
  void on_grad_write(PyObject* tensor, PyObject* value) override;
  void on_data_write(PyObject* tensor, PyObject* data) override;

  // Said of tensors, and nothing that their elements depend on.
  void on_metadata(PyObject*, const char*, PyObject*, int64_t) override {}
  void on_grad_read(PyObject*, PyObject*) override {}
  void before_backward() override {}
  void on_function(const void*, const char*, std::span<PyObject* const>, std::span<PyObject* const>, bool) override {}
  void on_hook(PyObject*, const void*, bool, PyObject*) override {}
  void on_retain_grad(PyObject*) override {}
  void on_history_read(PyObject*) override {}
  void on_callback(const void*, std::span<PyObject* const>, PyObject*) override {}
  void on_callback_done(const void*, std::span<PyObject* const>) override {}
  void on_requires_grad(PyObject*, bool) override {}
  void on_grad_mode(GradientModes) override {}
  void on_mode_read() override {}

 private:
  void refuse(const std::string& what);
  graph::TraceId id_of(const Tensor& tensor);
  graph::TraceId constant(const Tensor& tensor);
  graph::TraceId define(const Tensor& tensor);
  graph::TraceArg argument(const Arg& arg);
  void record(decltype(graph::TraceRecord::what) what);
  void renumber();
  void check_apart(const graph::Program& program) const;

  hooks::OpObserver* const before_;
  const uint64_t element_sizes_;
  graph::Trace trace_;
  std::vector<graph::ProgramTensor> bound_;
  std::map<const TensorImpl*, graph::TraceId> ids_;
  std::vector<Tensor> held_;  ///< those that have numbers, so that no other comes to be where one was
  graph::TraceId next_ = 0;
  std::string refused_;
};

}  // namespace terra::capture
