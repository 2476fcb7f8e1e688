#include "interpreter_hooks/bindings/autograd/saved_tensors.h"

#include <vector>

#include "engine/autograd/saved.h"
#include "engine/errors/errors.h"
#include "interpreter_hooks/bindings/calls/observer.h"
#include "interpreter_hooks/bindings/interpreter_lock.h"
#include "interpreter_hooks/bindings/tensor/tensor_object.h"

namespace terra::hooks {
namespace {

struct Hooks {
  PyObject *pack, *unpack;  // strong
};
/// Of this thread; the last ones are in force. What is left when a thread ends is lost with it.
std::vector<Hooks>& hooks() {
  static thread_local std::vector<Hooks> stack;
  return stack;
}

void observe_hooks() { report_opaque("hooks of saved tensors", nullptr); }

/// What pack(tensor) gave. The last reference may go on any thread; the hook runs on the one that goes backward.
class PackedObject final : public autograd::Packed {
 public:
  PackedObject(Object content, Object unpack) : content_(std::move(content)), unpack_(std::move(unpack)) {}
  ~PackedObject() override { let_go(content_, unpack_); }

  Tensor unpack() const override {
    observe_hooks();
    const Object result = owned(PyObject_CallOneArg(unpack_.get(), content_.get()));
    if (!is_tensor(result.get()))
      raise(PyExc_TypeError, "Output of saved tensor unpack_hook expected to be a Tensor but got result of type %s",
            Py_TYPE(result.get())->tp_name);
    return tensor_of(result.get());
  }

 private:
  Object content_, unpack_;
};

std::unique_ptr<const autograd::Packed> pack(const Tensor& t) {
  observe_hooks();
  const Hooks last = hooks().back();
  const Object pack = Object::share(last.pack), tensor = Object::steal(wrap(t));
  Object unpack = Object::share(last.unpack), content = owned(PyObject_CallOneArg(pack.get(), tensor.get()));
  return std::make_unique<const PackedObject>(std::move(content), std::move(unpack));
}

/// _push_saved_tensors_hooks(pack, unpack)
Object push(PyObject*, PyObject* args) {
  PyObject *pack_function, *unpack;
  if (!PyArg_ParseTuple(args, "OO:saved_tensors_hooks", &pack_function, &unpack)) throw PythonError{};
  for (PyObject* function : {pack_function, unpack})
    if (!PyCallable_Check(function))
      raise(PyExc_TypeError, "saved_tensors_hooks(): a hook must be callable, not %s", Py_TYPE(function)->tp_name);
  observe_hooks();
  hooks().push_back({Py_NewRef(pack_function), Py_NewRef(unpack)});
  autograd::pack_hook() = pack;
  return Object::share(Py_None);
}

Object pop(PyObject*, PyObject*) {
  if (hooks().empty()) raise(PyExc_RuntimeError, "saved_tensors_hooks was left that had not been entered");
  observe_hooks();
  const Hooks last = hooks().back();
  hooks().pop_back();
  if (hooks().empty()) autograd::pack_hook() = nullptr;
  Py_DECREF(last.pack);
  Py_DECREF(last.unpack);
  return Object::share(Py_None);
}

/// The pair in force, or None.
Object top(PyObject*, PyObject*) {
  if (OpObserver* observer = op_observer()) observer->on_mode_read();
  if (hooks().empty()) return Object::share(Py_None);
  return owned(PyTuple_Pack(2, hooks().back().pack, hooks().back().unpack));
}

/// _increment_version(tensor): what was saved of it before is known to be outdated, as after a write.
Object increment_version(PyObject*, PyObject* tensor) {
  if (!is_tensor(tensor))
    raise(PyExc_TypeError, "increment_version(): expected a tensor, not %s", Py_TYPE(tensor)->tp_name);
  observe_hooks();
  if (const Ref<Storage>& storage = impl_of(tensor)->storage) storage->bump_version();
  return Object::share(Py_None);
}

}  // namespace

bool saved_tensors_are_packed() { return autograd::pack_hook() != nullptr; }

PyMethodDef saved_tensor_functions[] = {{"_push_saved_tensors_hooks", method<push>(), METH_VARARGS, nullptr},
                                        {"_pop_saved_tensors_hooks", method<pop>(), METH_NOARGS, nullptr},
                                        {"_saved_tensors_hooks", method<top>(), METH_NOARGS, nullptr},
                                        {"_increment_version", method<increment_version>(), METH_O, nullptr},
                                        {}};

}  // namespace terra::hooks
