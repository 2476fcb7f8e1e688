// Jumps: a branch on a number that changes between calls is an assert; on anything else its truth is a fact.
#include "interpreter_hooks/cpython/instructions.h"
#include "interpreter_hooks/recorder/opcodes/rules.h"

namespace terra::capture {

namespace {

void decide(Recording& r, ShadowFrame& f) { r.truth(f.pending.in[0]); }

/// Python code may have computed the truth (__bool__, __len__): what it returned has been pinned on its way out.
void decided(Recording&, ShadowFrame& f) {
  if (!f.pending.returns.empty()) f.pending.used_returns = true;
}

/// Whether a value is None follows from its guarded type or value.
void is_none(Recording& r, ShadowFrame& f) {
  Value& value = f.pending.in[0];
  if (value.kind == Value::Dynamic && r.find(value.object)) r.guard_type(value.object);
}

/// The value stays on the stack where the jump is taken.
void or_pop(Recording& r, ShadowFrame& f) {
  decided(r, f);
  if (f.real_depth() == static_cast<int>(f.stack.size()) + 1) f.push(f.pending.in[0]);
}

constexpr Rule rules[] = {
    {TERRA_JUMP, nullptr, nullptr},
    {TERRA_JUMP_NO_INTERRUPT, nullptr, nullptr},
    {TERRA_POP_JUMP_IF_TRUE, decide, decided},
    {TERRA_POP_JUMP_IF_FALSE, decide, decided},
    {TERRA_POP_JUMP_IF_NONE, is_none, nullptr},
    {TERRA_POP_JUMP_IF_NOT_NONE, is_none, nullptr},
    {TERRA_JUMP_IF_TRUE_OR_POP, decide, or_pop},
    {TERRA_JUMP_IF_FALSE_OR_POP, decide, or_pop},
};

}  // namespace

RuleList jump_rules() { return {rules, std::size(rules)}; }

}  // namespace terra::capture
