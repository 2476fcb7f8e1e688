#include "interpreter_hooks/frame_hook/mode.h"

#include "interpreter_hooks/frame_hook/log.h"

#include <cstdlib>
#include <utility>

namespace terra::capture {

namespace {

struct Name {
  const char* text;
  Mode mode;
};
constexpr Name names[] = {{"off", Mode::Off},
                          {"auto", Mode::Auto},
                          {"frame", Mode::Auto},
                          {"coexec", Mode::Off},
                          {"verify", Mode::Verify},
                          {"stress", Mode::Stress},
                          {"stress-verify", Mode::StressVerify}};

std::string variable(const char* name) {
  const char* text = std::getenv(name);
  return text ? text : "";
}

void warn_once_of_coexec() {
  static bool told = false;
  if (std::exchange(told, true)) return;
  tell_user("capture mode 'coexec' allows the co-execution tier only, which is not built in: every frame runs plainly");
}

}  // namespace

bool parse_mode(const std::string& name, Mode& mode) {
  for (const Name& known : names) {
    if (name == known.text) {
      if (name == "coexec") warn_once_of_coexec();
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
  s.strict = variable("TERRA_STRICT") == "1";
  s.batches = variable("TERRA_BATCHES") != "off";
  s.explain = variable("TERRA_EXPLAIN") == "1";
  s.report = variable("TERRA_REPORT");
  s.report_html = variable("TERRA_REPORT_HTML");
  s.trace = variable("TERRA_TRACE");
}

}  // namespace terra::capture
