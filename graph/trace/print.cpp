#include <fmt/format.h>

#include "graph/trace/trace.h"

namespace terra::graph {
namespace {

std::string number(TraceId id) { return id == kNoValue ? "none" : fmt::format("%{}", id); }

std::string numbers(const std::vector<TraceId>& ids) {
  std::string out = "[";
  for (size_t i = 0; i < ids.size(); ++i) out += (i ? ", " : "") + number(ids[i]);
  return out + "]";
}

std::string constant(const Arg& a) {
  switch (a.kind()) {
    case Arg::Kind::Scalar:
      if (a.scalar().kind() == Scalar::Kind::Bool) return a.scalar().to_bool() ? "True" : "False";
      if (a.scalar().is_complex()) return fmt::format("({} + {}j)", a.scalar().to_double(), a.scalar().imag());
      return a.scalar().is_float() ? fmt::format("{}", a.scalar().to_double()) : fmt::format("{}", a.scalar().to_int());
    case Arg::Kind::IntList: return terra::to_string(a.ints());
    case Arg::Kind::DType: return std::string(name_of(a.dtype()));
    case Arg::Kind::String: return fmt::format("'{}'", a.text());
    case Arg::Kind::Generator: return "generator";
    default: return "None";
  }
}

std::string_view name_of(GradientModes modes) {
  return modes.inference ? "off for inference" : modes.enabled ? "on" : "off";
}

std::string known(const TraceNumber& n) { return n.id == kNoValue ? constant(Arg(n.constant)) : number(n.id); }

std::string argument(const TraceArg& a) {
  if (a.kind == TraceArg::Kind::Integers) {
    std::string out = "[";
    for (size_t i = 0; i < a.integers.size(); ++i) out += (i ? ", " : "") + known(a.integers[i]);
    return out + "]";
  }
  if (a.kind == TraceArg::Kind::Value) return number(a.value);
  if (a.kind == TraceArg::Kind::ValueList) return numbers(a.list);
  return a.constant.args().empty() ? "None" : constant(a.constant.args()[0]);
}

struct RecordText {
  std::string operator()(const CallRecord& r) const {
    std::string args;
    for (size_t i = 0; i < r.args.size(); ++i) args += (i ? ", " : "") + argument(r.args[i]);
    return fmt::format("{} = {}{}({})", numbers(r.results), r.op ? r.op->name : "?", r.in_place ? "_" : "", args);
  }
  std::string operator()(const AssertRecord& r) const {
    return fmt::format("assert bool({}) is {}", number(r.tensor), r.expected);
  }
  std::string operator()(const ItemRecord& r) const {
    return fmt::format("{} = item({})", number(r.result), number(r.tensor));
  }
  std::string operator()(const BackwardRecord& r) const {
    return fmt::format("backward({}, gradients={}, inputs={}{}{})", numbers(r.roots), numbers(r.gradients),
                       numbers(r.inputs), r.retain_graph ? ", retain_graph" : "",
                       r.create_graph ? ", create_graph" : "");
  }
  std::string operator()(const GradRecord& r) const {
    return fmt::format("{} = grad({}, {}, gradients={}{}{})", numbers(r.results), numbers(r.roots), numbers(r.inputs),
                       numbers(r.gradients), r.retain_graph ? ", retain_graph" : "",
                       r.create_graph ? ", create_graph" : "");
  }
  std::string operator()(const ReadGradRecord& r) const {
    return fmt::format("{} = {}.grad", number(r.result), number(r.tensor));
  }
  std::string operator()(const WriteGradRecord& r) const {
    return fmt::format("{}.grad = {}", number(r.tensor), number(r.value));
  }
  std::string operator()(const GradModeRecord& r) const { return fmt::format("grad mode {}", name_of(r.modes)); }
  std::string operator()(const RequiresGradRecord& r) const {
    return fmt::format("{}.requires_grad_({})", number(r.tensor), r.value);
  }
  std::string operator()(const FunctionRecord& r) const {
    return fmt::format("{} = {} #{}({})", numbers(r.outputs), r.name, r.callback, numbers(r.inputs));
  }
  std::string operator()(const HistoryRecord& r) const {
    if (r.callback == HistoryRecord::kOutside)
      return fmt::format("{} = {} with a history outside", number(r.result), number(r.tensor));
    return fmt::format("{} = {} as result {} of #{}", number(r.result), number(r.tensor), r.index, r.callback);
  }
  std::string operator()(const HookRecord& r) const {
    return fmt::format("{}.register_hook(#{})", number(r.tensor), r.callback);
  }
  std::string operator()(const DataRecord& r) const {
    return fmt::format("{} = {}.data", number(r.result), number(r.tensor));
  }
  std::string operator()(const RetainGradRecord& r) const { return fmt::format("{}.retain_grad()", number(r.tensor)); }
  std::string operator()(const SizeRecord& r) const {
    if (r.dim == SizeRecord::kElements) return fmt::format("{} = {}.numel()", number(r.result), number(r.tensor));
    return fmt::format("{} = {}.shape[{}]", number(r.result), number(r.tensor), r.dim);
  }
  std::string operator()(const NumberRecord& r) const {
    static constexpr const char* kSigns[] = {"+",  "-",  "*",  "//", "%",  "/",       "**",   "min", "max",  "<",
                                             "<=", "==", "!=", ">",  ">=", "negated", "root", "int", "float"};
    return fmt::format("{} = {} {} {}", number(r.result), known(r.a), kSigns[static_cast<size_t>(r.op)], known(r.b));
  }
  std::string operator()(const FactRecord& r) const {
    static constexpr const char* kNames[] = {"", ".is_contiguous()", ".stride()"};
    return fmt::format("fact {}{} is {}", number(r.value), kNames[static_cast<size_t>(r.what)],
                       terra::to_string(std::span<const int64_t>(r.expected)));
  }
  std::string operator()(const LoopRecord&) const { return "loop"; }
  std::string operator()(const BranchRecord& r) const { return "branch on " + number(r.truth); }
};

std::string line_of(const TraceRecord& r, size_t depth);

std::string loop(const LoopBody& body, size_t depth) {
  const std::string pad(2 * depth, ' ');
  std::string out;
  for (const auto& c : body.carried)
    out += fmt::format("{}{} from {}, then {}\n", pad, number(c.inner), number(c.init), number(c.next));
  for (size_t i = 0; i < body.records.size(); ++i)
    if (const std::string text = std::visit(RecordText{}, body.records[i].what); i == body.exit)
      out += pad + "while " + text.substr(text.find(' ') + 1) + "\n";
    else
      out += line_of(body.records[i], depth);
  for (const auto& l : body.left) out += fmt::format("{}{} = {} at the end\n", pad, number(l.outer), number(l.inner));
  for (const auto& c : body.collected)
    out += fmt::format("{}{} = {} of each round\n", pad, number(c.sequence), numbers(c.inner));
  return out;
}

std::string branch(const BranchBody& body, size_t depth) {
  const std::string pad(2 * depth, ' ');
  std::string out;
  for (int truth : {1, 0}) {
    out += pad + (truth ? "if true\n" : "if false\n");
    for (const TraceRecord& r : body.ways[truth]) out += line_of(r, depth + 1);
  }
  for (const auto& result : body.results)
    out += fmt::format("{}{} = {} or {}\n", pad, number(result.outer), number(result.of[1]), number(result.of[0]));
  return out;
}

std::string line_of(const TraceRecord& r, size_t depth) {
  std::string out(2 * depth, ' ');
  out += std::visit(RecordText{}, r.what);
  if (r.line > 0) out += fmt::format("  # {}:{}", r.file, r.line);
  out += "\n";
  if (const auto* rounds = std::get_if<LoopRecord>(&r.what)) out += loop(*rounds->body, depth + 1);
  if (const auto* ways = std::get_if<BranchRecord>(&r.what)) out += branch(*ways->body, depth + 1);
  return out;
}

std::string input(TraceId id, const TraceInput& in) {
  if (in.kind == TraceInput::Kind::Scalar)
    return fmt::format("  {} {}: {}scalar\n", number(id), in.name, in.structural ? "structural " : "");
  return fmt::format("  {} {}: {} {} strides {} offset {} storage {}{}{}{}\n", number(id), in.name,
                     name_of(in.meta.dtype), terra::to_string(in.meta.sizes), terra::to_string(in.strides), in.offset,
                     in.storage_group, in.free_sizes ? " free" : "",
                     in.requires_grad ? (in.is_leaf ? " requires_grad" : " requires_grad (not a leaf)") : "",
                     in.grad == kNoValue ? std::string() : " grad " + number(in.grad));
}

}  // namespace

std::string to_string(const Trace& trace) {
  std::string out = fmt::format("trace {}, grad mode {}\n", trace.name, name_of(trace.modes));
  for (size_t i = 0; i < trace.inputs.size(); ++i) out += input(static_cast<TraceId>(i), trace.inputs[i]);
  for (const auto& [id, tensor] : trace.constants)
    out += fmt::format("  {}: constant {}\n", number(id), describe(tensor));
  for (const TraceRecord& r : trace.records) out += line_of(r, 1);
  return out + "  return " + numbers(trace.outputs) + "\n";
}

}  // namespace terra::graph
