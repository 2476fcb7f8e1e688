// The files that --report, --report-html and --trace name, written at exit.
#pragma once
#include <string>

namespace terra::capture {

/// Writes them, and prints the explanation, where they were asked for. A file that can't be written is said on stderr.
void finish_reports();
/// True when a file that was asked for has not been written: the process must not end as if all were well.
bool reports_failed();
/// The page that shows the JSON of report_json(), and a text that is given as JSON. Self-contained.
std::string report_page(const std::string& json, const std::string& explanation_json);

}  // namespace terra::capture
