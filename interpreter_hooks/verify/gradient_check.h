// Whether two runs of one frame have made tapes that lead to the same gradients.
#pragma once
#include "interpreter_hooks/effects/likeness.h"

#include <optional>
#include <string>
#include <vector>

namespace terra::capture {

/// Results of a run, and the inputs that their gradients may lead to.
struct Tape {
  std::vector<Tensor> results, inputs;
};

/// Leaves out inputs that the histories of other inputs lead to: what arrives there comes not only by way of the
/// results. Of what one run has made, one thing may lie behind the other. `copies` are the same inputs without those
/// histories.
void keep_separate_inputs(Tape& real, Tape& copies);

/// Gradients of the results with respect to the inputs, undefined where none arrives, for gradients of the results that
/// are the same at every call. Nothing where finding out would change or disturb the program: a hook or a function of
/// the program is on the way, or what was saved has been written since.
std::optional<std::vector<Tensor>> try_gradients(const Tape& tape);

/// Whether gradients for that result of a run are what its backward half was made for.
bool is_expected(const Tensor& result);

}  // namespace terra::capture
