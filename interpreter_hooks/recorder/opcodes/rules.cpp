#include "interpreter_hooks/recorder/opcodes/rules.h"

#include <array>

namespace terra::capture {

namespace {

constexpr Next N = Next::Falls, J = Next::Jumps, B = Next::Branches, L = Next::Leaves;

using Table = std::array<Rules, TERRA_KIND_COUNT>;

Table make_table() {
  Table table;
#define TERRA_STACK_EFFECT(count)                                             \
  [](const TerraInstruction& i) -> int {                                      \
    const int arg [[maybe_unused]] = i.arg, flags [[maybe_unused]] = i.flags; \
    return count;                                                             \
  }
#define TERRA_ROW(name, pops, pushes, next) \
  table[TERRA_##name] = Rules{#name, TERRA_STACK_EFFECT(pops), TERRA_STACK_EFFECT(pushes), next, nullptr};
  TERRA_KINDS(TERRA_ROW)
#undef TERRA_ROW
#undef TERRA_STACK_EFFECT
  for (RuleList list : {stack_rules(), data_rules(), build_rules(), jump_rules(), call_rules(), iteration_rules(),
                        exception_rules(), match_rules(), import_rules(), shorthand_rules()}) {
    for (size_t i = 0; i < list.count; i++) table[list.rules[i].kind].rule = &list.rules[i];
  }
  RaiseRuleList raising = raise_rules();
  for (size_t i = 0; i < raising.count; i++) table[raising.rules[i].kind].raised = raising.rules[i].raised;
  return table;
}

}  // namespace

const Rules& rules_of(int kind) {
  static const Table table = make_table();
  return table[static_cast<size_t>(kind)];
}

}  // namespace terra::capture
