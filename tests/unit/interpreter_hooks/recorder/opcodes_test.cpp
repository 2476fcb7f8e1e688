// The table of opcodes against the compiler's own knowledge of stack effects.
#include <catch2/catch.hpp>

#include "interpreter_hooks/cpython/frame.h"
#include "interpreter_hooks/recorder/relaxation.h"
#include "interpreter_hooks/recorder/rules.h"

#include <opcode.h>

using namespace terra::capture;

TEST_CASE("pushes minus pops is the stack effect that the compiler uses") {
  Py_Initialize();
  for (int code = 0; code < 256; code++) {
    const Opcode& row = opcode(code);
    // CALL's effect is split between PRECALL and CALL in the compiler; LOAD_METHOD and the exception opcodes are exact.
    if (!row.name || code == CACHE || code == CALL || code == PRECALL || code == RERAISE) continue;
    INFO(row.name);
    for (int arg : {0, 1, 2, 3, 5}) {
      bool takes_arg = code >= HAVE_ARGUMENT;
      if (code == BUILD_SLICE && arg != 2 && arg != 3) continue;
      int effect = PyCompile_OpcodeStackEffectWithJump(code, takes_arg ? arg : 0, 0);
      if (effect == PY_INVALID_STACK_EFFECT) continue;
      CHECK(row.pushes(arg) - row.pops(arg) == effect);
      if (!takes_arg) break;
    }
  }
}

TEST_CASE("every opcode of the table has a rule or is known to end a recording") {
  for (int code = 0; code < 256; code++) {
    const Opcode& row = opcode(code);
    if (row.rule) CHECK(row.name != nullptr);
  }
}

TEST_CASE("a number that is relaxed takes its kin below the same root with it") {
  Relaxation relaxation;
  CHECK(relaxation.relax("self.layers[0].count"));
  CHECK_FALSE(relaxation.relax("self.layers[0].count"));
  CHECK(relaxation.relaxed("self.layers[7].count"));
  CHECK_FALSE(relaxation.relaxed("self.layers[0].size"));
  CHECK_FALSE(relaxation.relaxed("other.count"));
  CHECK(relaxation.relax("o.sizes[1]"));
  CHECK(relaxation.relaxed("o.sizes[4]"));
  CHECK_FALSE(relaxation.relaxed("o.limits[1]"));
}
