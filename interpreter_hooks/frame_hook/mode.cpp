#include "interpreter_hooks/frame_hook/mode.h"

#include <cstdlib>

namespace terra::capture {

namespace {

struct Name {
  const char* text;
  Mode mode;
};
constexpr Name names[] = {{"off", Mode::Off},
                          {"auto", Mode::Auto},
                          {"frame", Mode::Auto},
                          {"coexec", Mode::Coexec},
                          {"verify", Mode::Verify},
                          {"stress", Mode::Stress},
                          {"stress-verify", Mode::StressVerify}};

std::string variable(const char* name) {
  const char* text = std::getenv(name);
  return text ? text : "";
}

}  // namespace

bool parse_mode(const std::string& name, Mode& mode) {
  for (const Name& known : names) {
    if (name == known.text) {
      mode = known.mode;
      return true;
    }
  }
  return false;
}

const char* mode_name(Mode mode) {
  for (const Name& known : names) {
    if (known.mode == mode) return known.text;
  }
  return "?";
}

void read_environment() {
  Settings& s = settings();
  std::string capture = variable("TERRA_CAPTURE");
  if (!parse_mode(capture.empty() ? "auto" : capture, s.mode)) s.mode = Mode::Auto;
  const std::string check = variable("TERRA_SELF_CHECK");
  s.self_check = check == "off" ? SelfCheck::Off : check == "all" ? SelfCheck::All : SelfCheck::On;
  const std::string runner = variable("TERRA_RUNNER");
  s.runner = runner == "inline"   ? coexec::RunnerMode::Inline
             : runner == "serial" ? coexec::RunnerMode::Serial
             : runner == "beside" ? coexec::RunnerMode::Beside
             : runner == "turns"  ? coexec::RunnerMode::Turns
                                  : coexec::RunnerMode::Measured;
  s.strict = variable("TERRA_STRICT") == "1";
  s.batches = variable("TERRA_BATCHES") != "off";
  s.explain = variable("TERRA_EXPLAIN") == "1";
  s.report = variable("TERRA_REPORT");
  s.report_html = variable("TERRA_REPORT_HTML");
  s.trace = variable("TERRA_TRACE");
}

}  // namespace terra::capture
