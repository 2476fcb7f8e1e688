// What the frame tier may do in this process: TERRA_CAPTURE and friends.
#pragma once
#include <string>

#include "interpreter_hooks/coexec/runner_mode.h"

namespace terra::capture {

enum class Mode : unsigned char {
  Off,           ///< every frame runs plainly
  Coexec,        ///< ops are put off where the program's way is known and that is faster; else as Auto
  Auto,          ///< hot frames that do tensor work are captured
  Verify,        ///< the capture runs without committing, then the frame is interpreted; results are compared
  Stress,        ///< every eligible frame is recorded at its second call, tensors or not
  StressVerify,  ///< both
};

/// Which replays are compared with plain execution (self_check.h).
enum class SelfCheck : unsigned char {
  Off,
  On,   ///< in auto: the first ones and a few of the others
  All,  ///< for tests, in auto and stress: every one that can be, whatever it costs
};

struct Settings {
  Mode mode = Mode::Off;
  SelfCheck self_check = SelfCheck::On;                      ///< TERRA_SELF_CHECK
  bool strict = false;                                       ///< TERRA_STRICT: internal errors and wrong entries raise
  bool frozen = false;                                       ///< terra.capture.freeze(): a miss is an error
  bool explain = false;                                      ///< TERRA_EXPLAIN
  coexec::RunnerMode runner = coexec::RunnerMode::Measured;  ///< TERRA_RUNNER
  bool batches = true;      ///< TERRA_BATCHES: calls below recursive functions run many at a time
  bool thrifty = true;      ///< functions are recorded when it is likely to pay; false while terra.explain() calls one
  std::string report;       ///< TERRA_REPORT
  std::string report_html;  ///< TERRA_REPORT_HTML
  std::string trace;        ///< TERRA_TRACE
};

/// Of the process; changed under the GIL.
inline constinit Settings process_settings;
inline Settings& settings() { return process_settings; }
/// "auto", "frame" -> Auto; "off", "coexec", "verify", "stress", "stress-verify". False for another name.
bool parse_mode(const std::string& name, Mode& mode);
const char* mode_name(Mode mode);
void read_environment();

/// Set while co-execution leaves the program to the frame tier.
inline constinit bool lent_by_coexec = false;
/// What the frame tier does at the moment.
inline Mode frame_mode() { return settings().mode == Mode::Coexec && lent_by_coexec ? Mode::Auto : settings().mode; }

/// The hook is in.
inline bool captures_frames(Mode mode) { return mode > Mode::Coexec; }
/// Tensor work or not, at the second call.
inline bool records_everything(Mode mode) { return mode >= Mode::Stress; }
inline bool compares(Mode mode) { return mode == Mode::Verify || mode == Mode::StressVerify; }

/// Runs before a code object's first recording, and how many recordings in a row may give no entry.
constexpr int profile_runs = 3;
constexpr int most_failures = 3;
/// Calls from a recording that gave no entry to the next. Calls do different things by turns: those that are recorded
/// are of each kind, for turns of two and of three.
constexpr long calls_behind_failures[] = {4, 17, 26};
/// Attempts to leave the frame in the middle before a recording counts as failed.
constexpr int most_aims = 4;

}  // namespace terra::capture
