#include "interpreter_hooks/recorder/region/liveness.h"

#include "interpreter_hooks/recorder/opcodes/rules.h"

#include <opcode.h>

#include <algorithm>

namespace terra::capture {

namespace {

bool jumps(int code) {
  switch (code) {
    case JUMP_FORWARD:
    case JUMP_BACKWARD:
    case JUMP_BACKWARD_NO_INTERRUPT:
    case POP_JUMP_FORWARD_IF_TRUE:
    case POP_JUMP_FORWARD_IF_FALSE:
    case POP_JUMP_FORWARD_IF_NONE:
    case POP_JUMP_FORWARD_IF_NOT_NONE:
    case POP_JUMP_BACKWARD_IF_TRUE:
    case POP_JUMP_BACKWARD_IF_FALSE:
    case POP_JUMP_BACKWARD_IF_NONE:
    case POP_JUMP_BACKWARD_IF_NOT_NONE:
    case JUMP_IF_TRUE_OR_POP:
    case JUMP_IF_FALSE_OR_POP:
    case FOR_ITER:
    case SEND: return true;
    default: return false;
  }
}

bool goes_on(int code) {
  return code != JUMP_FORWARD && code != JUMP_BACKWARD && code != JUMP_BACKWARD_NO_INTERRUPT && code != RETURN_VALUE &&
         code != RAISE_VARARGS && code != RERAISE;
}

bool asks_by_name(PyCodeObject* code) {
  static constexpr const char* names[] = {"locals", "vars",      "dir",          "eval",
                                          "exec",   "_getframe", "currentframe", "stack"};
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(code->co_names); i++) {
    PyObject* const name = PyTuple_GET_ITEM(code->co_names, i);
    if (std::any_of(std::begin(names), std::end(names),
                    [&](const char* known) { return PyUnicode_CompareWithASCIIString(name, known) == 0; }))
      return true;
  }
  return false;
}

}  // namespace

Liveness::Liveness(const ShadowFrame& f) {
  const int count = static_cast<int>(Py_SIZE(f.code));
  const size_t slots = f.locals.size();
  const bool all = asks_by_name(f.code);
  Slots always(slots, all);
  for (size_t s = 0; s < slots; s++)
    if (terra_code_slot_kind(f.code, static_cast<int>(s)) != TERRA_SLOT_LOCAL) always[s] = true;
  std::vector<Slots> before(static_cast<size_t>(count) + 1, always);
  behind_.assign(static_cast<size_t>(count), always);
  const auto join = [](Slots& into, const Slots& from) {
    for (size_t s = 0; s < into.size(); s++)
      if (from[s]) into[s] = true;
  };
  std::vector<int> starts;  // of whole instructions, each from its first EXTENDED_ARG on
  for (int offset = 0; offset < count; offset++) {
    starts.push_back(offset);
    while (f.bytes[2 * offset] == EXTENDED_ARG && offset + 1 < count) offset++;
  }
  for (bool changed = !all; changed;) {
    changed = false;
    for (auto at = starts.rbegin(); at != starts.rend(); ++at) {
      int arg = 0, last = *at;
      for (;; last++) {
        arg = arg << 8 | f.bytes[2 * last + 1];
        if (f.bytes[2 * last] != EXTENDED_ARG || last + 1 >= count) break;
      }
      const int code = f.bytes[2 * last];
      int next = last + 1;
      while (next < count && f.bytes[2 * next] == CACHE) next++;
      Slots live = always;
      if (goes_on(code)) join(live, before[static_cast<size_t>(next)]);
      if (jumps(code)) join(live, before[static_cast<size_t>(std::clamp(jump_target(code, arg, next), 0, count))]);
      int depth, lasti;
      if (const int handler = terra_code_handler(f.code, last, &depth, &lasti); handler >= 0)
        join(live, before[static_cast<size_t>(handler)]);
      for (int offset = *at; offset <= last; offset++) behind_[static_cast<size_t>(offset)] = live;
      const auto slot = static_cast<size_t>(arg);
      if (code == STORE_FAST && slot < slots && !always[slot]) {
        live[slot] = false;
        if (const int handler = terra_code_handler(f.code, last, &depth, &lasti); handler >= 0)
          join(live, before[static_cast<size_t>(handler)]);
      }
      if ((code == LOAD_FAST || code == DELETE_FAST) && slot < slots) live[slot] = true;
      if (live != before[static_cast<size_t>(*at)]) {
        before[static_cast<size_t>(*at)] = std::move(live);
        changed = true;
      }
    }
  }
}

}  // namespace terra::capture
