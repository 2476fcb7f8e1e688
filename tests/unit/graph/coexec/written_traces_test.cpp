// The helpers of written_traces.h; the test program of a folder is made of its *_test.cpp files.
#include "tests/unit/graph/coexec/written_traces.h"

#include <array>
#include <cctype>
#include <stdexcept>

#include "graph/coexec/cases.h"

namespace terra::coexec::test {
namespace {

class Reader {
 public:
  explicit Reader(const std::string& text) : text_(text) { last_.fill(Operand::kOutside); }

  LinearTrace read() {
    records();
    if (at_ != text_.size()) throw std::invalid_argument("a trace goes on where it should end: " + text_.substr(at_));
    return std::move(trace_);
  }

 private:
  bool takes(char c) {
    if (at_ == text_.size() || text_[at_] != c) return false;
    at_++;
    return true;
  }

  void records() {
    for (;;) {
      if (takes(' ')) continue;
      if (at_ == text_.size() || !std::isalpha(text_[at_])) return;
      const char letter = text_[at_++];
      std::isupper(letter) ? rounds(letter) : record(letter);
    }
  }

  void rounds(char letter) {
    if (!takes('{')) throw std::invalid_argument("a loop without rounds");
    loops_.push_back({static_cast<LoopId>(letter - 'A'), entries_++, 0});
    for (records(); takes('|'); records()) loops_.back().round++;
    if (!takes('}')) throw std::invalid_argument("a loop that doesn't end");
    loops_.pop_back();
  }

  void record(char letter) {
    Record record{static_cast<IdentityId>(letter - 'a'), loops_, {}};
    if (takes('(')) {
      do record.operands.push_back({text_[at_] == '-' ? Operand::kOutside : last_.at(text_[at_] - 'a'), 0});
      while (++at_, takes(','));
      if (!takes(')')) throw std::invalid_argument("operands that don't end");
    }
    last_.at(letter - 'a') = static_cast<uint32_t>(trace_.size());
    trace_.push_back(std::move(record));
  }

  const std::string& text_;
  size_t at_ = 0;
  uint32_t entries_ = 0;
  std::vector<LoopRound> loops_;
  std::array<uint32_t, 26> last_;  // by letter
  LinearTrace trace_;
};

}  // namespace

LinearTrace trace(const std::string& text) { return Reader(text).read(); }

TraceGraph merged(const std::vector<std::string>& traces) {
  TraceGraph graph;
  for (const std::string& text : traces) graph.merge(trace(text));
  return graph;
}

std::string name_of(IdentityId id) { return {static_cast<char>('a' + id)}; }
std::string graph_of(const std::vector<std::string>& traces) { return to_string(merged(traces), name_of); }
std::string cases_of(const std::vector<std::string>& traces) { return draw_cases(merged(traces), name_of); }

std::string lines(std::initializer_list<const char*> picture) {
  std::string text;
  for (const char* line : picture) text += std::string(line) + "\n";
  return text;
}

}  // namespace terra::coexec::test
