// Guards on what the effects will drop: code that runs when it goes would run at another moment than in the program.
#include "interpreter_hooks/guards/container_kinds.h"
#include "interpreter_hooks/recorder/finisher.h"

#include <algorithm>
#include <cstring>

namespace terra::capture {

namespace {

const char* method_name(PyObject* callee) {
  return Py_TYPE(callee) == &PyMethodDescr_Type ? reinterpret_cast<PyMethodDescrObject*>(callee)->d_method->ml_name
                                                : "";
}

/// Methods of containers after which all that was there still is.
bool drops_nothing(const char* method) {
  constexpr const char* names[] = {"append", "appendleft",  "extend", "extendleft", "insert", "add",
                                   "sort",   "move_to_end", "rotate", "reverse",    "update"};
  return std::any_of(std::begin(names), std::end(names), [&](const char* name) { return !std::strcmp(name, method); });
}

}  // namespace

/// Of what is in the place that a write is about.
void Finisher::keep_quiet(const Write& write) {
  PyObject* target = write.target.object;
  const auto guard = [&](Op op, std::vector<Word> operands, Register b) {
    const Register a = r_.reg_of(write.target);
    if (quiet_.insert({op, a, b, write.effect == Effect::CallMethod ? nullptr : write.name}).second)
      r_.guard(op, a, std::move(operands), b);
  };
  const auto item = [&](Register key) { guard(Op::QuietItem, {}, key); };
  switch (write.effect) {
    case Effect::SetAttribute:
    case Effect::SetPlainAttribute:
    case Effect::DeleteAttribute:
      if (!is_tensor(target)) guard(Op::QuietAttribute, {word_of(r_.file().keep(write.name))}, no_register);
      return;
    case Effect::SetItem:
    case Effect::DeleteItem: {
      if (!write.key.known()) return item(r_.file().constant(write.name));
      const Shadow* key = r_.peek(write.key.object);
      if (write.key.has_register() || write.key.is_fact()) return item(r_.reg_of(write.key));
      if (key && key->outside) item(r_.reg_of(key->self));
      return;  // a key made inside: nothing is there yet, or only its like is
    }
    case Effect::SetCell: return guard(Op::QuietItems, {}, no_register);
    case Effect::CallMethod: {
      const char* method = method_name(write.name);
      if (!is_sequence(target) && !is_dict(target) && !is_set(target)) return;
      const bool full = is_deque(target) && max_length_of(target) >= 0;
      const bool ends = !std::strcmp(method, "pop") && write.arguments.size() == 1;
      const bool pushes = full && (!std::strcmp(method, "append") || !std::strcmp(method, "appendleft"));
      if (is_sequence(target) && (ends || pushes || !std::strcmp(method, "popleft"))) {
        const bool first = !std::strcmp(method, "popleft") || (pushes && !std::strcmp(method, "append"));
        PyObject* place = PyLong_FromLong(first ? 0 : -1);
        item(r_.file().constant(r_.hold(place)));
        Py_DECREF(place);
      } else if (full || !drops_nothing(method)) {
        guard(Op::QuietItems, {}, no_register);
      }
      return;
    }
    default: return;
  }
}

void Finisher::keep_departures_quiet() {
  for (const Write& write : r_.writes_) {
    if (r_.alive() && !write.drops_number && write.target.object != Py_None) keep_quiet(write);
  }
}

}  // namespace terra::capture
