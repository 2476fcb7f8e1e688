#include "interpreter_hooks/frame_hook/report.h"

#include "engine/memory/allocator.h"
#include "graph/cache/pair_batch.h"
#include "interpreter_hooks/bindings/calls/counters.h"
#include "interpreter_hooks/coexec/runner.h"
#include "interpreter_hooks/frame_hook/hook.h"
#include "interpreter_hooks/frame_hook/idle_unhook.h"
#include "interpreter_hooks/frame_hook/ledger.h"
#include "interpreter_hooks/frame_hook/merged_entries.h"
#include "interpreter_hooks/frame_hook/self_check.h"
#include "interpreter_hooks/guards/explain.h"
#include "interpreter_hooks/recorder/core/recording.h"
#include "recursive/deferral/deferred_calls.h"

#include <nlohmann/json.hpp>

#include <chrono>

namespace terra::capture {

namespace {

using Json = nlohmann::ordered_json;

const auto started = std::chrono::steady_clock::now();

bool interesting(const CodeRecord& record) { return record.recordings > 0; }

Json reason_of(const CodeRecord& record) {
  if (record.why.reason == Reason::None || !record.entries.empty()) return nullptr;
  return {{"id", static_cast<int>(record.why.reason)},
          {"text", record.why.text()},
          {"file", record.why.file},
          {"line", record.why.line}};
}

Json entry_json(const Entry& entry) {
  const graph::Footprint bytes = entry.graph ? entry.graph->footprint() : graph::Footprint();
  return {{"hits", entry.hits},
          {"misses", entry.misses},
          {"nodes", entry.graph ? entry.graph->node_count() : 0},
          {"bytes", {{"run", bytes.run}, {"kept", bytes.kept}, {"constants", bytes.constants}, {"saved", bytes.saved}}},
          {"first_run_ms", entry.graph ? entry.graph->first_run_ms() : 0},
          {"guards", entry.entry.texts(entry.file, true)},
          {"last_miss", entry.last_miss.empty() ? Json(nullptr) : Json(entry.last_miss)}};
}

Json cut_json(const Cut& cut) {
  return {{"line", cut.line}, {"id", static_cast<int>(cut.why.reason)}, {"text", cut.why.text()}};
}

Json frame_json(const CodeRecord& record) {
  Json entries = Json::array();
  Json cuts = Json::array();
  for (auto& entry : record.entries) {
    entries.push_back(entry_json(*entry));
    if (entry->cut) cuts.push_back(cut_json(*entry->cut));
  }
  return {{"name", record.name},          {"file", record.file},
          {"line", record.line},          {"state", state_name(record.state)},
          {"calls", record.calls_made()}, {"reason", reason_of(record)},
          {"entries", entries},           {"cuts", cuts}};
}

/// Loops whose iterations the program went through while its ops were put off. What was put off is counted for all of
/// them.
Json segments_json(const coexec::Runner* runner) {
  Json segments = Json::array();
  if (!runner) return segments;
  const coexec::Segment::Counts counts = runner->counts();
  for (const coexec::LoopReport& loop : runner->loops()) {
    segments.push_back({{"file", loop.file},
                        {"line", loop.line},
                        {"iterations", loop.iterations},
                        {"inline", loop.beside == 0},
                        {"iterations_beside", loop.beside},
                        {"iterations_in_frames", loop.in_frames},
                        {"jobs", counts.jobs},
                        {"runner_ms", counts.worked_us / 1000},
                        {"hidden_python_ms", std::max(0.0, counts.worked_us - counts.waited_us) / 1000},
                        {"wait_ms", counts.waited_us / 1000},
                        {"feeds", counts.inputs},
                        {"fetches", counts.settled},
                        {"graph_runs", counts.by_graph},
                        {"cases", loop.cases},
                        {"settled", loop.settled}});
  }
  return segments;
}

/// The lines of the program where something happened, those that took or came most first.
Json lines_json(const coexec::Runner::Tallies& tallies) {
  std::vector<std::pair<coexec::SourceLine, coexec::Runner::Tally>> sorted(tallies.begin(), tallies.end());
  std::sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) {
    return std::pair(a.second.us, a.second.times) > std::pair(b.second.us, b.second.times);
  });
  Json lines = Json::array();
  for (const auto& [at, tally] : sorted)
    lines.push_back({{"file", at.file}, {"line", at.line}, {"times", tally.times}, {"ms", tally.us / 1000}});
  return lines;
}

}  // namespace

std::string report_json() {
  drop_stale_entries();
  notice_foreign_evaluator();
  Totals& t = totals();
  const coexec::Runner* const beside = coexec::runner();
  const uint64_t stubs = beside ? beside->stubs() : 0, iterations = beside ? beside->iterations() : 0;
  Json frames = Json::array();
  for (auto& record : all_records()) {
    if (interesting(*record)) frames.push_back(frame_json(*record));
  }
  std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - started;
  Json json = {{"version", 1},
               {"seconds", seconds.count()},
               {"ops", {{"eager", hooks::counters.eager_calls - stubs}, {"graph", t.graph_calls}, {"stub", stubs}}},
               {"runs", {{"frame", t.replays}, {"coexec_iterations", iterations}, {"recursive", recursive::deferral_counts().calls}}},
               {"batches", recursive::deferral_counts().batches},
               {"backward", {{"runs", graph::pair_batch_counts.runs}, {"batches", graph::pair_batch_counts.batches}}},
               {"misses", t.misses},
               {"fallbacks", t.fallbacks},
               {"recordings", t.recordings},
               {"replays", t.replays},
               {"captures", t.captures},
               {"cuts", t.cuts},
               {"capture_ms", ledger().worked() / 1000},
               {"brought_back_ms", ledger().brought_back() / 1000},
               {"divergences", beside ? beside->divergences() : 0},
               {"internal_errors", t.internal_errors},
               {"wrong", t.wrong},
               {"self_checks", check_account().checks()},
               {"self_check_ms", check_account().spent() * 1e3},
               {"frames_seen", terra_frames_seen},
               {"resting", is_resting()},
               {"peak_tensor_bytes", memory::statistics().peak_bytes},
               {"frames", frames},
               {"segments", segments_json(beside)},
               {"waits", beside ? lines_json(beside->waits()) : Json::array()},
               {"diverged", beside ? lines_json(beside->diverged()) : Json::array()},
               {"recorder",
                {{"events", recorder_stats().events},
                 {"slots_checked", recorder_stats().slots_checked},
                 {"slots_wrong", recorder_stats().slots_wrong},
                 {"pins", recorder_stats().pins}}}};
  return json.dump(1, ' ', false, Json::error_handler_t::replace);
}

/// Of a function, or of the rest of its frames behind a cut.
static std::string explain_part(const CodeRecord& record) {
  std::string text = record.name + " (" + record.file + ":" + std::to_string(record.line) +
                     "): " + state_name(record.state) + ", " + std::to_string(record.calls_made()) + " calls, " +
                     std::to_string(record.recordings) + " recordings, " + std::to_string(record.hits) + " replays\n";
  if (record.entries.empty() && record.why.reason != Reason::None) {
    const ReasonText& reason = reason_text(record.why.reason);
    text += "  reason " + std::to_string(static_cast<int>(record.why.reason)) + ": " + record.why.text() + " (" +
            record.why.file + ":" + std::to_string(record.why.line) + ")\n";
    if (*reason.hint) text += "  hint: " + std::string(reason.hint) + "\n";
  }
  for (auto& entry : record.entries) {
    text += "  entry: " + std::to_string(entry->hits) + " hits, " + std::to_string(entry->misses) + " misses" +
            (entry->last_miss.empty() ? "" : "; last miss: " + entry->last_miss) + "\n";
    if (const Cut* cut = entry->cut.get()) {
      text += "    up to line " + std::to_string(cut->line) + ", where CPython goes on; reason " +
              std::to_string(static_cast<int>(cut->why.reason)) + ": " + cut->why.text() + " (" + cut->why.file + ":" +
              std::to_string(cut->why.line) + ")\n";
    }
    entry->entry.each([&](const Word* at) {
      if (!is_read(at)) text += "    " + kinds[head(at).kind].text(at, entry->file) + "\n";
    });
    if (entry->guard_memo.words() || entry->guard_memo.steps()) {
      text += "    which " + std::to_string(entry->guard_memo.passes()) + " calls saw from " +
              std::to_string(entry->guard_memo.words()) + " words and " + std::to_string(entry->guard_memo.steps()) +
              " instructions\n";
    }
    if (entry->paths) {
      text += "    path " + std::to_string(entry->path) + " of " + std::to_string(entry->paths->size()) +
              " that run as one graph with switches, of " + std::to_string(entry->paths->graph().node_count()) +
              " nodes\n";
    }
    if (entry->graph) text += "    graph of " + std::to_string(entry->graph->node_count()) + " nodes\n";
    if (const std::string put_off = entry->deferred ? entry->deferred->summary() : ""; !put_off.empty())
      text += "    " + put_off + "\n";
    for (auto& line : entry->late.texts(entry->file, false)) text += "    after it: " + line + "\n";
    for (auto& line : entry->effects.program().texts(entry->file, false)) text += "    effect: " + line + "\n";
  }
  return text;
}

std::string explain(const CodeRecord& record) {
  std::string text = explain_part(record);
  for (const std::shared_ptr<CodeRecord>& rest : record.rests) text += explain_part(*rest);
  return text;
}

std::string explain_all() {
  drop_stale_entries();
  std::string text;
  for (auto& record : all_records()) {
    if (!record->is_rest && interesting(*record)) text += explain(*record);
  }
  return text;
}

std::string explain_all_json() { return Json(explain_all()).dump(-1, ' ', false, Json::error_handler_t::replace); }

}  // namespace terra::capture
