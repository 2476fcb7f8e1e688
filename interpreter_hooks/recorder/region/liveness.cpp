#include "interpreter_hooks/recorder/region/liveness.h"

#include "interpreter_hooks/cpython/instructions.h"
#include "interpreter_hooks/recorder/opcodes/rules.h"

#include <algorithm>

namespace terra::capture {

namespace {

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
  const int count = terra_code_units(f.code);
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
  std::vector<int> starts;  // of whole instructions
  for (int offset = 0; offset < count; offset = f.instructions[offset].at + 1)
    if (f.instructions[offset].kind != TERRA_NOTHING) starts.push_back(offset);
  for (bool changed = !all; changed;) {
    changed = false;
    for (auto at = starts.rbegin(); at != starts.rend(); ++at) {
      const TerraInstruction& i = f.instructions[*at];
      const Next next = rules_of(i.kind).next;
      Slots live = always;
      if (next != Next::Jumps && next != Next::Leaves) join(live, before[static_cast<size_t>(i.next)]);
      if (i.target >= 0) join(live, before[static_cast<size_t>(std::clamp(i.target, 0, count))]);
      int depth, lasti;
      const int handler = terra_code_handler(f.code, i.at, &depth, &lasti);
      if (handler >= 0) join(live, before[static_cast<size_t>(handler)]);
      for (int offset = *at; offset <= i.at; offset++) behind_[static_cast<size_t>(offset)] = live;
      const auto slot = static_cast<size_t>(i.arg);
      if (i.kind == TERRA_STORE_FAST && slot < slots && !always[slot]) {
        live[slot] = false;
        if (handler >= 0) join(live, before[static_cast<size_t>(handler)]);
      }
      if ((i.kind == TERRA_LOAD_FAST || i.kind == TERRA_LOAD_FAST_AND_CLEAR || i.kind == TERRA_DELETE_FAST) &&
          slot < slots)
        live[slot] = true;
      if (live != before[static_cast<size_t>(*at)]) {
        before[static_cast<size_t>(*at)] = std::move(live);
        changed = true;
      }
    }
  }
}

}  // namespace terra::capture
