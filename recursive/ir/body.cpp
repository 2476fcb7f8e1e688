#include "recursive/ir/body.h"

#include <algorithm>

#include "engine/errors/errors.h"
#include "engine/ops/call.h"

namespace terra::recursive {

using graph::Graph;
using graph::Node;

thread_local Body* Body::current_ = nullptr;

Body& Body::current(std::string_view what) {
  check(current_ != nullptr,
        "{} stands outside of the body of a SubGraph: write it in the function that define() is given", what);
  return *current_;
}

void Body::write(const std::function<void()>& write) {
  struct Scope {
    explicit Scope(Body* body) : before(current_) { current_ = body; }
    ~Scope() { current_ = before; }
    Body* before;
  };
  const Scope scope(this);
  const EmitterScope emitter(emitter_);
  const GradMode off(false);
  write();
}

std::vector<ValueId> Body::values_of(const std::vector<Tensor>& tensors) {
  std::vector<ValueId> values;
  for (const Tensor& t : tensors) values.push_back(emitter_.value_of(*t));
  return values;
}

Body::Way Body::cut(const std::function<std::vector<ValueId>()>& write) {
  const size_t begin = graph_.nodes.size();
  Way way;
  way.results = write();
  way.nodes.assign(std::make_move_iterator(graph_.nodes.begin() + static_cast<ptrdiff_t>(begin)),
                   std::make_move_iterator(graph_.nodes.end()));
  graph_.nodes.resize(begin);
  make_views_again(way.nodes, way.results, defined());
  for (const Node& n : way.nodes)
    if (n.is_op(kView)) views_.emplace(n.results[0], n);
  return way;
}

std::vector<bool> Body::defined() const {
  std::vector<bool> known(graph_.values.size(), false);
  for (ValueId id : graph_.inputs) known[id] = true;
  for (const auto& constant : graph_.constants) known[constant.first] = true;
  for (const Node& n : graph_.nodes)
    for (ValueId r : n.results) known[r] = true;
  return known;
}

/// A view of a tensor is made where it is first read, which may have been in another way: it is made here again.
void Body::make_views_again(std::vector<Node>& nodes, std::vector<ValueId>& results, std::vector<bool> defined) {
  std::vector<Node> made;
  std::map<ValueId, ValueId> again;
  const std::function<void(ValueId&)> find = [&](ValueId& id) {
    if (id < defined.size() && defined[id]) return;
    if (const auto known = again.find(id); known != again.end()) {
      id = known->second;
      return;
    }
    const auto view = views_.find(id);
    check(view != views_.end(),
          "a tensor that was made in one case of a cond() is used outside of it: return it as a "
          "result of each case");
    Node copy = view->second;
    graph::for_each_use(copy, find);
    copy.results = {graph_.add_value(graph::ValueMeta(graph_.meta(id)))};
    again[id] = copy.results[0];
    id = copy.results[0];
    made.push_back(std::move(copy));
  };
  for (Node& n : nodes) {
    graph::for_each_use(n, find);
    defined.resize(std::max(defined.size(), graph_.values.size()), false);
    for (ValueId r : n.results) defined[r] = true;
    made.push_back(std::move(n));
  }
  for (ValueId& id : results) find(id);
  nodes = std::move(made);
}

std::vector<ValueId> Body::choose(ValueId selector, const std::vector<std::function<std::vector<ValueId>()>>& ways) {
  std::vector<Way> written;
  for (const auto& write : ways) written.push_back(cut(write));
  std::vector<graph::ValueMeta> metas;
  for (ValueId id : written[0].results) metas.push_back(graph_.meta(id));
  for (const Way& way : written) {
    bool same = way.results.size() == metas.size();
    for (size_t r = 0; same && r < metas.size(); ++r) same = graph_.meta(way.results[r]) == metas[r];
    check_kind(
        same, ErrorKind::TypeError,
        "the cases of a cond() in SubGraph \"{}\" return tensors of different dtypes or shapes: each has to return "
        "the same number of tensors of the same kinds",
        graph_.name);
  }
  // What the ways read of the graph around them are operands of the switch, the same for all of them.
  const std::vector<bool> known = defined();
  std::map<ValueId, Tensor> constants(graph_.constants.begin(), graph_.constants.end());
  std::vector<ValueId> operands;
  const auto note = [&](ValueId id) {
    if (id < known.size() && known[id] && !constants.count(id) &&
        std::find(operands.begin(), operands.end(), id) == operands.end())
      operands.push_back(id);
  };
  for (const Way& way : written) {
    for (const Node& n : way.nodes) graph::for_each_use(n, note);
    std::for_each(way.results.begin(), way.results.end(), note);
  }
  Node choice;
  choice.kind = graph::NodeKind::Switch;
  choice.args.push_back(graph::Use{selector});
  for (ValueId id : operands) choice.args.push_back(graph::Use{id});
  for (Way& way : written) {
    auto body = std::make_shared<Graph>();
    body->name = "way " + std::to_string(choice.bodies.size());
    body->origins = graph_.origins;
    std::map<ValueId, ValueId> inner;
    for (ValueId id : operands) inner[id] = body->add_input(graph_.meta(id));
    const auto rename = [&](ValueId& id) {
      auto [at, is_new] = inner.try_emplace(id, graph::kNoId);
      if (is_new) at->second = body->add_constant(constants.at(id));
      id = at->second;
    };
    for (Node& n : way.nodes) {
      graph::for_each_use(n, rename);
      for (ValueId& r : n.results) {
        const ValueId made = body->add_value(graph_.meta(r));
        inner[r] = made;
        r = made;
      }
      body->nodes.push_back(std::move(n));
    }
    for (ValueId& id : way.results) rename(id);
    body->outputs = std::move(way.results);
    choice.bodies.push_back(std::move(body));
  }
  return emit(std::move(choice), metas);
}

void Body::finish() {
  std::vector<bool> known(graph_.values.size(), false);
  for (ValueId id : graph_.inputs) known[id] = true;
  for (const auto& constant : graph_.constants) known[constant.first] = true;
  make_views_again(graph_.nodes, graph_.outputs, std::move(known));
}

}  // namespace terra::recursive
