// A clock that a frame reads before all of its tensor work is read by the entry program in each run, at the same place.
// Behind tensor work it would have to be read between two parts of a graph: there the frame is cut.
#include "interpreter_hooks/recorder/calls/clocks.h"

#include "interpreter_hooks/guards/kinds.h"
#include "interpreter_hooks/recorder/trace/builder.h"

namespace terra::capture {

namespace {

Value end_clock(Recording& r, ShadowFrame& f, PyObject* result) {
  PyObject* clock = f.pending.call.callee;
  if (r.trace().record_count() || r.trace().worth()) {
    r.stop(Reason::UnmodelledCall, callable_name(clock) + " behind tensor work");
  }
  return r.restless_number(clock, result);
}

constexpr CallModel models[] = {
    {"time", "time", nullptr, end_clock},         {"time", "time_ns", nullptr, end_clock},
    {"time", "monotonic", nullptr, end_clock},    {"time", "monotonic_ns", nullptr, end_clock},
    {"time", "perf_counter", nullptr, end_clock}, {"time", "perf_counter_ns", nullptr, end_clock},
    {"time", "process_time", nullptr, end_clock}, {"time", "process_time_ns", nullptr, end_clock},
    {"time", "thread_time", nullptr, end_clock},  {"time", "thread_time_ns", nullptr, end_clock},
};

}  // namespace

ModelList clock_models() { return {models, std::size(models)}; }

bool reads_a_clock(const Program& entry) {
  bool found = false;
  entry.each([&](const Word* at) {
    if (static_cast<Op>(head(at).kind) != Op::Call) return;
    const CallModel* model = model_of(object_word(at[1]));
    found = found || (model && model->after == end_clock);
  });
  return found;
}

}  // namespace terra::capture
