// Numbers and strings that are all that keeps paths of one code from meeting again (recorder/region/phis.h).
#pragma once
#include "interpreter_hooks/entry/entry.h"

#include <memory>
#include <vector>

namespace terra::capture {

/// An entry was made. Where it and another one come to places that are alike but for values of variables, these are
/// chosen by the way from the next recording on. True: some have been found.
bool find_differences(const Entry& made, const std::vector<std::shared_ptr<Entry>>& entries, Speculation& speculation);
/// It knows more of such a value than that the way chooses it: recorded again it may meet others.
bool knows_choices(const Entry& entry, const Speculation& speculation);

}  // namespace terra::capture
