// Memory format objects: torch.channels_last and the like.
#pragma once
#include <optional>
#include <string_view>

#include "engine/ops/signature.h"
#include "engine/tensor/memory_format.h"
#include "interpreter_hooks/bindings/entry.h"

namespace terra::hooks {

/// A parameter of an op that is the name of a format there and a format object in Python.
inline bool takes_memory_format(const Param& p) { return p.type == ParamType::String && p.name == "memory_format"; }

/// "channels_last"; it lives as long as the process.
std::string_view memory_format_name(Borrowed format);
/// What `memory_format=value` of `function` means; nothing where it was left out. Raises TypeError for another object.
std::optional<MemoryFormat> memory_format_from(Borrowed value, const char* function);

}  // namespace terra::hooks
