#include "interpreter_hooks/recorder/region/loops.h"

#include "interpreter_hooks/cpython/instructions.h"
#include "interpreter_hooks/guards/scalars.h"
#include "interpreter_hooks/guards/text.h"
#include "interpreter_hooks/recorder/calls/call_models.h"
#include "interpreter_hooks/recorder/opcodes/rules.h"
#include "interpreter_hooks/recorder/trace/builder.h"

#include <algorithm>

namespace terra::capture {

namespace {

/// Rounds in unlike states come first: what is read of the outside is read there, and variables get their first value.
constexpr size_t most_states = 24;
/// A loop of so many rounds that could not become one record will not.
constexpr size_t enough_rounds = 4;
/// Of loops with branches in so many rounds nothing more is learnt.
constexpr size_t most_branched = 500;
/// Where rounds begin in like states and still can't be put together, it is tried from a later one.
constexpr int most_attempts = 2;
/// Each loop is compared with all that the trace has behind it.
constexpr size_t most_watches = 500;

bool is_int(const Value& value) {
  int overflow = 0;
  if (!value.known() || !value.object || !PyLong_CheckExact(value.object)) return false;
  PyLong_AsLongLongAndOverflow(value.object, &overflow);
  return overflow == 0;
}

/// Start, end and step.
std::vector<Value> bounds_of(Recording& r, PyObject* range) {
  std::vector<Value> numbers = r.peek(range)->items;
  PyObject *zero = PyLong_FromLong(0), *one = PyLong_FromLong(1);
  if (numbers.size() == 1) numbers.insert(numbers.begin(), Value::fact(r.hold(zero)));
  if (numbers.size() == 2) numbers.push_back(Value::fact(r.hold(one)));
  Py_DECREF(zero);
  Py_DECREF(one);
  return numbers;
}

/// Null behind the end of the code.
const TerraInstruction* instruction_at(const ShadowFrame& f, int offset) {
  return offset < terra_code_units(f.code) ? &f.instructions[offset] : nullptr;
}

/// Whether reversed() gets what is about to be pushed; `next` becomes the offset behind that call.
bool is_reversed_next(const ShadowFrame& f, int& next) {
  const TerraInstruction* at = instruction_at(f, next);
  if (at && at->kind == TERRA_PRECALL) at = instruction_at(f, at->next);
  if (!at || at->kind != TERRA_CALL || at->arg != 1) return false;
  if (f.stack.empty() || f.stack.back().object != reinterpret_cast<PyObject*>(&PyReversed_Type)) return false;
  next = at->next;
  return true;
}

/// The last instruction from `begin` on that ends before `end`.
int last_before(const ShadowFrame& f, int begin, int end) {
  int at = begin;
  for (int next = begin; next < end; next = f.instructions[next].next) at = next;
  return at;
}

bool jumps_back(const TerraInstruction& i, int offset) {
  return i.target >= 0 && i.target <= offset && i.kind != TERRA_JUMP_NO_INTERRUPT;
}

}  // namespace

Loops::Loops(Recording& recording) : r_(recording), watching_(!recording.speculation().empty()) {}

std::string Loops::place_of(const ShadowFrame& f, int offset) const {
  return utf8_of(f.code->co_filename) + ":" + std::to_string(f.code->co_firstlineno) + "+" + std::to_string(offset);
}

// ---- counting ----

bool Loops::counts(ShadowFrame& f, std::vector<Value>& numbers) {
  Sizes& sizes = r_.trace().sizes();
  const bool varies = std::any_of(numbers.begin(), numbers.end(), [](const Value& v) { return v.has_register(); });
  int next = f.pending.next;
  is_reversed_next(f, next);
  const TerraInstruction* const behind = instruction_at(f, next);
  const bool walked = behind && behind->kind == TERRA_GET_ITER;
  if (!watching_ || !walked || numbers.empty() || numbers.size() > 3) return false;
  const std::string place = place_of(f, next);
  if (r_.speculation().loop_is_fixed(place) || (!varies && !r_.speculation().loop_is_left(place))) return false;
  for (const Value& value : numbers) {
    if (!is_int(value) || (value.has_register() && r_.late(value.reg) && !sizes.follow(value))) return false;
  }
  if (numbers.size() == 3) r_.pin(numbers[2]);
  return r_.alive();
}

Value Loops::iterator(PyObject* iterator, PyObject* range) {
  ShadowFrame& f = *r_.top();
  std::vector<Value> numbers = bounds_of(r_, range);
  Value made = r_.make_iterator(iterator, Iterator::Counted, range);
  Watch& watch = watches_.emplace_back();
  watch.iterator = iterator;
  watch.began = r_.events_;
  watch.place = place_of(f, f.pending.kind == TERRA_GET_ITER ? f.pending.offset : f.pending.next);
  for (const Value& number : {numbers[0], numbers[1]}) r_.trace().sizes().leaves(number, watch.relied_on);
  numbers[0] = r_.trace().sizes().counter(numbers[0]);
  r_.set_children(iterator, std::move(numbers));
  return made;
}

/// Of a step of one: from the number before the end down to the start, or up.
Value Loops::reversed(PyObject* iterator, PyObject* range) {
  std::vector<Value> numbers = bounds_of(r_, range);
  const long step = PyLong_AsLong(numbers[2].object);
  if (step != 1 && step != -1) {
    for (Value& number : numbers) r_.pin(number);
    return r_.make_iterator(iterator, Iterator::Facts, nullptr);
  }
  const auto less_a_step = [&](const Value& number) {
    PyObject* result = PyNumber_Subtract(number.object, numbers[2].object);
    const Value made = r_.trace().sizes().counted(Op::Binary, TERRA_SUBTRACT, {number, numbers[2]}, result);
    Py_DECREF(result);
    return made;
  };
  PyObject* back = PyNumber_Negative(numbers[2].object);
  const Value first = less_a_step(numbers[1]), end = less_a_step(numbers[0]);
  PyObject* turned =
      PyObject_CallFunctionObjArgs(reinterpret_cast<PyObject*>(&PyRange_Type), first.object, end.object, back, nullptr);
  r_.fresh(turned).items = {first, end, Value::fact(r_.hold_new(back))};
  Py_DECREF(turned);
  return this->iterator(iterator, turned);
}

namespace {

/// Whether the next number of a counter is one of the range's.
void decide(Recording& r, Iterator& counter, PyObject* truth) {
  const auto& [current, end, step] = std::tie(counter.children[0], counter.children[1], counter.children[2]);
  const Word sign = PyLong_AsLong(step.object) > 0 ? Py_LT : Py_GT;
  r.trace().sizes().fix(r.trace().sizes().counted(Op::Compare, sign, {current, end}, truth));
}

}  // namespace

Value Loops::next(Iterator& counter, PyObject* produced) {
  decide(r_, counter, Py_True);
  if (!r_.alive()) return {};
  const Value current = Value::dynamic(counter.children[0].reg, r_.hold(produced));
  PyObject* sum = PyNumber_Add(produced, counter.children[2].object);
  counter.children[0] = r_.trace().sizes().counted(Op::Binary, TERRA_ADD, {current, counter.children[2]}, sum);
  Py_DECREF(sum);
  counter.index++;
  return current;
}

void Loops::ended(Iterator& counter) { decide(r_, counter, Py_False); }

// ---- where rounds begin ----

const std::vector<Loops::Body>& Loops::bodies(const ShadowFrame& f) {
  const auto [found, is_new] = bodies_.try_emplace(f.code);
  const int count = terra_code_units(f.code);
  for (int offset = 0; is_new && offset < count; offset = f.instructions[offset].next) {
    const TerraInstruction& i = f.instructions[offset];
    if (!jumps_back(i, offset) || f.instructions[i.target].kind == TERRA_FOR_ITER) continue;
    auto& all = found->second;
    auto same = std::find_if(all.begin(), all.end(), [&](const Body& body) { return body.first == i.target; });
    if (same == all.end()) same = all.insert(all.end(), {i.target, offset, i.target});
    same->last = offset;
  }
  if (is_new) find_twins(f, found->second);
  return found->second;
}

/// A `while` that `continue` goes on with begins with its test, and its body is followed by the same one.
void Loops::find_twins(const ShadowFrame& f, std::vector<Body>& all) {
  const auto is_head = [](const Body& head, const Body& body) {
    return head.first < body.first && body.first <= head.last && head.last < body.last;
  };
  for (Body& body : all) {
    for (const Body& head : all)
      if (is_head(head, body)) body.from = std::min(body.from, head.first);
    const int at = last_before(f, body.from, body.first);
    const TerraInstruction &test = f.instructions[at], &last = f.instructions[body.last];
    // Some compilers end the body with a jump back, others with one out of the loop and one back that is always taken.
    const bool always = last.kind == TERRA_JUMP;
    body.decision = always ? last_before(f, body.first, body.last) : body.last;
    const TerraInstruction& decision = f.instructions[body.decision];
    const bool same = always ? test.kind == decision.kind && decision.target == last.next
                             : (test.kind == TERRA_POP_JUMP_IF_FALSE && last.kind == TERRA_POP_JUMP_IF_TRUE) ||
                                   (test.kind == TERRA_POP_JUMP_IF_TRUE && last.kind == TERRA_POP_JUMP_IF_FALSE);
    if (at != body.from && same && test.target == last.next) body.twin = at;
  }
  const std::vector<Body> before = all;
  std::erase_if(all, [&](const Body& head) {
    return std::any_of(before.begin(), before.end(), [&](const Body& body) { return is_head(head, body); });
  });
}

void Loops::open(Watch& watch, ShadowFrame& f) {
  watch.frame = &f;
  watch.depth = r_.frames_.size();
  open_.push_back(static_cast<size_t>(&watch - watches_.data()));
  count_locals(f, watch.body);
}

/// Loops that the program has left by now.
void Loops::close(const ShadowFrame& f, int offset) {
  std::erase_if(open_, [&](size_t number) {
    Watch& watch = watches_[number];
    const size_t depth = r_.frames_.size();
    const bool inside = watch.frame == &f && offset >= watch.body.from && offset <= watch.body.last;
    if (depth > watch.depth || (depth == watch.depth && inside)) return false;
    watch.end = r_.trace().record_count();
    return true;
  });
}

void Loops::look(ShadowFrame& f, int offset) {
  if (!open_.empty()) close(f, offset);
  const TerraInstruction& here = f.instructions[offset];
  if (here.kind == TERRA_FOR_ITER) {
    Shadow* known = f.stack.empty() ? nullptr : r_.peek(f.stack.back().object);
    if (!known || !known->iterator || known->iterator->kind != Iterator::Counted) return;
    const auto watch = std::find_if(watches_.rbegin(), watches_.rend(),
                                    [&](const Watch& w) { return w.iterator == f.stack.back().object; });
    if (watch == watches_.rend()) return;
    if (watch->rounds.empty()) {
      watch->body = {offset, here.target - 1, offset};
      open(*watch, f);
    }
    return round(*watch);
  }
  for (const Body& body : bodies(f)) {
    if (body.first != offset) continue;
    const Pending& before = f.pending;
    const auto watch = std::find_if(watches_.rbegin(), watches_.rend(), [&](const Watch& w) {
      return !w.iterator && w.frame == &f && w.body.first == offset;
    });
    const bool continued = body.from < offset && watch != watches_.rend() && watch->end == Watch::not_left;
    const bool again = continued || (jumps_back(before, before.offset) && before.target == offset);
    if (again && watch != watches_.rend()) return round(*watch);
    const std::string place = place_of(f, offset);
    if (again || r_.speculation().loop_is_fixed(place)) return;
    Watch& made = watches_.emplace_back();
    made.body = body;
    made.began = r_.events_;
    made.place = place;
    open(made, f);
    return round(made);
  }
}

/// Variables that the loop gives other numbers are numbers of the trace from here on: one that goes up in steps would
/// be another fact in each round.
void Loops::count_locals(ShadowFrame& f, const Body& body) {
  for (int offset = body.first; offset < terra_code_units(f.code); offset = f.instructions[offset].next) {
    const TerraInstruction& i = f.instructions[offset];
    if (i.kind != TERRA_STORE_FAST && i.kind != TERRA_LOAD_FAST) continue;
    Value& local = r_.local(f, i.arg);  // now: no round is to know more than the one before it
    if (i.kind == TERRA_LOAD_FAST || offset > body.last) continue;
    if (is_int(local) && (local.is_fact() || local.has_register()) && !r_.trace().sizes().is_counted(local))
      local = r_.trace().sizes().counter(local);
  }
}

void Loops::number_locals() {
  Sizes& sizes = r_.trace().sizes();
  for (ShadowFrame* frame : r_.frames_) {
    for (const Value& value : frame->locals) {
      if (sizes.is_counted(value) && sizes.part(value).id == graph::kNoValue) sizes.number(value);
    }
  }
}

Loops::Marks Loops::marks() const { return {r_.entry_->entry.end(), r_.entry_->late.end(), r_.trace().output_count()}; }

void Loops::round(Watch& watch) {
  number_locals();
  Round& round = watch.rounds.emplace_back();
  round.record = r_.trace().record_count();
  round.marks = marks();
  round.writes = r_.writes_.size();
  round.branches = r_.entry_->branches.size();
  round.stored_again = stored_again(watch.rounds);
  if (watch.rounds.size() <= most_states) round.state = ProgramStateReader(r_, watch.began).read();
  if (!r_.speculation().parts_ways() || !watch.visits_known) return;
  const size_t count = watch.rounds.size();
  watch.visits_known = count <= (watch.visits.empty() ? enough_rounds : most_branched);
  if (!watch.visits_known) return;
  round.alive = ProgramStateReader(r_, watch.began).read_alive(false);
  watch.forgets |= round.alive.forgets;
}

/// Of the last round in the list.
bool Loops::stored_again(const std::vector<Round>& rounds) const {
  const size_t n = rounds.size();
  const size_t now = n < 2 ? 0 : rounds[n - 1].writes - rounds[n - 2].writes;
  if (now == 0) return true;
  if (n < 3 || rounds[n - 2].writes - rounds[n - 3].writes != now) return false;
  for (size_t i = 0; i < now; i++) {
    if (!stores_again(r_.writes_[rounds[n - 3].writes + i], r_.writes_[rounds[n - 2].writes + i])) return false;
  }
  return true;
}

void Loops::rely_on(const std::vector<Value>& numbers) {
  for (auto frame = r_.frames_.rbegin(); frame != r_.frames_.rend(); ++frame) {
    const int offset = (*frame)->pending.offset;
    for (auto watch = watches_.rbegin(); watch != watches_.rend(); ++watch) {
      if (watch->frame != *frame || offset < watch->body.first || offset > watch->body.last) continue;
      watch->relied_on.insert(watch->relied_on.end(), numbers.begin(), numbers.end());
      return;
    }
  }
}

/// The other way, the `for` loops around would be left in another round, or do something else in this one.
void Loops::decided() {
  if (watching_) decided_by_value();
}

void Loops::decided_by_value() {
  for (const ShadowFrame* f : r_.frames_) {
    const int count = terra_code_units(f->code), here = f->pending.offset;
    for (int offset = 0, before = 0; offset <= here && offset < count; offset = f->instructions[offset].next) {
      const TerraInstruction& i = f->instructions[offset];
      const bool around = i.kind == TERRA_FOR_ITER && i.target > here;
      if (around && f->instructions[before].kind == TERRA_GET_ITER) r_.speculation().leave_loop(place_of(*f, before));
      before = offset;
    }
  }
}

// ---- lists that grow ----

void Loops::appended(Shadow& list) {
  if (watches_.empty() || list.outside || !PyList_CheckExact(list.self.object)) return;
  if (list.grown == graph::kNoValue) list.grown = r_.trace().new_value();
}

/// Appending and handing on ask nothing; a call of the engine takes a list for its tensors, in their order.
void Loops::asked(Shadow& list) {
  PyObject* object = list.self.object;
  const ShadowFrame* f = r_.top();
  if (!f) return;
  const Pending& open = f->pending;
  const auto is_list = [&](const Value& value) { return value.object == object; };
  const auto& given = open.call.positional;
  switch (open.kind) {
    case TERRA_LOAD_METHOD:
    case TERRA_LOAD_ATTR:
      if (PyUnicode_CompareWithASCIIString(f->name(open.arg), "append") == 0) return;
      break;
    case TERRA_PRECALL: return;
    case TERRA_LIST_APPEND:
      if (!is_list(open.in[0])) return;
      break;
    case TERRA_CALL:
      if ((traits_of(open.call) & (kAtBack | kKeeps)) == (kAtBack | kKeeps) && given.size() == 2 && is_list(given[0]) &&
          !is_list(given[1]))
        return;
      if (open.call.kind == CallSite::Engine && std::any_of(given.begin(), given.end(), is_list)) {
        handed_over_.push_back(object);
        return;
      }
      break;
    default: break;
  }
  list.asked = r_.events_;
}

void Loops::settle() {
  for (PyObject* list : handed_over_) {
    if (std::find(taken_.begin(), taken_.end(), list) == taken_.end()) r_.peek(list)->asked = r_.events_;
  }
  handed_over_.clear();
  taken_.clear();
}

// ---- the end ----

bool Loops::roll(Watch& watch, const std::vector<graph::TraceId>& outputs) {
  auto& rounds = watch.rounds;
  const auto again = [&](size_t k) { return rounds[k].marks == rounds[k + 1].marks && rounds[k + 1].stored_again; };
  int attempts = 0;
  bool any = false;
  for (size_t first = 0; first + 1 < std::min(rounds.size(), most_states) && attempts < most_attempts; first++) {
    const ProgramState &before = rounds[first].state, &after = rounds[first + 1].state;
    if (!before.like(after) || !again(first)) continue;
    attempts++;
    graph::LoopPlan plan;
    size_t last = first + 1;
    while (last + 1 < rounds.size() && again(last)) last++;
    for (size_t k = first; k <= last; k++) plan.rounds.push_back(rounds[k].record);
    plan.before = before.values;
    plan.after = after.values;
    for (size_t k = first + 2; k < std::min(rounds.size(), most_states); k++)
      plan.later.push_back({rounds[k].record, rounds[k].state.values});
    plan.by_value = rounds[first].branches != rounds[first + 1].branches;
    bool known = !plan.by_value || !r_.speculation().loop_is_unrolled(watch.place);
    for (size_t i = 0; i < before.lists.size(); i++) {
      const ProgramState::List &from = before.lists[i], &to = after.lists[i];
      known = known && from.number == to.number && from.items <= to.items &&
              (from.items == to.items || r_.peek(from.object)->asked < watch.began);
      plan.grown.push_back({from.number, from.items, to.items});
    }
    const graph::Rolled rolled = known ? r_.trace().roll(plan, outputs) : graph::Rolled{};
    if (!rolled.count) continue;
    if (plan.by_value) by_value_.push_back({watch.place, false});
    replaced(watch, rolled, rounds[first].branches);
    any = true;
    attempts = 0;
    first += rolled.rounds;  // later rounds may be alike in another way
  }
  return any;
}

/// The records and branches of some of its rounds have become one.
void Loops::replaced(Watch& watch, const graph::Rolled& rolled, size_t branch) {
  const size_t end = rolled.first + rolled.count;
  const auto move = [&](Watch& each) {
    for (Round& round : each.rounds) {
      if (round.record >= end) round.record -= rolled.count - 1;
      if (round.branches >= branch + rolled.asserts) round.branches -= rolled.asserts;
    }
    std::erase_if(each.visits, [&](const Visit& v) { return v.record >= rolled.first && v.record < end; });
    for (Visit& visit : each.visits)
      if (visit.record >= end) visit.record -= rolled.count - 1;
    if (each.end >= end && each.end != Watch::not_left) each.end -= rolled.count - 1;
  };
  if (rolled.asserts) replace_branches(branch, rolled.asserts);
  move(watch);
  for (Watch& other : watches_) move(other);
}

/// `count` branches from number `first` on, loops not counted, are one loop now.
void Loops::replace_branches(size_t first, size_t count) {
  auto& branches = r_.entry_->branches;
  auto at = branches.begin();
  for (size_t before = 0; at != branches.end() && (before < first || at->loop); ++at) before += !at->loop;
  Branch loop;
  loop.loop = true;
  for (auto end = at; count > 0 && end != branches.end();) {
    count -= !end->loop;
    end = branches.erase(end);
  }
  branches.insert(at, loop);
}

/// As the graph numbers its asserts.
void Loops::number_branches() {
  uint32_t next = 0;
  for (Branch& branch : r_.entry_->branches) {
    if (!branch.late && !branch.loop) branch.at = next++;
  }
}

void Loops::unroll() {
  for (const auto& [place, branches] : by_value_)
    branches ? r_.speculation().split_loop(place) : r_.speculation().unroll_loop(place);
}

/// What the program gets, and what it holds when later rounds of the loops around begin.
std::vector<graph::TraceId> Loops::used_behind(const Watch& watch, std::vector<graph::TraceId> outputs) const {
  for (const Watch& other : watches_) {
    if (other.rounds.empty() || other.rounds.back().record < watch.rounds.front().record) continue;
    for (const Round& round : other.rounds) {
      if (round.record < watch.rounds.front().record) continue;
      const ProgramState& state = round.alive.words.empty() ? round.state : round.alive;
      outputs.insert(outputs.end(), state.values.begin(), state.values.end());
    }
  }
  return outputs;
}

/// Inner loops before those around them.
void Loops::roll(bool cut) {
  cut_ = cut;
  const std::vector<graph::TraceId> outputs = r_.trace().output_ids();
  spoiled_ = spoiled_ || watches_.size() > most_watches;
  while (!watches_.empty() && r_.alive()) {
    Watch watch = std::move(watches_.back());
    watches_.pop_back();
    if (!spoiled_ && !watch.rounds.empty()) {
      const std::vector<graph::TraceId> used = used_behind(watch, outputs);
      if (roll_branches(watch, used) || roll(watch, used)) continue;
    }
    for (Value& number : watch.relied_on) r_.pin(number);
    // Of rounds that go different ways another call may show more.
    if (watch.rounds.size() > enough_rounds && !may_show_more(watch)) r_.speculation().fix_loop(watch.place);
  }
  if (rolled_by_value()) number_branches();
}

}  // namespace terra::capture
