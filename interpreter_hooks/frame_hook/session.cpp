#include "interpreter_hooks/frame_hook/session.h"

#include "interpreter_hooks/bindings/calls/time_line.h"
#include "interpreter_hooks/cpython/events.h"
#include "interpreter_hooks/frame_hook/decide.h"
#include "interpreter_hooks/frame_hook/find_phis.h"
#include "interpreter_hooks/frame_hook/hook.h"
#include "interpreter_hooks/frame_hook/merged_entries.h"
#include "interpreter_hooks/recorder/core/own_time.h"
#include "interpreter_hooks/recorder/core/recording.h"
#include "interpreter_hooks/verify/chaos.h"

#include "engine/eager/thread_time.h"

#include <algorithm>

namespace terra::capture {

/// A recording and its frame: no other recording on top of it until it is over, which may be long before the frame is.
class Session {
 public:
  Session(CodeRecord& record, PyThreadState* thread)
      : record_(record), recording_(std::make_unique<Recording>(record.speculation, thread)) {
    totals().recordings++;
    session_of_thread = this;
    terra_hook_watch(1);
  }
  ~Session() {
    close();
    terra_hook_watch(-1);
  }
  Session(const Session&) = delete;

  /// Of this thread, while frames below it must run plainly. Closes one whose recording is over.
  static bool is_open() {
    if (!session_of_thread) return false;
    if (!session_of_thread->recording_->over()) return true;
    session_of_thread->close();
    return false;
  }

  PyObject* run(PyThreadState* thread, TerraFrame* frame) {
    PyObject* function = reinterpret_cast<PyObject*>(terra_frame_function(frame));
    Py_INCREF(function);
    recording_->aim(record_.cuts, least_calls_of_a_cut(), record_.tensor_work && record_.resumes);
    recording_->when_over([](void* session) { static_cast<Session*>(session)->close(); }, this);
    recording_->shielded([&] { recording_->begin(frame, record_.is_rest); });
    PyObject* result = terra_frame_run(thread, frame, 0);
    {
      const ErrorIndicator raised;
      // It returned, and nobody told us: somebody else traces the thread now.
      if (result && recording_->alive() && !recording_->returned()) recording_->stop(Reason::Observed);
      terra_events_stop();
      close();
      recording_.reset();
      Py_DECREF(function);
    }
    if (!error_.empty() && settings().strict) {
      Py_CLEAR(result);
      return raise_internal_error(record_);
    }
    return result;
  }

 private:
  /// The recording is over: its entry goes to the code's record. Once.
  void close() {
    if (session_of_thread != this) return;
    session_of_thread = nullptr;
    const double plain = thread_time_us() - began_ - recording_->own_ms() * 1000;
    const ErrorIndicator error;
    std::shared_ptr<Entry> entry;
    try {
      const OwnTime time(recording_->own_ms());
      if (chaos_is_on()) break_here(Breakpoint::Finish);
      entry = recording_->finish();
      error_ = recording_->error();
      if (error_.empty()) error_ = error.left_behind();
      if (!error_.empty()) entry.reset();
    } catch (const std::exception& e) {
      PyErr_Clear();
      error_ = e.what();
    }
    Stop why = recording_->why();
    if (why.reason == Reason::CallsItself) record_.around_recursion = true;
    // Views compute nothing, and at places that differ between calls each would have a graph of its own.
    // But what is on the way to tensor work behind something opaque is.
    const bool leads_on = entry && entry->cut && record_.tensor_work;
    const bool idle = entry && !leads_on && (!entry->graph || (!entry->computes && !record_.speculation.empty()));
    if (idle && !records_everything(settings().mode)) {
      why = {Reason::NoTensorWork, "", record_.file, record_.line};
      entry.reset();
    }
    bool aimed = !entry && aim(record_, recording_->next_aim());
    recorded(record_, entry, why, recording_->again() || aimed);
    if (entry) {
      entry->checks.plain_seconds = std::max(plain, 0.0) / 1e6;
      totals().captures++;
      const std::vector<std::shared_ptr<Entry>> entries(record_.entries.begin(), record_.entries.end());
      if (find_differences(*entry, entries, record_.speculation))
        record_.entries.remove_if([&](const Entry& other) { return knows_choices(other, record_.speculation); });
      else
        MergedEntries::join(entry, entries);
    }
    if (!error_.empty()) broken(record_, error_.c_str());
    record_.recording_ms += recording_->own_ms();
    totals().recording_ms += recording_->own_ms();
    // A clock on the wall goes on while others have the processor.
    paid_for_recording(record_, std::min(recording_->own_ms() * 1000, thread_time_us() - began_));
  }

  CodeRecord& record_;
  const double began_ = thread_time_us();
  std::unique_ptr<Recording> recording_;
  std::string error_;
};

PyObject* raise_internal_error(const CodeRecord& record) {
  PyErr_Format(PyExc_SystemError, "capture of %s: %s", record.name.c_str(), record.why.detail.c_str());
  return nullptr;
}

bool is_recording() { return Session::is_open(); }

PyObject* record_frame(CodeRecord& record, PyThreadState* thread, TerraFrame* frame) {
  const TimedScope timed(Activity::Recorded, record.name, record.file, record.line);
  return Session(record, thread).run(thread, frame);
}

}  // namespace terra::capture
