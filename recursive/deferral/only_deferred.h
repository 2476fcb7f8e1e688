// A graph whose runs can be put off, and not be made at once: what it does has no form but that of many calls together.
#pragma once
#include <memory>

#include "graph/cache/compiled.h"

namespace terra::recursive {

/// Of a trace with so many user-level calls. A run that isn't put off is Busy: the frame is interpreted.
std::shared_ptr<graph::Compiled> only_deferred(size_t calls);

}  // namespace terra::recursive
