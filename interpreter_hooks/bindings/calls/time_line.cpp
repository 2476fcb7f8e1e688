#include "interpreter_hooks/bindings/calls/time_line.h"

#include <Python.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <memory>
#include <unordered_map>
#include <vector>

namespace terra::capture {

/// An event that is under way. Its texts are its own: what they were copied from may go before it ends.
struct Timed {
  Activity activity;
  std::string name, file;
  int line;
  Timed* outer;
  std::chrono::steady_clock::time_point begin{};
  std::chrono::steady_clock::duration inside{};  ///< of events in this one
};

namespace {

using Clock = std::chrono::steady_clock;

struct TimedEvent {
  Activity activity;
  int line;
  uint32_t name, file;  // in `texts`
  unsigned long thread;
  double begin, took, self;  // microseconds
  uint64_t flow = 0;
};

/// All that is kept, and texts once each.
struct TimeLine {
  Clock::time_point start = Clock::now();
  std::vector<TimedEvent> events;
  size_t left_out = 0;
  std::vector<std::string> texts;
  std::unordered_map<std::string, uint32_t> numbers;

  uint32_t number_of(const std::string& text) {
    const auto [known, is_new] = numbers.try_emplace(text, static_cast<uint32_t>(texts.size()));
    if (is_new) texts.push_back(text);
    return known->second;
  }
};

TimeLine& time_line() {
  static auto& line = *new TimeLine;  // outlives all frames
  return line;
}

thread_local Timed* innermost = nullptr;

constexpr std::array<const char*, static_cast<size_t>(Activity::Count_)> names = {
    "plain", "served", "direct", "missed", "recorded", "compiled", "handed over", "job", "waited"};

double microseconds(Clock::duration time) { return std::chrono::duration<double, std::micro>(time).count(); }

std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    char code[8];
    if (c == '"' || c == '\\') {
      result += '\\';
      result += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      std::snprintf(code, sizeof code, "\\u%04x", c);
      result += code;
    } else {
      result += c;
    }
  }
  return result + "\"";
}

void keep(TimedEvent event, const std::string& name, const std::string& file) {
  TimeLine& line = time_line();
  if (line.events.size() == most_events) {
    line.left_out++;
    return;
  }
  event.name = line.number_of(name);
  event.file = line.number_of(file);
  line.events.push_back(event);
}

/// The end of an arrow that the event is: it begins where something is handed over, and ends where that is run.
std::string arrow_of(const TimedEvent& event, const std::string& process) {
  char text[160];
  std::snprintf(
      text, sizeof text,
      ",\n{\"name\": \"handed over\", \"cat\": \"flow\", \"ph\": \"%s\", \"bp\": \"e\", \"id\": %lu, \"ts\": %.3f, ",
      event.activity == Activity::Job ? "f" : "s", static_cast<unsigned long>(event.flow), event.begin);
  return text + std::string("\"pid\": ") + process + ", \"tid\": " + std::to_string(event.thread) + "}";
}

}  // namespace

void start_time_line() {
  time_line();
  time_line_on = true;
}

void TimedScope::begin(Activity activity, std::string_view name, std::string_view file, int line) {
  timed_ = innermost = new Timed{activity, std::string(name), std::string(file), line, innermost};
  timed_->begin = Clock::now();
}

void TimedScope::became(Activity activity) {
  if (timed_) timed_->activity = activity;
}

void TimedScope::end() {
  const std::unique_ptr<Timed> timed(timed_);
  const Clock::duration took = Clock::now() - timed->begin;
  innermost = timed->outer;
  const bool kept = timed->activity != Activity::Plain || took >= shortest_plain_run;
  if (timed->outer) timed->outer->inside += kept ? took : timed->inside;
  if (!kept) return;
  const TimeLine& line = time_line();
  keep({timed->activity, timed->line, 0, 0, PyThread_get_thread_native_id(), microseconds(timed->begin - line.start),
        microseconds(took), microseconds(took - timed->inside)},
       timed->name, timed->file);
}

void add_to_time_line(const PastEvent& event) {
  if (!time_line_is_on()) return;
  const double took = microseconds(event.end - event.begin);
  const unsigned long thread = event.activity == Activity::Job ? graph_runner_row : PyThread_get_thread_native_id();
  keep(
      {event.activity, event.line, 0, 0, thread, microseconds(event.begin - time_line().start), took, took, event.flow},
      event.name, event.file);
}

std::string time_line_json() {
  const TimeLine& line = time_line();
  std::string text = "{\"displayTimeUnit\": \"ms\", \"otherData\": {\"left_out\": " + std::to_string(line.left_out) +
                     "}, \"traceEvents\": [";
  const std::string process = std::to_string(getpid());
  const char* separator = "\n";
  const auto is_beside = [](const TimedEvent& event) { return event.thread == graph_runner_row; };
  if (std::any_of(line.events.begin(), line.events.end(), is_beside)) {
    text += "\n{\"name\": \"thread_name\", \"ph\": \"M\", \"pid\": " + process +
            ", \"tid\": " + std::to_string(graph_runner_row) + ", \"args\": {\"name\": \"graph runner\"}}";
    separator = ",\n";
  }
  for (const TimedEvent& event : line.events) {
    char times[160];
    std::snprintf(times, sizeof times, "\"ts\": %.3f, \"dur\": %.3f, \"tid\": %lu, \"args\": {\"self_us\": %.3f, ",
                  event.begin, event.took, event.thread, event.self);
    text += separator + std::string("{\"name\": ") + quoted(line.texts[event.name]) + ", \"cat\": \"" +
            names[static_cast<size_t>(event.activity)] + "\", \"ph\": \"X\", \"pid\": " + process + ", " + times +
            "\"file\": " + quoted(line.texts[event.file]) + ", \"line\": " + std::to_string(event.line) + "}}";
    if (event.flow) text += arrow_of(event, process);
    separator = ",\n";
  }
  return text + "\n]}\n";
}

}  // namespace terra::capture
