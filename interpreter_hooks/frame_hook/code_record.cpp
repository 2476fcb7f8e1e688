#include "interpreter_hooks/frame_hook/code_record.h"

#include "interpreter_hooks/frame_hook/direct_call.h"

#include "interpreter_hooks/cpython/code.h"
#include "interpreter_hooks/cpython/instructions.h"
#include "interpreter_hooks/guards/text.h"

#include <algorithm>
#include <cstring>

namespace terra::capture {

namespace {

std::vector<std::shared_ptr<CodeRecord>>& records() {
  static auto* list = new std::vector<std::shared_ptr<CodeRecord>>;  // outlives every code object
  return *list;
}

constexpr size_t most_dead = 500;
constexpr size_t first_sweep = 4096;
constexpr size_t most_with_entries = 1000;
constexpr size_t most_rests = 32;

CodeRecord* record_at(void* pointer) { return static_cast<CodeRecord*>(static_cast<TerraCodeNote*>(pointer)); }

/// The code object dies: its entries go, what the report says of it stays.
void release(void* pointer) {
  if (!pointer) return;
  CodeRecord* record = record_at(pointer);
  record->dead = true;
  for (const std::shared_ptr<CodeRecord>& rest : record->rests) {
    rest->dead = true;
    rest->entries.clear();
  }
  record->rests.clear();
  record->entries.clear();
}

/// Forgets dead code: all that was never recorded, and all but the last few of the rest. At most half of the list is
/// dead code that was forgotten too late.
void sweep_dead() {
  static size_t next = first_sweep;
  auto& list = records();
  if (list.size() < next) return;
  size_t spare = std::count_if(list.begin(), list.end(), [](auto& r) { return r->dead && r->recordings; });
  std::erase_if(list, [&](const std::shared_ptr<CodeRecord>& r) {
    if (!r->dead) return false;
    if (!r->recordings) return true;
    return spare-- > most_dead;
  });
  next = std::max(first_sweep, 2 * list.size());
}

/// The import system: CPython's, and what we have added to it.
bool is_machinery(const std::string& file) { return file.starts_with("<frozen") || file.starts_with("<terra"); }

/// terra.capture itself: explain() calls a function so that it is captured, and not its own frame with the calls
/// inside.
bool steers_capture(const std::string& file) { return file.ends_with("/terra/capture.py"); }

/// No call of it need be seen.
void pass_by(CodeRecord& record) {
  record.why = {Reason::NotEligible, "", record.file, record.line};
  record.unseen = all_calls;
}

/// -1 before the first record is made.
Py_ssize_t slot = -1;

}  // namespace

const char* state_name(State state) {
  static constexpr const char* names[] = {"cold", "hot", "captured", "settled", "given up"};
  return names[static_cast<int>(state)];
}

CodeRecord* find_record(PyCodeObject* code) { return record_at(terra_code_extra(code, slot)); }

CodeRecord* record_of(PyCodeObject* code) {
  if (CodeRecord* known = find_record(code)) return known;
  if (slot < 0) {
    slot = terra_code_extra_index(release);
    if (slot < 0) return nullptr;
    terra_hook_read_notes(slot);
  }
  auto record = std::make_shared<CodeRecord>();
  record->name = utf8_of(code->co_qualname);
  record->file = utf8_of(code->co_filename);
  record->line = code->co_firstlineno;
  constexpr int wanted = CO_OPTIMIZED | CO_NEWLOCALS;
  constexpr int refused = CO_GENERATOR | CO_COROUTINE | CO_ASYNC_GENERATOR;
  record->eligible = (code->co_flags & wanted) == wanted && !(code->co_flags & refused) && record->name != "<module>" &&
                     !is_machinery(record->file) && !steers_capture(record->file);
  record->takes_direct_calls = record->eligible && takes_direct_calls(code);
  if (!record->eligible) pass_by(*record);
  if (!terra_code_set_extra(code, slot, static_cast<TerraCodeNote*>(record.get()))) return nullptr;
  sweep_dead();
  records().push_back(record);
  return record.get();
}

CodeRecord* rest_of(CodeRecord& whole, PyCodeObject* code, int instruction) {
  for (const std::shared_ptr<CodeRecord>& rest : whole.rests) {
    if (rest->begins_at == instruction) return rest.get();
  }
  if (whole.rests.size() >= most_rests) return nullptr;
  auto rest = std::make_shared<CodeRecord>();
  rest->is_rest = true;
  rest->recursive = whole.recursive;
  rest->around_recursion = whole.around_recursion;
  rest->tensor_work = whole.tensor_work && (whole.recursive || whole.around_recursion);
  rest->begins_at = instruction;
  rest->file = whole.file;
  rest->line = terra_code_line(code, instruction);
  rest->name = whole.name + " from line " + std::to_string(rest->line);
  whole.rests.push_back(rest);
  records().push_back(rest);
  return rest.get();
}

const std::vector<std::shared_ptr<CodeRecord>>& all_records() { return records(); }

void drop_idle_entries() {
  static size_t made = 0;
  if (++made < most_with_entries) return;
  made = 0;
  std::vector<std::shared_ptr<CodeRecord>> idle;
  for (auto& record : records()) {
    if (!record->entries.empty() && record->calls == record->calls_before) idle.push_back(record);
    record->calls_before = record->calls;
  }
  for (auto& record : idle) {  // destructors of the program may run here, and records may come and go
    record->state = State::Hot;
    record->entries.clear();
  }
}

void drop_stale_entries_now() {
  files_seen_stale = files_gone_stale;
  std::vector<std::shared_ptr<Entry>> dropped;  // destructors of the program may run when they go, and add records
  for (auto& record : records()) {
    const size_t before = dropped.size();
    for (auto& entry : record->entries)
      if (entry->file.stale()) dropped.push_back(entry);
    if (dropped.size() == before) continue;
    record->entries.remove_if([](const Entry& entry) { return entry.file.stale(); });
    if (record->state == State::Settled) record->state = State::Captured;
  }
}

void reset_records() {
  std::vector<EntryTable> dropped;  // destructors of the program may run when they go, and add records
  for (auto& record : records()) {
    dropped.push_back(std::move(record->entries));
    CodeRecord fresh;
    fresh.name = record->name;
    fresh.file = record->file;
    fresh.line = record->line;
    fresh.eligible = record->eligible;
    fresh.takes_direct_calls = record->takes_direct_calls;
    fresh.dead = record->dead;
    fresh.is_rest = record->is_rest;
    fresh.begins_at = record->begins_at;
    fresh.rests = std::move(record->rests);
    if (!fresh.eligible) pass_by(fresh);
    *record = std::move(fresh);
  }
}

}  // namespace terra::capture
