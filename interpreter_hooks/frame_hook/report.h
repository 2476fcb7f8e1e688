// What was captured, what not, and why: for machines (--report) and for people (--explain).
#pragma once
#include "interpreter_hooks/frame_hook/code_record.h"

#include <string>

namespace terra::capture {

/// The JSON of DESIGN section 12.
std::string report_json();
/// Readable text about every frame that was recorded or given up.
std::string explain_all();
/// The same as one JSON string.
std::string explain_all_json();
std::string explain(const CodeRecord& record);

}  // namespace terra::capture
