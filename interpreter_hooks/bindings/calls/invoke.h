// Running one user-level call: the unit that observers, counters and grad_fn names see.
#pragma once
#include <initializer_list>
#include <span>

#include "engine/ops/op.h"
#include "interpreter_hooks/bindings/entry.h"

namespace terra::hooks {

/// A call about to be made. Everything is borrowed for its length.
struct Invocation {
  const Op& op;
  bool in_place = false;
  std::span<const Arg> args;              ///< in signature order; missing ones at the end take their defaults
  std::span<PyObject* const> sources;     ///< the objects the arguments were parsed from, null for a default
  std::span<PyObject* const> positional;  ///< everything passed by position
  const char* name = nullptr;             ///< as Python knows the function; null: the op's name
};

/// Runs the op, counts it, wraps its results (a tensor, a tuple of them, or a named tuple) and tells the observer. The
/// result of an in-place call is sources[0] itself.
Object invoke(const Invocation& call);

/// A call written in this folder: the Python objects stand for themselves where an argument is a tensor.
///   invoke_simple(select, {tensor, 0, 3}, {object})
Object invoke_simple(const Op& op, std::initializer_list<Arg> args, std::initializer_list<PyObject*> sources);
Object invoke_in_place(const Op& op, std::initializer_list<Arg> args, std::initializer_list<PyObject*> sources);

/// The op of that name; throws Error (NotImplementedError) where this build has none.
const Op& required_op(const char* name);

}  // namespace terra::hooks
