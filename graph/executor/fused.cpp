#include "graph/executor/fused.h"

#include <algorithm>
#include <cstring>

#include "engine/eager/kernel_call.h"
#include "engine/errors/errors.h"
#include "graph/executor/kernel_block.h"
#include "kernels/cpu/elementwise.h"
#include "kernels/cpu/parallel.h"

namespace terra::graph {
namespace {

constexpr int kMaxSlots = 8;                // operands of one elementwise op, the output included
constexpr int64_t kTileBudget = 24 * 1024;  // bytes that a tile of all operands may take: most of an L1 cache
constexpr int64_t kShortRow = 32;           // rows shorter than this are gathered into tiles

bool is_operand(ParamType type) { return type == ParamType::Tensor || type == ParamType::TensorOrNumber; }

void store(char* bytes, const Scalar& s, DType dtype) {
  const auto put = [&](auto v) { std::memcpy(bytes, &v, sizeof v); };
  switch (dtype) {
    case DType::Bool: put(s.to_bool()); break;
    case DType::U8: put(static_cast<uint8_t>(s.to_int())); break;
    case DType::I8: put(static_cast<int8_t>(s.to_int())); break;
    case DType::I16: put(static_cast<int16_t>(s.to_int())); break;
    case DType::I32: put(static_cast<int32_t>(s.to_int())); break;
    case DType::I64: put(s.to_int()); break;
    case DType::F32: put(static_cast<float>(s.to_double())); break;
    case DType::F64: put(s.to_double()); break;
    case DType::C64: put(std::complex<float>(s.to_complex())); break;
    case DType::C128: put(s.to_complex()); break;
    default: throw InternalError("16-bit floats are computed in float32");
  }
}

/// The dtype that numbers among the operands take, as eager execution decides it: that of the first promoted tensor.
DType operand_dtype(const Graph& g, const Node& n) {
  for (size_t p = 0; p < n.args.size(); ++p)
    if (const auto* use = std::get_if<Use>(&n.args[p]);
        use && g.meta(use->id).is_tensor() && (n.op->promoted >> p & 1) && is_operand(n.op->sig().params[p].type))
      return g.meta(use->id).dtype;
  std::vector<Arg> numbers(n.args.size());
  for (size_t p = 0; p < n.args.size(); ++p)
    if (const auto* s = std::get_if<Scalar>(&n.args[p])) numbers[p] = Arg(*s);
  return eager::dtype_of_numbers(*n.op, numbers);
}

/// Scratch of this thread, kept between runs.
char* scratch_of_thread(size_t bytes) {
  static thread_local std::vector<char> memory;
  if (memory.size() < bytes + 64) memory.resize(bytes + 64);
  return memory.data() + (64 - reinterpret_cast<uintptr_t>(memory.data()) % 64) % 64;
}

}  // namespace

FusedBlock::FusedBlock(const Plan& plan, const Node& node) {
  const bool single = node.kind == NodeKind::Op;
  const Graph& g = single ? plan.graph : *node.bodies[0];
  const std::span<const Node> nodes = single ? std::span<const Node>(&node, 1) : std::span<const Node>(g.nodes);
  const Dims& space = plan.graph.meta(node.results[0]).sizes;
  numel_ = plan.graph.meta(node.results[0]).numel();
  slots_.reserve(node.args.size() + node.results.size() + nodes.size() * (kMaxSlots + 1));  // addresses point into it

  std::vector<int32_t> slot_of_value(g.values.size(), -1);
  for (size_t a = 0; a < node.args.size(); ++a) {
    const auto* use = std::get_if<Use>(&node.args[a]);
    if (!use || !plan.graph.meta(use->id).is_tensor()) continue;
    const ValueId inner = single ? use->id : g.inputs[a];
    if (slot_of_value[inner] < 0) slot_of_value[inner] = add_external(plan.places[use->id], space, false);
  }
  std::vector<int32_t> output_slot(g.values.size(), -1);
  for (size_t r = 0; r < node.results.size(); ++r) {
    const ValueId inner = single ? node.results[r] : g.outputs[r];
    output_slot[inner] = add_external(plan.places[node.results[r]], space, true);
  }
  params_.reserve(nodes.size());
  int64_t cost = 0;
  for (const Node& n : nodes) {
    const ValueId result = n.results[0];
    int32_t out = output_slot[result];
    if (out < 0) {
      out = static_cast<int32_t>(slots_.size());
      slots_.push_back({SlotKind::Tile, static_cast<uint8_t>(size_of(g.meta(result).dtype)), nullptr, -1, -1});
    }
    add_step(g, n, slot_of_value, out);
    slot_of_value[result] = out;
    cost += kernel_for(n.op->name).cost;
  }
  if (!single)  // scalars of a chain are inputs of its graph: use the outer numbers
    for (Number& number : numbers)
      for (size_t a = 0; a < g.inputs.size(); ++a)
        if (g.inputs[a] == number.scalar) {
          number.scalar = std::get<Use>(node.args[a]).id;
          break;
        }
  collapse(space);
  std::vector<int32_t> last_read(slots_.size(), -1);
  for (size_t s = 0; s < steps_.size(); ++s)
    for (uint32_t k = 0; k < steps_[s].count; ++k) last_read[operands_[steps_[s].first + k]] = static_cast<int32_t>(s);
  assign_tiles(last_read);
  choose_tile();
  const int64_t unit = steps_.size() == 1 && tiles_ == 0 ? 64 : tile_;
  grain_ = (cpu::grain_for_cost(cost) + unit - 1) / unit * unit;
}

int32_t FusedBlock::add_external(const Place& place, const Dims& space, bool output) {
  const auto index = static_cast<int32_t>(slots_.size());
  Slot s;
  s.size = static_cast<uint8_t>(size_of(place.dtype));
  if (place.sizes == space && place.is_contiguous()) {
    s.kind = SlotKind::Memory;
  } else if (place.numel() == 1) {
    s.kind = SlotKind::One;
  } else {
    ensure(!output, "a fused result is contiguous");
    s.kind = SlotKind::Strided;
    s.strided = static_cast<int32_t>(strided_.size());
    strided_.push_back({index, {}});
    kept_.push_back(place);
  }
  slots_.push_back(s);
  addresses.push_back({&slots_.back().data, place.buffer, place.offset});
  return index;
}

int32_t FusedBlock::constant_slot(const Scalar& s, DType dtype) {
  auto& c = constants_.emplace_back(std::make_unique<Constant>());
  store(c->bytes, s, dtype);
  slots_.push_back({SlotKind::One, static_cast<uint8_t>(size_of(dtype)), c->bytes, -1, -1});
  return static_cast<int32_t>(slots_.size()) - 1;
}

void FusedBlock::add_step(const Graph& g, const Node& n, const std::vector<int32_t>& slot_of_value, int32_t out) {
  const DType number_dtype = operand_dtype(g, n);
  std::vector<KernelArg>& params = params_.emplace_back(n.args.size());
  StepRecord step;
  step.first = static_cast<uint32_t>(operands_.size());
  operands_.push_back(static_cast<uint32_t>(out));
  DType last = number_dtype;
  for (size_t p = 0; p < n.args.size(); ++p) {
    const NodeArg& a = n.args[p];
    const bool operand = is_operand(n.op->sig().params[p].type);
    if (const auto* use = std::get_if<Use>(&a); use && operand) {
      operands_.push_back(static_cast<uint32_t>(slot_of_value[use->id]));
      last = g.meta(use->id).dtype;
    } else if (use) {
      params[p].kind = KernelArg::Kind::Scalar;
      numbers.push_back({&params[p], use->id});
    } else {
      params[p] = kernel_argument(a);
      if (!operand || !std::holds_alternative<Scalar>(a)) continue;
      operands_.push_back(static_cast<uint32_t>(constant_slot(std::get<Scalar>(a), number_dtype)));
      last = number_dtype;
    }
  }
  step.count = static_cast<uint32_t>(operands_.size()) - step.first;
  ensure(step.count <= kMaxSlots, "an elementwise op has at most seven operands");
  step.params = params.data();
  step.loop = cpu::loop_of(kernel_for(n.op->name), last);
  steps_.push_back(step);
}

void FusedBlock::collapse(const Dims& space) {
  if (strided_.empty()) return;
  for (size_t k = 0; k < strided_.size(); ++k) strided_[k].strides.clear();
  for (size_t d = 0; d < space.size(); ++d) {
    if (space[d] == 1) continue;
    std::vector<int64_t> step(strided_.size());
    for (size_t k = 0; k < strided_.size(); ++k) {
      const Place& p = kept_[k];
      const int64_t own = static_cast<int64_t>(d) - static_cast<int64_t>(space.size() - p.sizes.size());
      step[k] = own < 0 || p.sizes[own] == 1 ? 0 : p.strides[own] * static_cast<int64_t>(size_of(p.dtype));
    }
    bool alike = !dims_.empty();  // merges with the dimension before it
    for (size_t k = 0; k < strided_.size() && alike; ++k) alike = strided_[k].strides.back() == step[k] * space[d];
    if (alike) {
      dims_.back() *= space[d];
      for (size_t k = 0; k < strided_.size(); ++k) strided_[k].strides.back() = step[k];
    } else {
      dims_.push_back(space[d]);
      for (size_t k = 0; k < strided_.size(); ++k) strided_[k].strides.push_back(step[k]);
    }
  }
  if (dims_.empty()) {
    dims_.push_back(1);
    for (StridedInput& s : strided_) s.strides.push_back(0);
  }
  gather_ = dims_.size() > 1 && dims_.back() < kShortRow;
  kept_.clear();
}

/// A tile of scratch is free again after the last step that reads it. Gathered inputs are alive from the start.
void FusedBlock::assign_tiles(const std::vector<int32_t>& last_read) {
  std::vector<int32_t> free_tiles;
  const auto take = [&] {
    if (free_tiles.empty()) return tiles_++;
    const int32_t t = free_tiles.back();
    free_tiles.pop_back();
    return t;
  };
  int64_t widest = 1;
  if (gather_)
    for (const StridedInput& s : strided_) {
      slots_[s.slot].tile = take();
      widest = std::max<int64_t>(widest, slots_[s.slot].size);
    }
  for (size_t k = 0; k < steps_.size(); ++k) {
    Slot& out = slots_[operands_[steps_[k].first]];
    if (out.kind == SlotKind::Tile && out.tile < 0) {
      out.tile = take();
      widest = std::max<int64_t>(widest, out.size);
    }
    for (size_t s = 0; s < slots_.size(); ++s)
      if (slots_[s].tile >= 0 && last_read[s] == static_cast<int32_t>(k)) free_tiles.push_back(slots_[s].tile);
  }
  tile_bytes_ = widest;  // per element, until the tile is chosen
}

void FusedBlock::choose_tile() {
  int64_t bytes = 0;
  for (const Slot& s : slots_)
    if (s.kind == SlotKind::Memory || (s.kind == SlotKind::Strided && !gather_)) bytes += s.size;
  bytes += tiles_ * tile_bytes_;
  const bool one_loop = steps_.size() == 1 && tiles_ == 0;
  tile_ = one_loop ? numel_ : std::clamp<int64_t>(kTileBudget / std::max<int64_t>(bytes, 1) / 64 * 64, 128, 4096);
  tile_bytes_ *= tile_;
}

void FusedBlock::run() const {
  if (numel_ == 0) return;
  if (dims_.empty() || gather_)
    cpu::parallel_for(numel_, grain_, [this](int64_t begin, int64_t end) { run_flat(begin, end); });
  else
    cpu::parallel_for(numel_, grain_, [this](int64_t begin, int64_t end) { run_rows(begin, end); });
}

void FusedBlock::run_flat(int64_t begin, int64_t end) const {
  char* scratch = tiles_ > 0 ? scratch_of_thread(static_cast<size_t>(tiles_ * tile_bytes_)) : nullptr;
  for (int64_t at = begin; at < end; at += tile_) {
    const int64_t n = std::min(tile_, end - at);
    if (gather_)
      for (const StridedInput& s : strided_) gather(s, at, n, scratch + slots_[s.slot].tile * tile_bytes_);
    run_tile(at, n, scratch, nullptr);
  }
}

void FusedBlock::run_rows(int64_t begin, int64_t end) const {
  char* scratch = tiles_ > 0 ? scratch_of_thread(static_cast<size_t>(tiles_ * tile_bytes_)) : nullptr;
  const int64_t row = dims_.back();
  std::vector<char*> at(strided_.size());
  for (int64_t done = begin; done < end;) {
    int64_t rest = done / row;
    const int64_t column = done % row;
    for (size_t k = 0; k < strided_.size(); ++k)
      at[k] = slots_[strided_[k].slot].data + column * strided_[k].strides.back();
    for (size_t d = dims_.size() - 1; d-- > 0; rest /= dims_[d])
      for (size_t k = 0; k < strided_.size(); ++k) at[k] += rest % dims_[d] * strided_[k].strides[d];
    const int64_t stop = std::min(end, done + row - column);
    while (done < stop) {
      const int64_t n = std::min(tile_, stop - done);
      run_tile(done, n, scratch, at.data());
      for (size_t k = 0; k < strided_.size(); ++k) at[k] += n * strided_[k].strides.back();
      done += n;
    }
  }
}

void FusedBlock::run_tile(int64_t begin, int64_t n, char* scratch, char* const* strided_at) const {
  for (const StepRecord& step : steps_) {
    char* data[kMaxSlots];
    int64_t strides[kMaxSlots];
    for (uint32_t k = 0; k < step.count; ++k) {
      const Slot& s = slots_[operands_[step.first + k]];
      strides[k] = s.size;
      switch (s.kind) {
        case SlotKind::Memory: data[k] = s.data + begin * s.size; break;
        case SlotKind::One:
          data[k] = s.data;
          strides[k] = 0;
          break;
        case SlotKind::Tile: data[k] = scratch + s.tile * tile_bytes_; break;
        case SlotKind::Strided:
          if (gather_) {
            data[k] = scratch + s.tile * tile_bytes_;
          } else {
            data[k] = strided_at[s.strided];
            strides[k] = strided_[s.strided].strides.back();
          }
          break;
      }
    }
    step.loop(data, strides, n, step.params);
  }
}

void FusedBlock::gather(const StridedInput& input, int64_t begin, int64_t n, char* to) const {
  const Slot& s = slots_[input.slot];
  const int64_t row = dims_.back(), step = input.strides.back();
  for (int64_t done = 0; done < n;) {
    int64_t rest = (begin + done) / row;
    const int64_t column = (begin + done) % row;
    const char* from = s.data + column * step;
    for (size_t d = dims_.size() - 1; d-- > 0; rest /= dims_[d]) from += rest % dims_[d] * input.strides[d];
    const int64_t count = std::min(n - done, row - column);
    const auto copy = [&](auto type) {
      using T = decltype(type);
      T* out = reinterpret_cast<T*>(to) + done;
      for (int64_t i = 0; i < count; ++i) std::memcpy(out + i, from + i * step, sizeof(T));
    };
    switch (s.size) {
      case 1: copy(uint8_t{}); break;
      case 2: copy(uint16_t{}); break;
      case 4: copy(uint32_t{}); break;
      case 8: copy(uint64_t{}); break;
      default: copy(std::complex<double>{}); break;
    }
    done += count;
  }
}

}  // namespace terra::graph
