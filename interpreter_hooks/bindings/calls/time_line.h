// --trace: what became of frames, and when, for chrome://tracing.
#pragma once
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace terra::capture {

/// What takes time: frames, work of the graph runner (coexec/), and waiting for that. Of frames that run plainly only
/// those are kept that take at least shortest_plain_run.
enum class Activity : unsigned char {
  Plain,
  Served,
  Direct,
  Missed,
  Recorded,
  Compiled,
  HandedOver,
  Job,
  Waited,
  Count_
};
constexpr std::chrono::microseconds shortest_plain_run{20};
/// Later events are counted only.
constexpr size_t most_events = 1'000'000;

inline constinit bool time_line_on = false;
/// True where somebody asked for one: whoever has something to tell asks before. Needs the GIL, like all below.
inline bool time_line_is_on() { return time_line_on; }
void start_time_line();

/// One event, from its making to its end. Does nothing while the time line is off.
class TimedScope {
 public:
  TimedScope(Activity activity, std::string_view name, std::string_view file, int line) {
    if (time_line_is_on()) [[unlikely]]
      begin(activity, name, file, line);
  }
  ~TimedScope() {
    if (timed_) [[unlikely]]
      end();
  }
  TimedScope(const TimedScope&) = delete;

  /// It has turned out to be something else.
  void became(Activity activity);

 private:
  friend struct Timed;
  void begin(Activity activity, std::string_view name, std::string_view file, int line);
  void end();

  struct Timed* timed_ = nullptr;
};

/// What another thread than the program's did is shown in a row of its own.
constexpr unsigned long graph_runner_row = 1;
/// An event that is over. `flow`, if not 0: an arrow goes from the event that was handed over to the job of that
/// number.
struct PastEvent {
  Activity activity;
  std::string name, file;
  int line = 0;
  std::chrono::steady_clock::time_point begin, end;
  uint64_t flow = 0;
};
void add_to_time_line(const PastEvent& event);

/// In the trace event format: complete events with `self_us`, the time that no event inside them took, and a remark of
/// how many events were left out.
std::string time_line_json();

}  // namespace terra::capture
