// What programs are told whose writes meet views that were made in no_grad or inference mode.
#pragma once
#include <string>
#include <string_view>

#include "engine/autograd/meta.h"

namespace terra::autograd {

/// How messages name the mode that an ambiguous view was made in, and the other.
struct AmbiguousOrigin {
  std::string_view made_in, written_in, block;
};
inline AmbiguousOrigin names_of(ViewOrigin origin) {
  if (origin == ViewOrigin::Inference) return {"inference mode", "in normal mode", "inference_mode"};
  return {"no_grad mode", "with grad mode enabled", "no_grad"};
}

/// What to do about it.
std::string advice_on(ViewOrigin origin);

}  // namespace terra::autograd
