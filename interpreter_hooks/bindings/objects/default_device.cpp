#include "interpreter_hooks/bindings/objects/default_device.h"

#include <vector>

#include "engine/tensor/deferral.h"
#include "interpreter_hooks/bindings/calls/observer.h"
#include "interpreter_hooks/bindings/objects/dtype_object.h"
#include "interpreter_hooks/bindings/objects/types.h"

namespace terra::hooks {
namespace {

/// What contexts of the thread have made the default, and what it is outside of them.
struct Defaults {
  Device outside;
  std::vector<Device> entered;

  Device now() const { return entered.empty() ? outside : entered.back(); }
};
thread_local Defaults defaults;

/// Outside of a call nothing else says where the thread makes tensors. What has been put off is done where it was asked
/// for.
void take_effect() {
  report_opaque("the default device");
  if (current_device() == defaults.now()) return;
  settle_deferred_work();
  terra::detail::current_device = defaults.now();
}

Object set_default_device(PyObject*, PyObject* device) {
  defaults.outside = device == Py_None ? Device() : device_from(device);
  take_effect();
  return Object::share(Py_None);
}
Object get_default_device(PyObject*, PyObject*) {
  if (OpObserver* observer = op_observer()) observer->on_mode_read();
  return device_object(defaults.now());
}
PyMethodDef functions[] = {{"_set_default_device", method<set_default_device>(), METH_O, nullptr},
                           {"_get_default_device", method<get_default_device>(), METH_NOARGS, nullptr},
                           {}};

}  // namespace

void enter_default_device(Device device) {
  defaults.entered.push_back(device);
  take_effect();
}

void leave_default_device() {
  if (defaults.entered.empty()) raise(PyExc_RuntimeError, "a device was left that had not been entered");
  defaults.entered.pop_back();
  take_effect();
}

void create_default_device_functions(PyObject* module) { add_functions(module, functions); }

}  // namespace terra::hooks
