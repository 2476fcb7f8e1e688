// How tensor operations report themselves to whoever watches the Python program (DESIGN section 4: the user-level call
// is the unit that observers see).
#pragma once
#include <Python.h>

#include <span>
#include <vector>

#include "engine/ops/call.h"
#include "engine/ops/op.h"

namespace terra::hooks {

/// One user-level call as the binding layer ran it. All pointers are borrowed for the length of the report.
struct CallReport {
  const Op* op = nullptr;
  bool in_place = false;                  ///< the form name_(self, ...)
  std::span<const Arg> args;              ///< as parsed, in signature order, defaults filled in, before promotion
  std::span<PyObject* const> sources;     ///< per parameter: the Python object it was parsed from, null for a default.
                                          ///< A varargs parameter (x.view(2, 3)): null, see `positional`.
  std::span<PyObject* const> positional;  ///< everything that was passed by position, self first
  std::span<const Tensor> results;        ///< real results, in the record's order
  PyObject* result = nullptr;             ///< what Python gets: a Tensor, a tuple or list of them
};

/// One pass over the tape as the program asked for it, after it has run.
struct BackwardReport {
  std::span<PyObject* const> roots;
  std::span<PyObject* const> gradients;  ///< a tensor or None per root
  std::span<PyObject* const> inputs;     ///< backward: empty for all leaves
  std::span<PyObject* const> results;    ///< autograd.grad: the gradient of each input, None where it was not used
  bool retain_graph = false, create_graph = false;
  bool allow_unused = false, materialize = false;  ///< autograd.grad
};

/// Things that happen to tensors and aren't ops. `object` arguments are Tensor objects.
class OpObserver {
 public:
  virtual ~OpObserver() = default;
  /// An op ran (eagerly, for real). Not sent when the call raised.
  virtual void on_call(const CallReport& report) = 0;
  /// A tensor's value became a Python scalar: item(), float(), int(), __index__, tolist() of a 0-d tensor.
  virtual void on_item(PyObject* tensor, PyObject* value) = 0;
  /// A tensor's value decided a branch: bool(tensor).
  virtual void on_truth(PyObject* tensor, bool value) = 0;
  /// Metadata was read into Python: `attribute` is "shape", "dtype", "requires_grad", "is_leaf", "ndim", "grad_fn", ...
  /// `dim`: the dimension that was asked for, if one was (size, stride).
  virtual void on_metadata(PyObject* tensor, const char* attribute, PyObject* value, int64_t dim) = 0;
  /// `tensor.grad` was read (value: Tensor or None) or assigned.
  virtual void on_grad_read(PyObject* tensor, PyObject* value) = 0;
  virtual void on_grad_write(PyObject* tensor, PyObject* value) = 0;
  /// A pass over the tape is about to begin.
  virtual void before_backward() = 0;
  /// backward() finished: gradients were accumulated.
  virtual void on_backward(const BackwardReport& report) = 0;
  /// autograd.grad() finished.
  virtual void on_grad(const BackwardReport& report) = 0;
  /// A node of the program's own (autograd.Function) becomes the history of `outputs`. `saves`: its gradient can't be
  /// taken twice.
  virtual void on_function(const void* node, const char* name, std::span<PyObject* const> inputs,
                           std::span<PyObject* const> outputs, bool saves) = 0;
  /// `result` has the elements of `tensor` and the history of result `index` of such a node.
  virtual void on_history(PyObject* tensor, const void* node, unsigned index, PyObject* result) = 0;
  /// A function was hooked to the gradient of a tensor; `hooks` holds all hooks of the tensor, `first`: it was the
  /// first.
  virtual void on_hook(PyObject* tensor, const void* hooks, bool first, PyObject* handle) = 0;
  virtual void on_retain_grad(PyObject* tensor) = 0;
  /// What the history of a tensor leads to was read into Python.
  virtual void on_history_read(PyObject* tensor) = 0;
  /// tensor.data was read; is about to be assigned.
  virtual void on_data(PyObject* tensor, PyObject* data) = 0;
  virtual void on_data_write(PyObject* tensor, PyObject* data) = 0;
  /// A pass over the tape is about to call Python, for a node of the program's own (then `node` is its object) or for
  /// the hooks of a tensor, with these gradients (None: none arrived); and has called it, with these results.
  virtual void on_callback(const void* owner, std::span<PyObject* const> gradients, PyObject* node) = 0;
  virtual void on_callback_done(const void* owner, std::span<PyObject* const> results) = 0;
  /// A new tensor was made of numbers: one, or nested lists and tuples of them.
  virtual void on_construct(PyObject* data, PyObject* tensor) = 0;
  /// requires_grad is about to be set to another value.
  virtual void on_requires_grad(PyObject* tensor, bool value) = 0;
  /// set_grad_enabled, no_grad, enable_grad, inference_mode: the modes of this thread changed.
  virtual void on_grad_mode(GradientModes modes) = 0;
  /// A mode of this thread (gradients, autocast) was read into Python.
  virtual void on_mode_read() = 0;
  /// Something that a trace can't express (numpy(), data_ptr, hooks, set_data, ...): `what` names it for the reasons
  /// table. Sent before it happens.
  virtual void on_opaque(const char* what, PyObject* tensor) = 0;
};

/// The observer of this thread, or null. A report costs one load and a branch when nobody watches.
OpObserver*& op_observer();

/// OpObserver::on_opaque, where somebody watches.
inline void report_opaque(const char* what, PyObject* subject = Py_None) {
  if (OpObserver* observer = op_observer()) [[unlikely]]
    observer->on_opaque(what, subject);
}

}  // namespace terra::hooks
