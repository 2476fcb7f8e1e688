// The tape's side of an op call: what TapeHooks point to.
#include <cctype>
#include <string>

#include "engine/autograd/ambiguous_writes.h"
#include "engine/autograd/autograd.h"
#include "engine/autograd/op_node.h"
#include "engine/autograd/slices_node.h"
#include "engine/errors/errors.h"
#include "engine/ops/call.h"
#include "engine/ops/emitter.h"
#include "engine/ops/kept_text.h"
#include "engine/tensor/epoch.h"

namespace terra::autograd {
namespace {

void record(const Op& op, std::span<const Arg> args, std::span<Tensor> results) {
  Ref<OpNode> node(new OpNode(op, args));
  node->save_results(results);
  const Ref<Node> base(node.get());
  for (size_t i = 0; i < results.size(); ++i)
    if (is_inexact(results[i].dtype())) set_history(results[i], base, static_cast<uint32_t>(i));
}

/// The operands of a call as PyTorch's node of it has them.
std::vector<Edge> operands_of(const Op& op, std::span<const Arg> args) {
  std::vector<Edge> operands;
  const auto add = [&operands](const Tensor& t) {
    const bool leads = t.defined() && t.requires_grad() && is_inexact(t.dtype());
    operands.push_back(leads ? gradient_edge(t) : Edge{});
  };
  size_t nowhere = 0;
  for (size_t p = 0; p < args.size(); ++p) {
    const Sight sight = sight_of(op, p, args[p]);
    if (sight == Sight::Nowhere) ++nowhere;
    if (sight != Sight::Edge) continue;
    if (args[p].is_tensor()) add(args[p].tensor());
    if (args[p].kind() == Arg::Kind::TensorList)
      for (const Tensor& t : args[p].tensors()) add(t);
  }
  operands.resize(operands.size() + nowhere);
  return operands;
}

/// Names of what PyTorch does to a result last, where the composite is none of its own nodes.
bool is_view_of_result(std::string_view name) {
  return name.starts_with("UnsafeView") || name.starts_with("View") || name.starts_with("Squeeze");
}

/// An empty name: that of the node before. What was written through a view keeps the name of its place in the base.
void name_last(const Tensor& result, std::string_view name, const Op* op, std::span<const Arg> args) {
  if (const Meta* meta = find_meta(result); meta && meta->view && meta->history_version != result->version()) return;
  const Edge last = history(result);
  if (!last.node) return;
  if (!name.empty()) {
    last.node->rename(name);
    if (op && !is_view_of_result(name)) last.node->stand_for(operands_of(*op, args));
    return;
  }
  if (const Node* before = last.node->edges.back().node.get(); before && before->name() != "AccumulateGrad")
    last.node->rename(kept_text(before->name()));
}

/// "Select" for a view that select made.
std::string maker_of(const Edge& made, const ViewStep& step) {
  if (made.node) return operation_of(*made.node);
  std::string name(step.op->name);
  name[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(name[0])));
  return name;
}

/// A write to a view changes the history of its base, unless that is ambiguous.
void check_origin(const Tensor& view, const Meta& meta) {
  if (!meta.view || meta.view->origin == ViewOrigin::Plain) return;
  const ViewStep& step = *meta.view;
  const bool ambiguous = is_ambiguous(step.origin);
  const Edge maker = ambiguous ? meta.history : history(view);
  const bool named = maker.node.get() != nullptr;
  const AmbiguousOrigin mode = names_of(step.origin);
  const std::string made = fmt::format("created in {}", mode.made_in);
  fail(ErrorKind::RuntimeError, "{} and is being modified inplace{}. {}",
       named ? fmt::format("Output {} of {} is a view{}", step.number, maker_of(maker, step),
                           ambiguous ? " of a view which was " + made : "")
             : "A view was " + made,
       named && !ambiguous ? "" : fmt::format(" {}", mode.written_in),
       ambiguous
           ? advice_on(step.origin)
           : "This view is the output of a function that returns multiple views. Such functions do not allow the "
             "output views to be modified inplace. You should replace the inplace operation by an out-of-place one.");
}

void check_write(const Tensor& target, bool records) {
  const Meta* meta = find_meta(target);
  if (meta && meta->base.defined()) {
    const bool of_leaf = meta->base.requires_grad() && is_leaf(meta->base);
    if (records || meta->base.requires_grad() || target.requires_grad()) check_origin(target, *meta);
    check(!of_leaf, "a view of a leaf Variable that requires grad is being used in an in-place operation.");
    return;
  }
  check(!target.requires_grad() || !is_leaf(target),
        "a leaf Variable that requires grad is being used in an in-place operation.");
}

Tensor before_write(const Tensor& target) {
  static const Op* clone = find_op("clone");
  const Edge edge = target.requires_grad() ? gradient_edge(target) : Edge{};
  GradMode off(false);
  const Tensor copy = (*clone)(target);
  if (edge.node) set_history(copy, edge.node, edge.index);
  return copy;
}

void record_write(const Op& op, std::span<const Arg> args, const Tensor& target, const std::function<void()>& write) {
  std::vector<Arg> operands(args.begin(), args.end());
  Tensor old_value;
  if (op.saved & saves({0})) {
    old_value = before_write(target);
    operands[0] = Arg(old_value);
  }
  Ref<OpNode> node(new OpNode(op, operands));
  Meta& meta = meta_of(target);
  if (!meta.base.defined()) {
    write();
    const Tensor made[] = {target};
    node->save_results(made);
    set_history(target, Ref<Node>(node.get()), 0);
    return;
  }
  // A view was written: the base becomes "the old base with this slice replaced", and every view of it, this one
  // included, derives its history anew when next asked.
  const Tensor base = meta.base;
  const Edge before = gradient_edge(base);
  write();
  const Tensor made[] = {target};
  node->save_results(made);
  Ref<Node> slices(new SlicesNode(before, Ref<Node>(node.get()), meta.view, base));
  set_history(base, slices, 0);
  set_wants_grad(*target, true);
}

void record_view(const Op& op, std::span<const Arg> args, const Tensor& base, const Tensor& view) {
  if (view->is_inference()) return;  // nobody may write to it but where nothing is recorded
  const Meta* from = find_meta(base);
  const bool nested = from && from->base.defined();
  // Places in memory are places in the base only if that fills its memory from the start: the view is none to the tape.
  const Tensor& root = nested ? from->base : base;
  if (op.name == "as_strided" && (root->offset != 0 || !root.is_contiguous())) return;
  Meta& meta = meta_of(view);
  meta.base = root;
  ViewOrigin origin = inference_mode() ? ViewOrigin::Inference
                      : grad_enabled() ? ViewOrigin::Plain
                                       : ViewOrigin::WithoutGrad;
  if (nested && from->view->origin != ViewOrigin::Plain) origin = from->view->origin;
  meta.view = std::make_shared<ViewStep>(ViewStep{&op, OwnedArgs(args, 0), nested ? from->view : nullptr, origin});
  meta.history_version = view->version();
  meta.is_view = true;
}

void forget_inner_base(const Tensor& result, std::span<const Arg> args) {
  Meta& meta = *find_meta(result);
  const auto has_same_base = [&meta](const Tensor& operand) {
    const Meta* from = find_meta(operand);
    return (from && from->base.defined() ? from->base : operand).get() == meta.base.get();
  };
  for (const Arg& a : args) {
    if (a.is_tensor() && has_same_base(a.tensor())) return;
    if (a.kind() == Arg::Kind::TensorList)
      for (const Tensor& t : a.tensors())
        if (t.defined() && has_same_base(t)) return;
  }
  history(result);  // up to date from here on
  meta.base = {};
  meta.view = nullptr;
  meta.is_view = false;
}

void one_of_many(const Tensor& view, uint32_t number) {
  Meta* const meta = find_meta(view);
  if (!meta || !meta->view || is_ambiguous(meta->view->origin)) return;
  const ViewStep& step = *meta->view;
  meta->view = std::make_shared<ViewStep>(
      ViewStep{step.op, OwnedArgs(step.args.args(), 0), step.previous, ViewOrigin::OneOfMany, number});
}

}  // namespace

void start() {
  tape_hooks() = {record,      check_write, before_write,      record_write,
                  record_view, name_last,   forget_inner_base, one_of_many};
}

}  // namespace terra::autograd
