#include "interpreter_hooks/cpython/opcodes_311.h"
#include "interpreter_hooks/recorder/opcodes/rules.h"

#include <array>

namespace terra::capture {

namespace {

constexpr Next N = Next::Falls, J = Next::Jumps, B = Next::Branches, L = Next::Leaves;

std::array<Opcode, 256> make_table() {
  std::array<Opcode, 256> table;
#define TERRA_ROW(opcode_name, pop_count, push_count, next_kind)                                       \
  table[opcode_name] = Opcode{#opcode_name, [](int arg [[maybe_unused]]) -> int { return pop_count; }, \
                              [](int arg [[maybe_unused]]) -> int { return push_count; }, next_kind, nullptr};
  TERRA_OPCODES(TERRA_ROW)
#undef TERRA_ROW
  for (RuleList list : {stack_rules(), data_rules(), build_rules(), jump_rules(), call_rules(), iteration_rules(),
                        exception_rules(), match_rules(), import_rules()}) {
    for (size_t i = 0; i < list.count; i++) table[list.rules[i].opcode].rule = &list.rules[i];
  }
  RaiseRuleList raising = raise_rules();
  for (size_t i = 0; i < raising.count; i++) table[raising.rules[i].opcode].raised = raising.rules[i].raised;
  return table;
}

}  // namespace

const Opcode& opcode(int code) {
  static const std::array<Opcode, 256> table = make_table();
  return table[code];
}

int jump_target(int code, int arg, int next) {
  switch (code) {
    case JUMP_BACKWARD:
    case JUMP_BACKWARD_NO_INTERRUPT:
    case POP_JUMP_BACKWARD_IF_TRUE:
    case POP_JUMP_BACKWARD_IF_FALSE:
    case POP_JUMP_BACKWARD_IF_NONE:
    case POP_JUMP_BACKWARD_IF_NOT_NONE: return next - arg;
    default: return next + arg;
  }
}

}  // namespace terra::capture
