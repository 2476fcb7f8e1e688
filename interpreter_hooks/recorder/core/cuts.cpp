#include "interpreter_hooks/recorder/core/cuts.h"

#include "interpreter_hooks/cpython/events.h"
#include "interpreter_hooks/cpython/instructions.h"
#include "interpreter_hooks/cpython/step_over.h"
#include "interpreter_hooks/guards/tensors.h"
#include "interpreter_hooks/recorder/core/lines.h"
#include "interpreter_hooks/recorder/finish/finisher.h"
#include "interpreter_hooks/recorder/opcodes/rules.h"
#include "interpreter_hooks/recorder/trace/builder.h"

#include <algorithm>

namespace terra::capture {

namespace {

/// An exception that leaves the frame or an error of ours says nothing about the part of the frame before it.
constexpr Reason whole_frame_reasons[] = {
    Reason::None,      Reason::FrameRaised,  Reason::NotEligible,  Reason::NoTensorWork,    Reason::TooLong,
    Reason::OutOfStep, Reason::KeepsMissing, Reason::GraphRefused, Reason::OverwrittenFact, Reason::Internal,
};

constexpr int deepest = 8;

/// The instruction before ended a statement: little is on the stack, and what is there belongs to loops and blocks.
bool ends_statement(const Pending& before) {
  if (!before.is_open()) return false;
  const Rules& row = rules_of(before.kind);
  return row.next == Next::Falls && row.pushes(before) == 0 && row.pops(before) > 0;
}

}  // namespace

bool allows_cut(Reason reason) {
  for (Reason whole : whole_frame_reasons) {
    if (reason == whole) return false;
  }
  return true;
}

/// Whether a value could be rebuilt in another run, as far as can be told without trying.
bool Recording::can_leave(const Value& value, int depth) {
  if (value.is_fact() || value.has_register()) return true;
  if (!value.known() || depth > deepest) return false;
  Shadow* known = peek(value.object);
  if (!known) return false;
  if (known->self.is_fact() || known->self.has_register()) return true;
  PyObject* object = value.object;
  if (is_tensor(object)) return known->trace_id != graph::kNoValue;
  if (known->iterator) return can_rebuild_iterator(*known);
  if (PyGen_CheckExact(object)) return false;
  auto leaves = [&](const Value& part) { return can_leave(part, depth + 1); };
  if (PyFunction_Check(object)) {  // [encode(child) for child in ...], which is a function before it is called
    const std::vector<Value> parts = parts_of_function(*known);
    if (reinterpret_cast<PyFunctionObject*>(object)->func_annotations) return false;
    if (!std::all_of(parts.begin(), parts.end(), leaves)) return false;
  }
  for (const Value& item : known->items) {
    if (!leaves(item)) return false;
  }
  for (auto& entry : known->entries) {
    if (!leaves(entry.value)) return false;
  }
  for (PyObject* name : known->order) {
    if (known->attributes[name].known() && !leaves(known->attributes[name])) return false;
  }
  if (known->content.known() && !leaves(known->content)) return false;
  return !known->receiver.known() || leaves(known->receiver);
}

/// The evaluator can be entered here, and everything alive can be rebuilt. CALL needs what PRECALL and KW_NAMES left in
/// the evaluator's own variables.
bool Recording::can_cut(const ShadowFrame& f) {
  if (terra_thread_handled_exception(thread_) != cuts_.handled || left_suspended()) return false;
  PyObject** real = terra_frame_localsplus(f.frame);
  for (size_t i = 0; i < f.locals.size(); i++) {
    const Value& value = f.locals[i];
    if (value.object != real[i]) return false;
    if (value.kind != Value::Unknown && !can_leave(value, 0)) return false;
  }
  for (const Value& value : f.stack) {
    if (value.kind != Value::Null && !can_leave(value, 0)) return false;
  }
  return true;
}

size_t Recording::least_calls_before(int offset) const {
  const bool resumes = cuts_.resumes && terra_can_step_over(&frames_.front()->instructions[offset]);
  return resumes ? 0 : cuts_.least_calls;
}

/// The root frame is between two instructions. True when the recording has ended here.
bool Recording::at_boundary(ShadowFrame& f, int offset) {
  int visit = ++cuts_.visits[offset];
  const bool in_call = f.keyword_names || f.pending.kind == TERRA_PRECALL;
  if (in_call || f.instructions[offset].kind == TERRA_RESUME) return false;
  cuts_.here.offset = offset;
  cuts_.here.visit = visit;
  cuts_.calls_here = trace_->worth();
  auto aim = std::find(cuts_.aims.begin(), cuts_.aims.end(), cuts_.here);
  if (aim != cuts_.aims.end()) {
    if (cuts_.calls_here >= least_calls_before(offset) && can_cut(f)) {
      cuts_.taken = *aim;
      cut(f, offset);
      return true;
    }
    cuts_.refused = *aim;
  }
  // Looking at everything alive costs time: at growing distances only.
  bool gained = cuts_.calls_here >= cuts_.least_calls && cuts_.calls_here >= cuts_.next_look;
  if (!gained || !ends_statement(f.pending)) return false;
  cuts_.next_look = cuts_.calls_here + cuts_.calls_here / 8 + 1;
  if (!can_cut(f)) return false;
  cuts_.good = cuts_.here;
  cuts_.calls_good = cuts_.calls_here;
  return false;
}

/// Makes the entry now, while the world is as the entry's runs will leave it.
void Recording::cut(ShadowFrame& f, int offset) {
  check_generators();
  if (!alive_) return;
  std::vector<Value> leaving;
  auto made = std::make_unique<Cut>();
  made->instruction = offset;
  made->depth = static_cast<int>(f.stack.size());
  made->line = line_at(f, offset);
  made->why = cuts_.taken.why;
  for (int i = 0; i < static_cast<int>(f.locals.size()); i++) {
    const Value &now = f.locals[i], &before = cuts_.arguments[i];
    if (now.kind == before.kind && now.reg == before.reg && now.object == before.object) continue;
    made->places.push_back(i);
    leaving.push_back(now);
  }
  for (size_t i = 0; i < f.stack.size(); i++) {
    made->places.push_back(static_cast<int>(f.locals.size() + i));
    leaving.push_back(f.stack[i]);
  }
  std::unique_ptr<Entry> entry;
  try {
    entry = Finisher(*this).run(leaving, true);
  } catch (const std::exception& e) {  // the event was sent by C code
    error_ = e.what();
  }
  if (!entry) return stop(Reason::Internal);
  entry->cut = std::move(made);
  finished_ = std::move(entry);
  alive_ = false;
  terra_events_stop();
  resume_collector();
}

/// After a stop: chooses where the next recording is to end. `again_` asks for it.
void Recording::aim_next() {
  if (!allows_cut(why_.reason) || cuts_.visits.empty()) return;
  // What could not be rebuilt at the end, or where it was aimed at, has to be left before it came into being.
  bool exact = !returned_ && !materialising_ && cuts_.here.valid() && !(cuts_.here == cuts_.refused);
  const CutPoint& chosen = exact ? cuts_.here : cuts_.good;
  size_t calls = exact ? cuts_.calls_here : cuts_.calls_good;
  if (!chosen.valid() || calls < least_calls_before(chosen.offset) || (materialising_ && chosen == cuts_.taken)) return;
  cuts_.next = chosen;
  cuts_.next.why = cuts_.taken.valid() ? cuts_.taken.why : why_;
}

}  // namespace terra::capture
