// out= and requires_grad=: arguments that concern the result of an op rather than its computation.
#pragma once
#include "engine/ops/op.h"
#include "interpreter_hooks/bindings/entry.h"

namespace terra::hooks {

struct CalledOp {
  const Op& op;
  const char* name;  ///< as Python sees it
};

/// `result` copied into `out` (a tensor, or a tuple of them for several results; an empty tensor takes the result's
/// shape), then marked as requiring grad or, of factories, as not: what they make does only where it is asked for.
/// Either may be null. Returns what the call returns.
Object apply_keyword_results(Object result, Borrowed out, Borrowed requires_grad, const CalledOp& called);

}  // namespace terra::hooks
