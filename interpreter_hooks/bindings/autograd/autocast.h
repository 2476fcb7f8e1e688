// autocast: a mode of the thread in which user-level calls convert their operands, as a table says for each op.
#pragma once
#include "interpreter_hooks/bindings/calls/invoke.h"

namespace terra::hooks {

/// What this thread converts to. The conversions are ordinary calls of to_dtype: observers, the tape and graphs see
/// them, and nothing but engine_mode() has to know that the mode exists.
struct Autocast {
  bool enabled = false;
  DType dtype = DType::BF16;  ///< of ops that gain by fewer bits

  bool operator==(const Autocast&) const = default;
};

Autocast autocast();
void set_autocast(Autocast mode);

/// Whether the mode of this thread converts operands of this call. In-place forms and out= stay what they are.
bool casts_operands(const Op& op, bool in_place);
/// The call with its floating operands (float64 aside) in the dtype that the table wants.
Object invoke_autocast(const Invocation& call);

}  // namespace terra::hooks
