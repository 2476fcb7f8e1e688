// What was captured, what not, and why: for machines (--report) and for people (--explain).
#pragma once
#include "interpreter_hooks/frame_hook/code_record.h"

#include <string>

namespace terra::capture {

/// The JSON of DESIGN section 12.
std::string report_json();
/// Readable text about every frame that was recorded or given up.
std::string explain_all();
std::string explain(const CodeRecord& record);
/// At exit: writes the report file and prints the explanation where they were asked for.
void finish_reports();

}  // namespace terra::capture
