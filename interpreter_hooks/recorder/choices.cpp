#include "interpreter_hooks/recorder/choices.h"

#include "interpreter_hooks/guards/standing.h"
#include "interpreter_hooks/guards/text.h"
#include "interpreter_hooks/recorder/trace_builder.h"

#include <functional>
#include <string>

namespace terra::capture {

namespace {

constexpr size_t most_variables = 0x8000;

bool is_plain(PyObject* object) {
  return PyFloat_CheckExact(object) || PyLong_CheckExact(object) || PyBool_Check(object) ||
         PyUnicode_CheckExact(object);
}

}  // namespace

bool Choices::may_differ(const Value& value) const {
  if (!value.known() || !is_plain(value.object)) return false;
  return value.is_fact() || (value.has_register() && !r_.late(value.reg) && !r_.trace().sizes().follow(value));
}

/// The instruction that every frame is at.
uint64_t Choices::here() const {
  uint64_t key = 0;
  for (const ShadowFrame* f : r_.frames_) {
    const std::string place = utf8_of(f->code->co_filename) + ":" + std::to_string(f->code->co_firstlineno) + "+" +
                              std::to_string(f->pending.offset);
    key = key * 0x9E3779B97F4A7C15 + std::hash<std::string>()(place);
  }
  return key;
}

void Choices::at_branch() {
  place_ = here();
  if (!r_.relaxation().chooses()) return;
  for (size_t i = 0; i < r_.frames_.size(); i++) {
    ShadowFrame& f = *r_.frames_[i];
    for (size_t k = 0; k < f.locals.size() && k < most_variables; k++) choose(f.locals[k], {place_, slot(i, k, false)});
    for (size_t k = 0; k < f.stack.size() && k < most_variables; k++) choose(f.stack[k], {place_, slot(i, k, true)});
  }
}

void Choices::choose(Value& value, Choice what) {
  if (!r_.relaxation().is_chosen(what) || !may_differ(value) || is_chosen(value) || !r_.alive()) return;
  Program& entry = r_.entry_being_made().entry;
  const Register source = r_.reg_of(value), reg = r_.new_register("", true, false);
  places_.back().sums.push_back(entry.end());
  sums_.insert(entry.end());
  entry.emit(Op::Copy, reg, source, no_register);
  origins_[reg] = {what};
  value = Value::dynamic(reg, value.object);
}

void Choices::noted(LoopState* state) {
  Place& place = places_.back();
  place.at = place_;
  if (state && state->formed) {
    place.form = state->form;
    place.held = std::move(state->held);
    place.chosen = std::move(state->chosen);
  }
  places_.emplace_back();
}

void Choices::computed(Register result, int offset, const std::vector<Value>& in) {
  std::set<Choice> all;
  for (const Value& value : in)
    if (is_chosen(value)) all.insert(origins_[value.reg].begin(), origins_[value.reg].end());
  origins_[result] = std::move(all);
  places_.back().sums.push_back(offset);
  sums_.insert(offset);
}

bool Choices::refuse(Register reg) {
  const auto found = origins_.find(reg);
  if (found == origins_.end()) return false;
  for (const Choice& choice : found->second) r_.relaxation().settle(choice);
  r_.record_again();
  r_.stop(Reason::OverwrittenFact, "a value that depends on a branch decides something");
  return true;
}

void Choices::finish(Entry& entry) {
  if (!origins_.empty()) {
    int offset = 0;
    entry.entry.each([&](const Word* at) {
      if (!sums_.count(offset)) each_operand(at, [&](Register reg) { refuse(reg); });
      offset += head(at).words;
    });
  }
  entry.places = std::move(places_);
}

}  // namespace terra::capture
