#include "engine/autograd/op_node.h"

#include <algorithm>
#include <array>
#include <utility>

#include "engine/autograd/autograd.h"
#include "engine/autograd/spent_node.h"
#include "engine/errors/errors.h"
#include "engine/memory/inline_array.h"
#include "engine/ops/call.h"
#include "engine/ops/devices.h"
#include "engine/ops/rules.h"
#include "engine/tensor/sparse.h"

namespace terra::autograd {
namespace {

/// Sums what broadcasting repeated and undoes promotion.
Tensor fit(Tensor g, const TensorMeta& meta) {
  static const Op* sum_to_size = find_op("sum_to_size");
  static const Op* to_dtype = find_op("to_dtype");
  if (!g.defined()) return g;
  if (g.sizes() != meta.sizes) g = (*sum_to_size)(g, meta.sizes);
  if (g.dtype() != meta.dtype) g = (*to_dtype)(g, meta.dtype);
  return g;
}

/// The history of a gradient that no value of the operand changes but for kinks: a function of slope 0.
class FlatNode final : public Node {
 public:
  FlatNode(const Edge& operand, TensorMeta meta, std::string name) : meta_(std::move(meta)), name_(std::move(name)) {
    edges.push_back(operand);
  }
  std::vector<Tensor> apply(const std::vector<Tensor>&) override {
    static const Op* full = find_op("full");
    const DeviceScope there(meta_.device);
    return {(*full)(meta_.sizes, 0.0, meta_.dtype)};
  }
  std::string name() const override { return name_; }
  bool calls_program() const override { return false; }

 private:
  const TensorMeta meta_;
  const std::string name_;
};

}  // namespace

/// Unpacks saved tensors for one application of the rule, each when it is first asked for.
struct OpNode::Loader final : Backward::Source {
  explicit Loader(OpNode& node) : node(node), args(node.params()), results(node.saved_results_.size()) {
    std::copy_n(node.constants_.args().begin(), node.params(), args.data());
  }

  void load_param(int p) override {
    if (std::exchange(loaded[static_cast<size_t>(p)], true)) return;
    tensors.resize(node.edges.size());
    const size_t begin = node.first_meta_[static_cast<size_t>(p)], end = node.first_meta_[static_cast<size_t>(p) + 1];
    for (size_t i = begin; i < end && !node.saved_.empty(); ++i)
      if (node.saved_[i].defined()) tensors[i] = node.saved_[i].unpack(Ref<Node>(&node));
    if (node.op_.sig().params[static_cast<size_t>(p)].type == ParamType::TensorList)
      args[static_cast<size_t>(p)] = Arg(std::span<const Tensor>(tensors.data() + begin, end - begin));
    else if (end > begin)
      args[static_cast<size_t>(p)] = Arg(tensors[begin]);
  }
  void load_result(int i) override {
    const SavedTensor& saved = node.saved_results_[static_cast<size_t>(i)];
    if (saved.defined() && !results[static_cast<size_t>(i)].defined())
      results[static_cast<size_t>(i)] = saved.unpack(Ref<Node>(&node));
  }

  OpNode& node;
  InlineArray<Arg, kMaxParams> args;
  std::vector<Tensor> tensors, results;
  bool loaded[kMaxParams] = {};
};

namespace {

/// Throws for an inference tensor that a gradient is going to need.
void check_may_be_saved(const Op& op, std::span<const Arg> args) {
  const auto requires_grad = [&](size_t p) { return args[p].is_tensor() && args[p].impl()->requires_grad(); };
  for (size_t p = 0; p < args.size(); ++p) {
    if (!(op.saved >> p & 1) || !args[p].is_tensor() || !args[p].impl()->is_inference()) continue;
    bool needed = !op.saved_for_others;
    for (size_t other = 0; other < args.size() && !needed; ++other)
      needed = other != p && (op.saved >> other & 1) && requires_grad(other);
    check(!needed || args[p].impl()->wrapped_number,
          "Inference tensors cannot be saved for backward. Please do not use Tensors created in inference mode in "
          "computation tracked by autograd. To work around this, you can make a clone to get a normal tensor and use "
          "it in autograd, or use `torch.no_grad()` instead of `torch.inference_mode()`.");
  }
}

}  // namespace

OpNode::OpNode(const Op& op, std::span<const Arg> args) : op_(op), name_(op.node_name(args)), constants_(args, 0) {
  size_t tensors = 0;
  for (const Arg& a : args) {
    if (a.is_tensor()) ++tensors;
    if (a.kind() == Arg::Kind::TensorList) tensors += a.tensors().size();
  }
  edges.reserve(tensors);
  metas_.reserve(tensors + 1);  // and the result
  const auto visit = [&](const Tensor& t, bool save) {
    // What stands for a Python number in a graph is a constant of the call, which no rule declares.
    if (t.defined() && (save || t->wrapped_number)) {
      if (saved_.empty()) saved_.resize(tensors);
      saved_[edges.size()] = SavedTensor(t, false);
    }
    if (!t.defined()) {
      metas_.emplace_back();
      edges.emplace_back();
      return;
    }
    metas_.push_back({t.dtype(), t.sizes(), t->wrapped_number, t.device()});
    edges.push_back(t.requires_grad() && is_inexact(t.dtype()) ? gradient_edge(t) : Edge{});
  };
  check_may_be_saved(op, args);
  for (size_t p = 0; p < args.size(); ++p) {
    first_meta_[p] = static_cast<uint16_t>(edges.size());
    const bool save = op.saved >> p & 1;
    if (args[p].is_tensor()) visit(args[p].tensor(), save);
    if (args[p].kind() == Arg::Kind::TensorList)
      for (const Tensor& t : args[p].tensors()) visit(t, save);
  }
  first_meta_[args.size()] = static_cast<uint16_t>(edges.size());
}

void OpNode::save_results(std::span<const Tensor> made) {
  constexpr size_t kMaxSavedResults = 32 - kMaxParams;  // the bits of `saved` that are left for them
  results = static_cast<uint32_t>(made.size());
  for (size_t i = 0; i < made.size(); ++i) {
    metas_.push_back({made[i].dtype(), made[i].sizes(), false, made[i].device()});
    if (i >= kMaxSavedResults || !(op_.saved & saves_result(static_cast<int>(i)))) continue;
    if (saved_results_.empty()) saved_results_.resize(made.size());
    saved_results_[i] = SavedTensor(made[i], true, static_cast<uint32_t>(i));
  }
}

void OpNode::select(const std::vector<bool>* wanted) {
  left_out_ = 0;
  for (size_t p = 0; wanted && p < params(); ++p) {
    const auto begin = wanted->begin() + first_meta_[p], end = wanted->begin() + first_meta_[p + 1];
    if (begin != end && std::find(begin, end, true) == end) left_out_ |= 1u << p;
  }
}

std::optional<WeightRows> OpNode::put_off_weight(const Tensor& grad) {
  static const Op *linear = find_op("linear"), *mm = find_op("mm"), *reshape = find_op("reshape");
  if ((&op_ != linear && &op_ != mm) || saved_.empty() || left_out_ >> 1 & 1) return {};
  const TensorMeta& weight = metas_[1];
  const auto plain = [&](const Tensor& t) {
    return t.defined() && t.dtype() == weight.dtype && !t->is_symbolic() && !is_foreign(*t) && !t.device().is_meta();
  };
  if (weight.sizes.size() != 2 || (weight.dtype != DType::F32 && weight.dtype != DType::F64)) return {};
  if (!plain(grad) || !plain(saved_[0].unchecked())) return {};
  const bool transposed = &op_ == linear;
  const int64_t outputs = weight.sizes[transposed ? 0 : 1], inputs = weight.sizes[transposed ? 1 : 0];
  const int64_t rows = outputs ? grad.numel() / outputs : 0;
  if (rows == 0 || 2 * rows * (outputs + inputs) > outputs * inputs) return {};
  const Tensor operand = saved_[0].unpack(Ref<Node>(this));
  left_out_ |= 1u << 1;
  const Tensor g = (*reshape)(grad, Dims{rows, outputs}), x = (*reshape)(operand, Dims{rows, inputs});
  return transposed ? WeightRows{g, x} : WeightRows{x, g};
}

bool OpNode::calls_program() const {
  const auto is_packed = [](const SavedTensor& s) { return s.is_packed(); };
  return std::any_of(saved_.begin(), saved_.end(), is_packed) ||
         std::any_of(saved_results_.begin(), saved_results_.end(), is_packed);
}

std::vector<Tensor> OpNode::apply(const std::vector<Tensor>& grads) {
  if (released_) fail_spent();
  Loader loader(*this);
  const uint32_t left_out = std::exchange(left_out_, 0);
  uint32_t needed = 0;
  for (size_t p = 0; p < params(); ++p)
    for (size_t i = first_meta_[p]; i < first_meta_[p + 1]; ++i)
      if (edges[i].node && !(left_out >> p & 1)) needed |= 1u << p;
  Backward::Call call;
  call.op = &op_;
  call.source = &loader;
  call.args = {loader.args.data(), params()};
  call.results = loader.results;
  call.metas = std::span(metas_).first(edges.size());
  call.first_meta = std::span(first_meta_).first(params() + 1);
  call.result_metas = std::span(metas_).subspan(edges.size());
  call.grads = grads;
  call.needed = needed;
  std::vector<Tensor> gradients(edges.size());
  Backward backward(call, gradients);
  op_.gradient(backward);
  for (size_t i = 0; i < edges.size(); ++i)
    gradients[i] = edges[i].node ? fit(std::move(gradients[i]), metas_[i]) : Tensor();
  if (op_.is(kPiecewise) && grad_enabled()) depend_on_operand(gradients);
  return gradients;
}

void OpNode::depend_on_operand(std::vector<Tensor>& gradients) const {
  static const Op* detach = find_op("detach");
  if (!edges[0].node) return;
  for (Tensor& g : gradients) {
    if (!g.defined() || g.requires_grad()) continue;
    g = (*detach)(g);  // the rule may have handed on a tensor of somebody else's
    set_history(g, Ref<Node>(new FlatNode(edges[0], metas_[0], name().substr(0, name().size() - 1) + "Backward0")), 0);
  }
}

/// Indices and masks have no edge.
Sight sight_of(const Op& op, size_t param, const Arg& arg) {
  const ParamType type = op.sig().params[param].type;
  if (type == ParamType::TensorList) return Sight::Edge;
  if (type != ParamType::Tensor && type != ParamType::TensorOrNumber) return Sight::None;
  const bool promoted = op.promotion != Promotion::None && (op.promoted >> param & 1);
  if (arg.is_tensor() && !arg.impl()->wrapped_number)
    return is_inexact(arg.impl()->dtype) || promoted ? Sight::Edge : Sight::None;
  if (arg.is_tensor() || arg.kind() == Arg::Kind::Scalar)
    return op.seen_numbers >> param & 1 ? Sight::Nowhere : Sight::None;
  return op.seen_absent >> param & 1 ? Sight::Nowhere : Sight::None;
}

std::vector<int> OpNode::seen_edges() const {
  std::vector<int> seen;
  size_t nowhere = 0;  // behind the others: 2 * x is x * 2
  for (size_t p = 0; p < params(); ++p) {
    const size_t begin = first_meta_[p], end = first_meta_[p + 1];
    for (size_t i = begin; i < end; ++i) {
      const TensorMeta& meta = metas_[i];
      const bool promoted = op_.promotion != Promotion::None && (op_.promoted >> p & 1);
      if (!meta.wrapped && (is_inexact(meta.dtype) || promoted)) seen.push_back(static_cast<int>(i));
      if (meta.wrapped) nowhere += op_.seen_numbers >> p & 1;
    }
    if (begin == end) nowhere += sight_of(op_, p, constants_.args()[p]) == Sight::Nowhere;
  }
  seen.insert(seen.end(), nowhere, -1);
  return seen;
}

const SavedTensor* OpNode::saved(std::string_view name) const {
  const auto kept = [](const SavedTensor& s) { return s.defined() ? &s : nullptr; };
  for (size_t p = 0; p < params() && !saved_.empty(); ++p)
    if (op_.sig().params[p].name == name && first_meta_[p] < first_meta_[p + 1]) return kept(saved_[first_meta_[p]]);
  for (size_t i = 0; i < saved_results_.size(); ++i)
    if (name == (i == 0 ? "result" : fmt::format("result{}", i))) return kept(saved_results_[i]);
  return nullptr;
}

const TensorMeta* OpNode::whole_meta() const {
  static const std::array parts{find_op("select"), find_op("narrow"), find_op("slice"), find_op("diagonal")};
  return std::find(parts.begin(), parts.end(), &op_) != parts.end() ? &metas_[0] : nullptr;
}

Tensor OpNode::place_in(const Tensor& whole) const {
  std::vector<Arg> args(constants_.args().begin(), constants_.args().end());
  args[0] = Arg(whole);
  std::vector<Tensor> results;
  call(op_, args, results);
  return results[0];
}

std::string OpNode::name() const {
  if (!name_.empty()) return std::string(name_);
  // "max_pool2d" -> "MaxPool2DBackward0": PyTorch's spelling.
  std::string text;
  bool upper = true;
  for (char c : op_.name) {
    if (c == '_') {
      upper = true;
      continue;
    }
    text += upper ? static_cast<char>(std::toupper(static_cast<unsigned char>(c))) : c;
    upper = std::isdigit(static_cast<unsigned char>(c));
  }
  return text + "Backward0";
}

void OpNode::release_saved() {
  bool any = false;
  for (SavedTensor& s : saved_) any |= s.defined();
  for (SavedTensor& s : saved_results_) any |= s.defined();
  if (!any) return;  // a node that saved nothing can be passed again, as in PyTorch
  released_ = true;
  saved_.assign(saved_.size(), SavedTensor());
  saved_results_.assign(saved_results_.size(), SavedTensor());
}

void OpNode::each_saved(const std::function<void(const SavedTensor&)>& visit) const {
  for (const auto* list : {&saved_, &saved_results_})
    for (const SavedTensor& s : *list)
      if (s.unchecked().defined()) visit(s);
}

}  // namespace terra::autograd
