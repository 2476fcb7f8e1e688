#include "interpreter_hooks/bindings/calls/observer.h"

namespace terra::hooks {

OpObserver*& op_observer() {
  static thread_local OpObserver* observer = nullptr;
  return observer;
}

}  // namespace terra::hooks
