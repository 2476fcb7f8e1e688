#include "interpreter_hooks/frame_hook/report_files.h"

#include "interpreter_hooks/bindings/calls/time_line.h"
#include "interpreter_hooks/frame_hook/hook.h"
#include "interpreter_hooks/frame_hook/mode.h"
#include "interpreter_hooks/frame_hook/report.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace terra::capture {

namespace {

bool failed = false;

bool write(const std::string& file, const std::string& text) {
  std::FILE* stream = std::fopen(file.c_str(), "wb");
  if (!stream) return false;
  const bool written = std::fwrite(text.data(), 1, text.size(), stream) == text.size();
  return std::fclose(stream) == 0 && written;
}

/// The name of the file that this process has to write, or nothing: one without %p is the main process's alone.
std::string own_file(std::string file) {
  const std::string process = std::to_string(getpid());
  const size_t place = file.find("%p");
  if (place != std::string::npos) return file.replace(place, 2, process);
  const char* main_process = std::getenv("TERRA_MAIN_PROCESS");
  return main_process && process != main_process ? "" : file;
}

void write_asked(const std::string& asked, const char* option, std::string (*text)()) {
  const std::string file = asked.empty() ? "" : own_file(asked);
  if (file.empty() || write(file, text())) return;
  failed = true;
  std::fprintf(stderr, "terra: option --%s can't write to %s: %s.\n", option, file.c_str(), std::strerror(errno));
}

}  // namespace

void finish_reports() {
  notice_foreign_evaluator();
  if (settings().explain) std::fputs(explain_all().c_str(), stderr);
  write_asked(settings().report, "report", [] { return report_json() + "\n"; });
  write_asked(settings().report_html, "report-html", [] { return report_page(report_json(), explain_all_json()); });
  write_asked(settings().trace, "trace", time_line_json);
}

bool reports_failed() { return failed; }

}  // namespace terra::capture
