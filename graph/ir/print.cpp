#include "graph/ir/print.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "graph/ir/graph_table.h"
#include "graph/ir/names.h"

namespace terra::graph {
namespace {

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

/// How text names a graph of a table.
std::string callee_text(const std::string& name) {
  const bool plain = !name.empty() && std::all_of(name.begin(), name.end(), is_plain_name);
  return "@" + (plain ? name : quoted(name));
}

std::string real(double v) {
  if (std::isnan(v)) return "nan";
  if (std::isinf(v)) return v > 0 ? "inf" : "-inf";
  const std::string text = fmt::format("{}", v);  // the shortest that is read as the same number
  return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
}

struct ArgText {
  std::string operator()(std::monostate) const { return "none"; }
  std::string operator()(const Scalar& s) const {
    if (s.kind() == Scalar::Kind::Bool) return s.to_bool() ? "true" : "false";
    if (s.is_complex()) return fmt::format("{}_{}j", real(s.to_double()), real(s.imag()));
    if (s.is_float()) return real(s.to_double());
    return s.kind() == Scalar::Kind::Unsigned ? std::to_string(s.to_unsigned()) : std::to_string(s.to_int());
  }
  std::string operator()(const IntList& v) const { return fmt::format("({})", fmt::join(v, ", ")); }
  std::string operator()(DType t) const { return fmt::format(":{}", short_name(t)); }
  std::string operator()(const std::string& s) const { return quoted(s); }
  std::string operator()(Generator*) const { return "generator"; }
  std::string operator()(Use u) const { return fmt::format("%{}", u.id); }
  std::string operator()(const UseList& list) const {
    std::string out = "[";
    for (size_t i = 0; i < list.size(); ++i)
      out += fmt::format("{}{}", i ? ", " : "", list[i] == kNoId ? "none" : fmt::format("%{}", list[i]));
    return out + "]";
  }
};

class Printer {
 public:
  Printer(bool origins, const GraphTable* table) : origins_(origins), table_(table) {}

  /// The graph, then those of its table, whose constants have the numbers behind its own.
  void whole(const Graph& g) {
    graph(g, 0, quoted(g.name));
    out_ += "\n";
    for (GraphId id = 0; table_ && id < table_->size(); ++id) {
      const Graph* callee = table_->find(id);
      if (!callee) continue;
      graph(*callee, 0, callee_text(table_->name(id)));
      out_ += "\n";
    }
  }

  std::string take() { return std::move(out_); }

 private:
  void graph(const Graph& g, int indent, const std::string& name) {
    const std::string pad(indent, ' ');
    out_ += fmt::format("graph {}(", name);
    for (size_t i = 0; i < g.inputs.size(); ++i) {
      out_ += fmt::format("{}%{}", i ? ", " : "", g.inputs[i]);
      if (i < g.input_names.size() && !g.input_names[i].empty()) out_ += " " + quoted(g.input_names[i]);
      out_ += ": " + to_string(g.meta(g.inputs[i]));
    }
    out_ += ") {\n";
    for (const auto& [id, tensor] : g.constants)
      out_ += fmt::format("{}  %{}: {} = constant {}\n", pad, id, to_string(g.meta(id)), constants_++);
    for (const Node& n : g.nodes) node(g, n, indent + 2);
    out_ += pad + "  return";
    for (size_t i = 0; i < g.outputs.size(); ++i) out_ += fmt::format("{}%{}", i ? ", " : " ", g.outputs[i]);
    out_ += "\n" + pad + "}";
  }

  void node(const Graph& g, const Node& n, int indent) {
    out_.append(indent, ' ');
    for (size_t i = 0; i < n.results.size(); ++i)
      out_ += fmt::format("{}%{}: {}", i ? ", " : "", n.results[i], to_string(g.meta(n.results[i])));
    if (!n.results.empty()) out_ += " = ";
    if (n.kind == NodeKind::Op) {
      out_ += n.op->name;
    } else {
      out_ += fmt::format("${}", kNodeNames[static_cast<int>(n.kind)]);
      if (n.op) out_ += fmt::format(" {}", n.op->name);
      if (n.kind == NodeKind::Call) out_ += " " + callee(n.index);
    }
    out_ += "(";
    for (size_t i = 0; i < n.args.size(); ++i) out_ += (i ? ", " : "") + print_arg(n.args[i]);
    out_ += ")";
    if (n.kind == NodeKind::Assert) out_ += n.expected ? " expect true" : " expect false";
    if (n.kind == NodeKind::Assert || n.kind == NodeKind::HostCall) out_ += fmt::format(" index {}", n.index);
    if (n.chain) out_ += fmt::format(" @{}.{}", n.chain, n.ticket);
    for (const auto& body : n.bodies) {
      out_ += " { ";
      graph(*body, indent, quoted(body->name));
      out_ += " }";
    }
    if (origins_ && n.origin >= 0) {
      const Origin& o = g.origins[n.origin];
      if (o.file.find('\n') == std::string::npos) out_ += fmt::format("  # {}:{}", o.file, o.line);
    }
    out_ += "\n";
  }

  std::string callee(GraphId id) const {
    return table_ && id < table_->size() ? callee_text(table_->name(id)) : fmt::format("@{}", id);
  }

  const bool origins_;
  const GraphTable* table_;
  size_t constants_ = 0;
  std::string out_;
};

void collect_constants(const Graph& graph, std::vector<Tensor>& constants) {
  for (const auto& [id, tensor] : graph.constants) constants.push_back(tensor);
  for (const Node& n : graph.nodes)
    for (const auto& body : n.bodies) collect_constants(*body, constants);
}

}  // namespace

std::string print_arg(const NodeArg& arg) { return std::visit(ArgText{}, arg); }

std::vector<Tensor> constants_of(const Graph& graph) {
  std::vector<Tensor> constants;
  collect_constants(graph, constants);
  for (GraphId id = 0; graph.table && id < graph.table->size(); ++id)
    if (const Graph* callee = graph.table->find(id)) collect_constants(*callee, constants);
  return constants;
}

std::string print(const Graph& graph, bool origins) {
  Printer p(origins, graph.table.get());
  p.whole(graph);
  return p.take();
}

}  // namespace terra::graph
