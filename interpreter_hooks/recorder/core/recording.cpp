#include "interpreter_hooks/recorder/core/recording.h"

#include "interpreter_hooks/cpython/events.h"
#include "interpreter_hooks/guards/text.h"
#include "interpreter_hooks/recorder/core/lines.h"
#include "interpreter_hooks/recorder/region/loops.h"
#include "interpreter_hooks/recorder/region/phis.h"
#include "interpreter_hooks/recorder/region/value_numbers.h"
#include "interpreter_hooks/recorder/trace/builder.h"

namespace terra::capture {

namespace {

void on_start(TerraFrame* frame) {
  if (!recording_of_thread || !recording_of_thread->alive()) return;
  recording_of_thread->shielded([&] { recording_of_thread->start_event(frame); });
  recording_of_thread->after_event();
}
void on_instruction(TerraFrame* frame) {
  if (!recording_of_thread || !recording_of_thread->alive()) return;
  recording_of_thread->shielded([&] { recording_of_thread->instruction_event(frame); });
  recording_of_thread->after_event();
}

}  // namespace

RecorderStats& recorder_stats() {
  static RecorderStats stats;
  return stats;
}

Recording* Recording::current() {
  return recording_of_thread && recording_of_thread->alive_ ? recording_of_thread : nullptr;
}

Recording::Recording(Speculation& speculation, PyThreadState* thread)
    : speculation_(speculation),
      thread_(thread),
      entry_(std::make_unique<Entry>()),
      trace_(std::make_unique<TraceBuilder>(*this)),
      loops_(std::make_unique<Loops>(*this)),
      value_numbers_(std::make_unique<ValueNumbers>(*this)),
      phis_(std::make_unique<Phis>(*this)) {
  recorder_stats().recordings++;
  collecting_ = PyGC_Disable();
}

Recording::~Recording() {
  if (recording_of_thread == this) recording_of_thread = nullptr;
  resume_collector();
  trace_.reset();
  entry_.reset();
  std::vector<PyObject*> dropped = held_.take();
  for (PyCodeObject* code : codes_) dropped.push_back(reinterpret_cast<PyObject*>(code));
  for (PyObject* object : dropped) Py_DECREF(object);
}

void Recording::resume_collector() {
  if (collecting_) PyGC_Enable();
  collecting_ = false;
}

void Recording::let_go() {
  if (alive_ || OwnTime::is_running()) return;  // a key's __eq__ may have ended the recording below a rule
  const std::vector<PyObject*> dropped = held_.take();
  shadows_.clear();
  for (PyObject* object : dropped) Py_DECREF(object);
}

void Recording::after_event() {
  if (alive_ || OwnTime::is_running()) return;
  let_go();
  if (auto call = std::exchange(over_call_, nullptr)) call(over_data_);
}

ShadowFrame* Recording::new_frame(TerraFrame* frame) {
  auto& made = own_.emplace_back(std::make_unique<ShadowFrame>());
  made->frame = frame;
  made->code = terra_frame_code(frame);
  if (codes_.insert(made->code).second) Py_INCREF(made->code);
  made->instructions = terra_instructions(made->code);
  if (!made->instructions) throw std::bad_alloc();
  made->locals.assign(made->code->co_nlocalsplus, Value());
  made->creates = !terra_frame_is_borrowed(frame);
  made->generator = made->code->co_flags & (CO_GENERATOR | CO_COROUTINE | CO_ASYNC_GENERATOR);
  return made.get();
}

/// The frame goes on in the middle: what its slots hold comes from outside, as arguments do.
void Recording::take_over(ShadowFrame& root) {
  root.started = true;
  const int count = root.code->co_nlocalsplus;
  PyObject** const slots = terra_frame_localsplus(root.frame);
  for (int i = 0; i < count; i++) {
    root.locals[i].object = slots[i];
    if (slots[i] && PyCell_Check(slots[i])) local(root, i);
  }
  for (int i = count; i < count + root.real_depth() && alive_; i++) {
    const Word index = static_cast<Word>(i);
    if (slots[i]) {
      root.push(read(Op::Argument, no_register, {index}, slots[i], "stack item " + std::to_string(i - count)));
    } else {
      guard(Op::NoArgument, no_register, {index});
      root.push(Value::null());
    }
  }
}

void Recording::begin(TerraFrame* frame, bool in_the_middle) {
  room_ = terra_thread_room(thread_);
  in_the_middle_ = in_the_middle;
  ShadowFrame* root = new_frame(frame);
  frames_.push_back(root);
  auto* function = reinterpret_cast<PyObject*>(terra_frame_function(frame));
  Register reg = new_register(utf8_of(root->code->co_name), false, false);
  entry_->entry.emit(Op::Function, reg, no_register, no_register);
  put(function, Value::dynamic(reg, function), true, "").typed = true;
  root->function = Value::dynamic(reg, function);
  // The code is the entry's own; its globals can differ between functions that share it. Defaults are applied already:
  // where the function calls itself, the call guards those that it takes.
  PyObject* globals = keep_globals(terra_frame_function(frame), root);
  entry_->entry.emit(Op::Globals, no_register, reg, no_register, {word_of(globals)});
  if (in_the_middle) take_over(*root);
  for (int i = 0; i < terra_code_argument_slots(root->code); i++) {
    if (!in_the_middle) root->locals[i].object = terra_frame_localsplus(frame)[i];
    const bool seen_in_c = i == 0 || (terra_code_slot_kind(root->code, i) & TERRA_SLOT_CELL);  // super(), MAKE_CELL
    if (seen_in_c && alive_) local(*root, i);
  }
  cuts_.visits.assign(static_cast<size_t>(terra_code_units(root->code)), 0);
  cuts_.handled = terra_thread_handled_exception(thread_);
  cuts_.arguments = root->locals;
  cuts_.arguments.insert(cuts_.arguments.end(), root->stack.begin(), root->stack.end());
  trace_->begin();
  // An audit hook of the program sees the tracer come: its frames are none of this recording.
  if (alive_ && !terra_events_start(on_start, on_instruction)) stop(Reason::Observed);
  if (alive_ && in_the_middle) terra_events_watch(frame);
  recording_of_thread = this;
}

/// The recorder doesn't know any more what it knows.
void Recording::broke(std::string what) {
  error_ = std::move(what);
  stop(Reason::Internal, error_);
}

void Recording::stop(Reason reason, std::string detail) {
  if (!alive_) return;
  alive_ = false;
  why_ = {reason, std::move(detail), "", 0};
  if (!frames_.empty()) {
    ShadowFrame& frame = *frames_.back();
    why_.file = utf8_of(frame.code->co_filename);
    int offset = frame.pending.is_open() ? frame.pending.offset : 0;
    why_.line = line_at(frame, offset);
  }
  recorder_stats().stopped++;
  aim_next();
  trace_->detach();
  terra_events_stop();
  resume_collector();
}

}  // namespace terra::capture
