// Functions that call themselves on structures that differ from call to call. A recording that followed them would be
// one of this structure alone, so each call is captured by itself: a call of such a function is opaque to whoever
// records its caller, and so are its own calls of itself to it.
//
//   def encode(tree):
//       if tree.is_leaf: return leaf(tree.word)         # an entry
//       l, r = encode(tree.left), encode(tree.right)    # performed as they stand; each is served by itself
//       return join(l, r)                               # an entry for the rest of the frame
//
// Modules inside of modules of the same class run the same code, too, but each has its place in a model that stays as
// it is: those are followed, and so are decorators around decorators (functions of their own that share code), and what
// Terra's package does with nested arguments.
#pragma once
#include "interpreter_hooks/recorder/core/frames.h"

#include <span>

namespace terra::capture {

/// The code has been seen to call itself.
bool is_recursive(const PyCodeObject* code);

/// Is told of code when it is first seen to call itself.
inline void (*on_recursive)(PyCodeObject*) = nullptr;

/// Whether the call that is about to run `callee`, below `callers`, is to be left to itself. Notes code that is there
/// seen to call itself.
bool is_recursive_call(std::span<ShadowFrame* const> callers, const TerraFrame* callee);

}  // namespace terra::capture
