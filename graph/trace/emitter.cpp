#include "graph/trace/emitter.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "engine/autograd/pass.h"
#include "engine/errors/errors.h"
#include "engine/ops/devices.h"
#include "engine/ops/inference.h"
#include "engine/ops/layout.h"
#include "engine/ops/overlap.h"
#include "engine/random/generator.h"
#include "engine/tensor/epoch.h"

namespace terra::graph {
namespace {

TensorSymbol& symbol(const TensorImpl& t) { return static_cast<TensorSymbol&>(*t.symbol); }

/// as_strided shows the memory of its operand, in which the operand itself may lie anyhow.
bool views_memory(const Op& op) { return op.name == "as_strided"; }

void note_row_major(SymbolicStorage& storage, const TensorImpl& whole) {
  if (!whole.is_contiguous()) return;
  storage.first = whole.offset;
  storage.elements = whole.numel;
}

bool is_identity(const TensorImpl& base, const ResultMeta& m) {
  return base.sizes == m.sizes && base.strides == m.strides && base.offset == m.offset;
}

bool lies_by_rows(const ResultMeta& m) { return m.strides.empty() || m.strides == contiguous_strides(m.sizes); }

/// The dimensions of a tensor of these strides from outer to inner: how a value has to be permuted to have in row-major
/// order what lies in memory.
IntList order_in_memory(const Dims& strides) {
  const Dims order = from_outer_to_inner(strides);
  return {order.begin(), order.end()};
}

IntList inverse(const IntList& dims) {
  IntList back(dims.size());
  for (size_t i = 0; i < dims.size(); ++i) back[static_cast<size_t>(dims[i])] = static_cast<int64_t>(i);
  return back;
}

/// Its result has the elements of its first operand.
bool only_copies(const Op& op) { return op.name == "clone" || op.name == "clone_strided"; }

/// How a tensor that is all of its memory, in another order of dimensions, is derived from it; nothing for others.
std::optional<IntList> permutation_of_memory(const TensorImpl& t) {
  const SymbolicView* view = t.is_symbolic() ? symbol(t).view.get() : nullptr;
  if (!view || view->parent || view->op->name != "permute") return std::nullopt;
  IntList dims = std::get<IntList>(view->attributes[0]);
  for (int64_t& d : dims) d = wrap_dim(d, dims.size());
  return dims;
}

/// A real tensor of the same dtype and sizes as a symbolic one, to find out what a host op makes of it.
Tensor stand_in(const TensorImpl& t) {
  static const Op* full = find_op("full");
  return (*full)(t.sizes, 1.0, t.dtype);
}

/// A view of a constant may be one of any real tensor.
bool may_share_memory(const TensorImpl& symbolic, const TensorImpl& other) {
  const auto& storage = symbol(symbolic).storage;
  if (!storage) return false;
  return other.is_symbolic() ? symbol(other).storage == storage : storage->constant >= 0;
}
const bool overlap_is_known = [] {
  symbolic_overlap() = may_share_memory;
  return true;
}();

}  // namespace

TensorSymbol::TensorSymbol(std::shared_ptr<SymbolicStorage> s, std::shared_ptr<const SymbolicView> v)
    : storage(std::move(s)), view(std::move(v)) {
  ++storage->views;
}

TensorSymbol::~TensorSymbol() {
  if (storage) --storage->views;
}

std::unique_ptr<Symbol> TensorSymbol::clone() const {
  if (!storage) return std::make_unique<TensorSymbol>(scalar);
  auto copy = std::make_unique<TensorSymbol>(storage, view);
  copy->value = value;
  copy->value_version = value_version;
  copy->own_version = own_version;
  return copy;
}

const TensorSymbol* GraphEmitter::symbol_of(const TensorImpl& tensor) {
  return static_cast<const TensorSymbol*>(tensor.symbol.get());
}

ValueId GraphEmitter::scalar_of(const TensorImpl& tensor) {
  const TensorSymbol* s = symbol_of(tensor);
  return s ? s->scalar : kNoId;
}

ValueId GraphEmitter::memory_of(const TensorImpl& tensor) {
  if (!permutation_of_memory(tensor) || symbol(tensor).storage->input >= 0) return kNoId;
  return symbol(tensor).storage->value;
}

Node& GraphEmitter::append(NodeKind kind) {
  Node& n = graph_.nodes.emplace_back();
  n.kind = kind;
  n.origin = origin_;
  return n;
}

void GraphEmitter::set_origin(const std::string& file, int line) {
  if (line <= 0) {
    origin_ = -1;
  } else if (origin_ < 0 || graph_.origins[origin_].line != line || graph_.origins[origin_].file != file) {
    graph_.origins.push_back({file, line});
    origin_ = static_cast<int32_t>(graph_.origins.size()) - 1;
  }
}

std::vector<Generator*> GraphEmitter::generators() const {
  std::vector<Generator*> out;
  for (const auto& [generator, chain] : chains_) out.push_back(generator);
  return out;
}

Tensor GraphEmitter::whole(ValueId value, const Dims& strides, int64_t offset, int32_t input) {
  auto storage = std::make_shared<SymbolicStorage>();
  storage->value = value;
  storage->input = input;
  const ValueMeta& m = graph_.meta(value);
  Tensor t = Tensor::symbolic({m.dtype, m.sizes, false, m.device},
                              std::make_unique<TensorSymbol>(std::move(storage), nullptr));
  lay_out(*t, strides, offset);
  note_row_major(*symbol(*t).storage, *t);
  return t;
}

Tensor GraphEmitter::strided(const Tensor& base, const TensorMeta& meta, const Dims& strides, int64_t offset,
                             int64_t relative) {
  static const Op* as_strided = find_op("as_strided");
  ensure(as_strided != nullptr, "the op 'as_strided' is registered");
  auto view = std::make_shared<SymbolicView>();
  view->op = as_strided;
  view->attributes = {IntList(meta.sizes.begin(), meta.sizes.end()), IntList(strides.begin(), strides.end()),
                      Scalar(relative)};
  view->meta = ValueMeta::tensor(meta.dtype, meta.sizes, meta.device);
  Tensor t = Tensor::symbolic(meta, std::make_unique<TensorSymbol>(symbol(*base).storage, std::move(view)));
  lay_out(*t, strides, offset);
  return t;
}

Tensor GraphEmitter::uncounted(const Tensor& tensor) {
  const TensorImpl& t = *tensor;
  if (!t.is_symbolic()) return Tensor::view_of(Storage::apart(t.storage), t.dtype, t.sizes, t.strides, t.offset);
  Tensor data = tensor.alias();
  symbol(*data).own_version = std::make_shared<OwnVersion>();
  return data;
}

Tensor GraphEmitter::number(ValueId scalar) {
  const DType dtype = Scalar::dtype_of(graph_.meta(scalar).scalar);
  return Tensor::symbolic({dtype, {}, true, {}}, std::make_unique<TensorSymbol>(scalar));
}

ValueId GraphEmitter::constant(const TensorImpl& tensor) {
  auto [it, fresh] = constants_.try_emplace(&tensor, kNoId);
  if (fresh) {
    it->second = graph_.add_constant(Tensor(Ref<TensorImpl>(const_cast<TensorImpl*>(&tensor))));
    constant_index_[it->second] = static_cast<int32_t>(graph_.constants.size()) - 1;
  }
  return it->second;
}

ValueId GraphEmitter::derive(const SymbolicStorage& storage, const std::shared_ptr<const SymbolicView>& view) {
  if (!view) return storage.value;
  const ValueId parent = derive(storage, view->parent);
  Node& n = append(NodeKind::Op);
  n.op = view->op;
  n.args.push_back(Use{parent});
  n.args.insert(n.args.end(), view->attributes.begin(), view->attributes.end());
  const ValueId result = graph_.add_value(view->meta);
  n.results = {result};
  return result;
}

ValueId GraphEmitter::value_of(const TensorImpl& tensor) {
  if (!tensor.is_symbolic()) return constant(tensor);
  TensorSymbol& s = symbol(tensor);
  if (s.scalar != kNoId) {
    if (graph_.meta(s.scalar).kind != ValueKind::Scalar)
      throw InternalError("arithmetic on a record: the gradients of one that is used twice can't be added");
    if (s.value == kNoId) {
      s.value = graph_.add_value(ValueMeta::tensor(tensor.dtype, {}, {}));
      Node& n = append(NodeKind::AsTensor);
      n.args = {Use{s.scalar}};
      n.results = {s.value};
    }
    return s.value;
  }
  if (!s.view) return s.storage->value;
  if (s.value == kNoId || s.value_version != s.storage->version) {
    s.value = derive(*s.storage, s.view);
    s.value_version = s.storage->version;
  }
  return s.value;
}

NodeArg GraphEmitter::node_arg(ParamType type, const Arg& arg) {
  switch (arg.kind()) {
    case Arg::Kind::None: return type == ParamType::Generator ? NodeArg(static_cast<Generator*>(nullptr)) : NodeArg();
    case Arg::Kind::Tensor: {
      const ValueId scalar = scalar_of(*arg.impl());
      const bool attribute = type != ParamType::Tensor && type != ParamType::TensorOrNumber;
      if (attribute && scalar == kNoId)
        throw InternalError("a tensor stands where an op takes a number that is known when the graph is built");
      return Use{attribute ? scalar : value_of(*arg.impl())};
    }
    case Arg::Kind::TensorList: {
      UseList list;
      for (const Tensor& t : arg.tensors()) list.push_back(t.defined() ? value_of(*t) : kNoId);
      return list;
    }
    case Arg::Kind::Scalar: return arg.scalar();
    case Arg::Kind::IntList: return IntList(arg.ints().begin(), arg.ints().end());
    case Arg::Kind::DType: return arg.dtype();
    case Arg::Kind::String: return std::string(arg.text());
    case Arg::Kind::Generator: return arg.generator();
  }
  return {};
}

std::vector<NodeArg> GraphEmitter::node_args(const Op& op, std::span<const Arg> args) {
  std::vector<NodeArg> out;
  out.reserve(args.size());
  for (size_t i = 0; i < args.size(); ++i) out.push_back(node_arg(op.sig().params[i].type, args[i]));
  return out;
}

uint32_t GraphEmitter::chain_of(const Op& op, std::span<const Arg> args) {
  if (!op.is(kRandom)) return 0;
  Generator* generator = nullptr;
  for (const Arg& a : args)
    if (a.kind() == Arg::Kind::Generator) generator = a.generator();
  auto [it, fresh] = chains_.try_emplace(generator, static_cast<uint32_t>(tickets_.size()));
  if (fresh) tickets_.push_back(0);
  return it->second;
}

/// Host ops have no shape rule: run it on stand-ins where shapes don't depend on elements.
std::vector<ResultMeta> GraphEmitter::host_metas(const Op& op, std::span<const Arg> args) {
  std::vector<ResultMeta> metas;
  const Device device = device_of(op, args);
  if (op.shape) {
    Inference inference(op, args, DType::F32, metas);
    op.shape(inference);
    for (ResultMeta& m : metas) m.device = device;
    return metas;
  }
  const DeviceScope here{Device()};
  std::vector<Arg> real(args.begin(), args.end());
  std::vector<Tensor> kept;
  kept.reserve(args.size());
  Generator* generator = nullptr;
  for (Arg& a : real) {
    if (a.kind() == Arg::Kind::Generator) generator = a.generator();
    if (a.kind() != Arg::Kind::Tensor && a.kind() != Arg::Kind::TensorList) continue;
    if (!op.is(kRandom) || a.kind() == Arg::Kind::TensorList)
      throw InternalError(fmt::format("the sizes of the result of {}() depend on element values", op.name));
    EmitterScope eager(default_emitter());
    a = Arg(kept.emplace_back(stand_in(*a.impl())));
  }
  std::vector<Tensor> made;
  if (op.is(kRandom)) {
    Generator& g = generator ? *generator : default_generator();
    const RandomState before = g.state();
    op.host(real, made);
    g.set_state(before);
  } else {
    op.host(real, made);
  }
  for (const Tensor& t : made) metas.push_back({{t.dtype(), t.sizes(), false, device}, t.strides(), 0});
  return metas;
}

/// The bounds that eager execution checks: a graph has no more of a memory than the value that it knows of it.
std::shared_ptr<const SymbolicView> GraphEmitter::view_of_memory(const SymbolicStorage& storage,
                                                                 const ResultMeta& meta) const {
  const int64_t first = meta.offset - storage.first;
  int64_t last = first;
  bool fits = storage.elements >= 0 && first >= 0, is_empty = false;
  for (size_t d = 0; d < meta.sizes.size(); ++d) {
    int64_t reach = 0;
    is_empty = is_empty || meta.sizes[d] == 0;
    fits = fits && !__builtin_mul_overflow(meta.sizes[d] - 1, meta.strides[d], &reach) &&
           !__builtin_add_overflow(last, reach, &last);
  }
  if (!is_empty && (!fits || last >= storage.elements))
    throw InternalError("as_strided() shows memory of which the graph knows too little");
  auto view = std::make_shared<SymbolicView>();
  static const Op* as_strided = find_op("as_strided");
  view->op = as_strided;
  view->attributes = {IntList(meta.sizes.begin(), meta.sizes.end()), IntList(meta.strides.begin(), meta.strides.end()),
                      Scalar(is_empty ? int64_t{0} : first)};
  view->meta = ValueMeta::tensor(meta.dtype, meta.sizes, meta.device);
  return view;
}

void GraphEmitter::emit_view(const Op& op, std::span<const Arg> args, const ResultMeta& meta,
                             std::vector<Tensor>& results) {
  const TensorImpl& base = *args[0].impl();
  std::shared_ptr<SymbolicStorage> storage;
  std::shared_ptr<const SymbolicView> parent;
  if (!base.is_symbolic() || symbol(base).scalar != kNoId) {
    storage = std::make_shared<SymbolicStorage>();
    storage->value = value_of(base);
    if (!base.is_symbolic()) storage->constant = constant_index_.at(storage->value);
    note_row_major(*storage, base);
  } else {
    storage = symbol(base).storage;
    parent = symbol(base).view;
  }
  std::shared_ptr<const SymbolicView> view = parent;
  const bool of_memory = views_memory(op);
  const bool is_same = is_identity(base, meta) && !(keeps_histories_ && op.is(kNoGradient));
  if (!is_same && of_memory) {
    view = view_of_memory(*storage, meta);
  } else if (!is_same) {
    auto step = std::make_shared<SymbolicView>();
    step->op = &op;
    for (size_t i = 1; i < args.size(); ++i) step->attributes.push_back(node_arg(op.sig().params[i].type, args[i]));
    step->meta = ValueMeta::tensor(meta.dtype, meta.sizes, meta.device);
    step->parent = std::move(parent);
    view = std::move(step);
  }
  auto made = std::make_unique<TensorSymbol>(storage, view);
  if (base.is_symbolic()) made->own_version = symbol(base).own_version;
  Tensor t = Tensor::symbolic(meta, std::move(made));
  t->symbol_is_inference = base.is_inference();
  lay_out(*t, meta.strides, meta.offset);
  if (view && base.is_symbolic()) {  // derive from the parent's value, which may be known already
    const ValueId parent_value = of_memory ? storage->value : value_of(base);
    if (is_same) {
      symbol(*t).value = parent_value;
    } else {
      Node& n = append(NodeKind::Op);
      n.op = &op;
      n.args.push_back(Use{parent_value});
      n.args.insert(n.args.end(), view->attributes.begin(), view->attributes.end());
      const ValueId result = graph_.add_value(view->meta);
      n.results = {result};
      symbol(*t).value = result;
    }
    symbol(*t).value_version = storage->version;
  }
  results.push_back(std::move(t));
}

Node& GraphEmitter::append_call(const Op& op, std::span<const Arg> args, std::vector<NodeArg> converted) {
  Node& n = append(NodeKind::Op);
  n.op = &op;
  n.args = std::move(converted);
  n.checks = op.is(kChecksValues) && !autograd::pass_under_way();
  if ((n.chain = chain_of(op, args)) != 0) n.ticket = ++tickets_[n.chain];
  return n;
}

ValueId GraphEmitter::append_view(std::string_view op, ValueId of, IntList attribute, Dims sizes) {
  const ValueId result =
      graph_.add_value(ValueMeta::tensor(graph_.meta(of).dtype, std::move(sizes), graph_.meta(of).device));
  Node& n = append(NodeKind::Op);
  n.op = find_op(op);
  n.args = {Use{of}, std::move(attribute)};
  n.results = {result};
  return result;
}

ValueId GraphEmitter::permuted(ValueId value, const IntList& dims) {
  Dims sizes;
  for (int64_t d : dims) sizes.push_back(graph_.meta(value).sizes[static_cast<size_t>(d)]);
  return append_view("permute", value, dims, std::move(sizes));
}

/// The operands of an elementwise op, each with its dimensions in that order.
void GraphEmitter::order_operands(const Op& op, std::vector<NodeArg>& args, const IntList& dims) {
  for (size_t i = 0; i < args.size(); ++i) {
    const auto* use = std::get_if<Use>(&args[i]);
    const ParamType type = op.sig().params[i].type;
    if (!use || (type != ParamType::Tensor && type != ParamType::TensorOrNumber)) continue;
    ValueId operand = use->id;
    const Dims& sizes = graph_.meta(operand).sizes;
    if (sizes.empty()) continue;
    if (sizes.size() < dims.size()) {
      Dims all(dims.size() - sizes.size(), 1);
      for (int64_t size : sizes) all.push_back(size);
      operand = append_view("view", operand, IntList(all.begin(), all.end()), all);
    }
    args[i] = Use{permuted(operand, dims)};
  }
}

/// The tensor that shows the memory that holds `value` row by row as `back` arranges it.
Tensor GraphEmitter::lying(ValueId value, const ResultMeta& meta, const IntList& back) {
  static const Op* const permute = find_op("permute");
  auto storage = std::make_shared<SymbolicStorage>();
  storage->value = value;
  storage->first = 0;
  auto view = std::make_shared<SymbolicView>();
  view->op = permute;
  view->attributes = {back};
  view->meta = ValueMeta::tensor(meta.dtype, meta.sizes, meta.device);
  Tensor t = Tensor::symbolic(meta, std::make_unique<TensorSymbol>(storage, std::move(view)));
  lay_out(*t, meta.strides, 0);
  storage->elements = t.numel();
  return t;
}

/// Results that lie otherwise than row by row are views of memory that does. Elementwise ops are computed in that
/// order; the results of others are copied into it.
void GraphEmitter::emit_laid_out(const Op& op, std::span<const Arg> args, std::span<const ResultMeta> metas,
                                 std::vector<Tensor>& results) {
  static const Op* const clone = find_op("clone");
  const auto refuse_huge = [&](ValueId id) {
    if (graph_.meta(id).bytes() >= kMostBytes)
      throw InternalError(fmt::format("the result of {}() is larger than any memory", op.name));
  };
  std::vector<NodeArg> converted = node_args(op, args);
  const bool in_order = op.is(kElementwise) && metas.size() == 1;
  if (in_order) order_operands(op, converted, order_in_memory(metas[0].strides));
  std::vector<ValueId> values;
  if (only_copies(op)) {
    values = {std::get<Use>(converted[0]).id};
  } else {
    for (const ResultMeta& m : metas) {
      ValueMeta value = ValueMeta::tensor(m.dtype, m.sizes, m.device);
      const IntList order = in_order ? order_in_memory(m.strides) : IntList();
      for (size_t i = 0; i < order.size(); ++i) value.sizes[i] = m.sizes[static_cast<size_t>(order[i])];
      refuse_huge(values.emplace_back(graph_.add_value(std::move(value))));
    }
    append_call(op, args, std::move(converted)).results = values;
  }
  for (size_t i = 0; i < metas.size(); ++i) {
    if (lies_by_rows(metas[i])) {
      results.push_back(whole(values[i], contiguous_strides(metas[i].sizes), 0));
      continue;
    }
    const IntList order = order_in_memory(metas[i].strides);
    ValueId stored = values[i];
    if (!in_order) {
      const ValueId turned = permuted(stored, order);
      stored = graph_.add_value(ValueMeta(graph_.meta(turned)));
      Node& n = append(NodeKind::Op);
      n.op = clone;
      n.args = {Use{turned}, NodeArg()};
      n.results = {stored};
    }
    results.push_back(lying(stored, metas[i], inverse(order)));
  }
}

void GraphEmitter::emit(const Op& op, std::span<const Arg> args, std::span<const ResultMeta> metas,
                        std::vector<Tensor>& results) {
  if (op.is(kView)) return emit_view(op, args, metas[0], results);
  std::vector<ResultMeta> host;
  if (op.is(kHost)) {
    host = host_metas(op, args);
    metas = host;
  }
  if (!std::all_of(metas.begin(), metas.end(), lies_by_rows)) return emit_laid_out(op, args, metas, results);
  append_call(op, args, node_args(op, args));
  const size_t node = graph_.nodes.size() - 1;
  for (const ResultMeta& m : metas) {
    const ValueId id = graph_.add_value(ValueMeta::tensor(m.dtype, m.sizes, m.device));
    if (graph_.meta(id).bytes() >= kMostBytes)
      throw InternalError(fmt::format("the result of {}() is larger than any memory", op.name));
    graph_.nodes[node].results.push_back(id);
    results.push_back(whole(id, contiguous_strides(m.sizes), 0));
  }
}

void GraphEmitter::emit_write(const Op& op, std::span<const Arg> args, std::span<const ResultMeta>,
                              std::span<const Tensor> targets) {
  std::vector<NodeArg> converted = node_args(op, args);
  const bool by_elements = op.is(kElementwise) && !op.writes;
  if (const auto back = by_elements ? permutation_of_memory(*targets[0]) : std::nullopt) {
    order_operands(op, converted, inverse(*back));
    const ValueId stored = graph_.add_value(ValueMeta(graph_.meta(symbol(*targets[0]).storage->value)));
    append_call(op, args, std::move(converted)).results = {stored};
    return write(targets[0], permuted(stored, *back));
  }
  Node& n = append_call(op, args, std::move(converted));
  std::vector<ValueId> values;
  for (const Tensor& t : targets)
    values.push_back(graph_.add_value(ValueMeta::tensor(t.dtype(), t.sizes(), t.device())));
  n.results = values;
  for (size_t i = 0; i < targets.size(); ++i) write(targets[i], values[i]);
}

void GraphEmitter::write(const Tensor& target, ValueId value) {
  if (!target->is_symbolic() || symbol(*target).scalar != kNoId || symbol(*target).storage->constant >= 0)
    throw InternalError("the program writes into a tensor that was taken for a constant when it was recorded");
  TensorSymbol& s = symbol(*target);
  if (s.storage->fixed) throw InternalError("the program writes into a tensor that may be another one as well");
  ValueId whole_value = value;
  for (const SymbolicView* view = s.view.get(); view; view = view->parent.get()) {
    if (view->op->name == "expand")
      throw InternalError(
          "unsupported operation: more than one element of the written-to tensor refers to a single memory "
          "location. Please clone() the tensor before performing the operation.");
    const ValueId parent = derive(*s.storage, view->parent);
    const ValueId result = graph_.add_value(graph_.meta(parent));
    Node& n = append(NodeKind::WriteView);
    n.op = view->op;
    n.args = {Use{parent}, Use{whole_value}};
    n.args.insert(n.args.end(), view->attributes.begin(), view->attributes.end());
    n.results = {result};
    whole_value = result;
  }
  s.storage->value = whole_value;
  ++s.storage->version;
  if (s.own_version) {
    ++s.storage->uncounted;
    ++s.own_version->writes;
    for (OwnVersion* o = s.own_version->outer.get(); o; o = o->outer.get()) o->in_rounds = true;
  }
  s.value = value;
  s.value_version = s.storage->version;
}

ValueId GraphEmitter::emit_item(const Tensor& tensor, Scalar::Kind kind) {
  const ValueId source = value_of(*tensor);
  Node& n = append(NodeKind::Item);
  n.args = {Use{source}};
  const ValueId result = graph_.add_value(ValueMeta::number(kind));
  n.results = {result};
  return result;
}

void GraphEmitter::emit_assert(const Tensor& tensor, bool expected, bool numbered) {
  const ValueId source = value_of(*tensor);
  Node& n = append(NodeKind::Assert);
  n.args = {Use{source}};
  n.expected = expected;
  n.index = numbered ? asserts_++ : kUnnumbered;
  n.chain = kAssertChain;
  n.ticket = ++tickets_[kAssertChain];
}

std::vector<ValueId> GraphEmitter::emit_while(const std::vector<ValueId>& operands, size_t results, Graph step) {
  auto condition = std::make_shared<Graph>();
  condition->name = "another round";
  for (ValueId operand : operands) condition->add_input(meta(operand));
  condition->outputs = {condition->inputs[0]};
  std::vector<ValueId> made;
  for (size_t i = 0; i < results; ++i) made.push_back(graph_.add_value(ValueMeta(meta(operands[i]))));
  Node& n = append(NodeKind::While);
  for (ValueId operand : operands) n.args.push_back(Use{operand});
  n.results = made;
  n.bodies = {std::move(condition), std::make_shared<Graph>(std::move(step))};
  order(n);
  return made;
}

std::vector<ValueId> GraphEmitter::emit_switch(ValueId truth, const std::vector<ValueId>& operands, Graph if_false,
                                               Graph if_true) {
  std::vector<ValueId> made;
  for (ValueId output : if_false.outputs) made.push_back(graph_.add_value(ValueMeta(if_false.meta(output))));
  Node& n = append(NodeKind::Switch);
  n.args.push_back(Use{truth});
  for (ValueId operand : operands) n.args.push_back(Use{operand});
  n.results = made;
  n.bodies = {std::make_shared<Graph>(std::move(if_false)), std::make_shared<Graph>(std::move(if_true))};
  order(n);
  return made;
}

std::vector<ValueId> GraphEmitter::emit_node(Node node, const std::vector<ValueMeta>& results) {
  node.origin = origin_;
  node.results.clear();
  for (const ValueMeta& meta : results) node.results.push_back(graph_.add_value(meta));
  if (node.chain) node.ticket = ++tickets_[node.chain];
  graph_.nodes.push_back(std::move(node));
  return graph_.nodes.back().results;
}

/// A node with asserts inside is one itself.
void GraphEmitter::order(Node& n) {
  const bool may_fail = std::any_of(n.bodies.begin(), n.bodies.end(), [](const auto& body) {
    return std::any_of(body->nodes.begin(), body->nodes.end(),
                       [](const Node& inner) { return inner.chain == kAssertChain; });
  });
  if (!may_fail) return;
  n.chain = kAssertChain;
  n.ticket = ++tickets_[kAssertChain];
}

std::vector<std::shared_ptr<SymbolicStorage>> all_of(const std::shared_ptr<SymbolicStorage>& storage) {
  std::vector<std::shared_ptr<SymbolicStorage>> all = {storage};
  for (size_t i = 0; i < all.size(); ++i) {
    const auto more = all[i]->perhaps;
    for (const auto& other : more)
      if (std::find(all.begin(), all.end(), other) == all.end()) all.push_back(other);
  }
  return all;
}

}  // namespace terra::graph
