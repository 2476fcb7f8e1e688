#include <oneapi/dnnl/dnnl.hpp>

#include <algorithm>
#include <atomic>
#include <bit>
#include <mutex>
#include <optional>
#include <thread>
#include <unordered_map>
#include <vector>

#include "kernels/cpu/convolution.h"
#include "kernels/cpu/parallel.h"
#include "kernels/cpu/single_thread.h"

namespace terra::cpu {
namespace {

using dnnl::memory;
using Tag = memory::format_tag;
constexpr auto kF32 = memory::data_type::f32;

dnnl::engine& engine() {
  static dnnl::engine cpu(dnnl::engine::kind::cpu, 0);
  return cpu;
}

dnnl::stream& stream() {
  thread_local dnnl::stream of_this_thread(engine());
  return of_this_thread;
}

size_t aligned(size_t bytes) { return (bytes + 63) & ~size_t{63}; }

Tag blocked_tag() {
  static const bool wide = dnnl::get_effective_cpu_isa() >= dnnl::cpu_isa::avx512_core;
  return wide ? Tag::nChw16c : Tag::nChw8c;
}

memory::desc activations(int64_t n, int64_t c, int64_t h, int64_t w, Tag tag) { return {{n, c, h, w}, kF32, tag}; }

// ---- the parts -------------------------------------------------------------------------------------------------

enum class Axis : uint8_t {
  Images,
  /// Output channels; the input's for BackwardInput. Every part then needs all of the other operands.
  Channels,
};

/// `count` parts of the axis: the first `longer` have size + 1 elements, the others `size`.
struct Parts {
  Axis axis = Axis::Images;
  int64_t count = 1;
  int64_t size = 1;
  int64_t longer = 0;

  int64_t begin(int64_t part) const { return part * size + std::min(part, longer); }
  bool is_longer(int64_t part) const { return part < longer; }
};

Parts equal_parts(Axis axis, int64_t length, int64_t count) { return {axis, count, length / count, length % count}; }

Parts parts_of(const ConvShape& s, ConvPass pass) {
  constexpr double kPartOperations = 96e6;  // most of a millisecond: reads the weights anew, which should not show
  constexpr int64_t kMostParts = 32;
  constexpr double kChannelPartOperations = 32e6;
  constexpr int64_t kCacheBytes = 768 << 10;  // most of a second-level cache
  const double operations = s.operations();
  const int64_t wanted = std::clamp<int64_t>(static_cast<int64_t>(operations / kPartOperations), 1, kMostParts);
  const int64_t image_bytes = 4 * (s.ic * s.ih * s.iw + s.oc * s.oh * s.ow);
  const int64_t for_cache = std::min(kMostParts, (s.n * image_bytes + kCacheBytes - 1) / kCacheBytes);
  const int64_t images = std::min(s.n, std::max(wanted, for_cache));

  const int64_t channels = pass == ConvPass::BackwardInput ? s.ic : s.oc;
  constexpr int64_t kChannelBlock = 32;
  const bool by_channels_possible = s.groups == 1 && channels % kChannelBlock == 0;
  const int64_t channel_parts = std::bit_floor(
      static_cast<uint64_t>(std::clamp<int64_t>(static_cast<int64_t>(operations / kChannelPartOperations), 1,
                                                std::clamp<int64_t>(channels / kChannelBlock, 1, 8))));

  if (pass == ConvPass::BackwardWeight) {
    // Parts by images leave a gradient each, to be summed: at most a twentieth of the time may go there (at 10 GB/s
    // against 100 GF/s); otherwise parts by output channels, which leave nothing to sum.
    const double weight_bytes = 4.0 * static_cast<double>(s.oc * (s.ic / s.groups) * s.kh * s.kw);
    const int64_t affordable = static_cast<int64_t>(operations / (200.0 * weight_bytes));
    if (affordable < std::min<int64_t>(images, 4) && by_channels_possible && channels % channel_parts == 0) {
      return equal_parts(Axis::Channels, channels, channel_parts);
    }
    return equal_parts(Axis::Images, s.n, std::clamp<int64_t>(std::min<int64_t>(affordable, 8), 1, images));
  }
  if (s.n < 4 && s.n < channel_parts && by_channels_possible && channels % (channel_parts * kChannelBlock) == 0) {
    return equal_parts(Axis::Channels, channels, channel_parts);
  }
  return equal_parts(Axis::Images, s.n, images);
}

/// oneDNN's choice of layout costs a conversion at both ends and is worth it, except where its kernels for plain
/// layouts (im2col, or the image itself as the matrix) do as well or its others are poor.
bool prefers_plain(const ConvShape& s, ConvPass pass) {
  if (s.groups != 1) return false;
  const bool pointwise = s.kh == 1 && s.kw == 1 && s.stride_h == 1 && s.stride_w == 1 && s.pad_h == 0 && s.pad_w == 0;
  if (pass == ConvPass::BackwardInput && s.ic < 8) return true;
  return pointwise && pass != ConvPass::BackwardWeight && s.oh * s.ow >= 256;
}

// ---- one primitive and the conversions around it ---------------------------------------------------------------

/// An operand as the caller has it and as the primitive wants it.
struct Operand {
  memory::desc outer;
  memory::desc inner;
  std::optional<dnnl::reorder> conversion;
  bool written = false;

  size_t copy_bytes() const { return conversion ? aligned(inner.get_size()) : 0; }
  void convert(void* from, void* to) const {
    memory source(written ? inner : outer, engine(), from), target(written ? outer : inner, engine(), to);
    conversion->execute(stream(), source, target);
  }
};

Operand operand_of(const memory::desc& outer, const memory::desc& inner, bool written) {
  Operand operand{outer, inner, std::nullopt, written};
  if (outer != inner) {
    dnnl::primitive_attr attributes;
    attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
    const dnnl::reorder::primitive_desc description(engine(), written ? inner : outer, engine(),
                                                    written ? outer : inner, attributes, true);
    // A conversion that wants a scratchpad of its own gets the library's, which lives in the executing thread.
    operand.conversion.emplace(
        description && description.scratchpad_desc().get_size() == 0
            ? description
            : dnnl::reorder::primitive_desc(engine(), written ? inner : outer, engine(), written ? outer : inner));
  }
  return operand;
}

/// The convolution of one part.
struct Unit {
  dnnl::primitive primitive;
  Operand source, weights, destination;
  memory::desc bias;
  memory::desc scratchpad;

  /// Copies of activations and the scratchpad, laid out one after the other.
  size_t activation_bytes() const {
    return source.copy_bytes() + destination.copy_bytes() + aligned(scratchpad.get_size());
  }
};

struct Layouts {
  memory::desc source, weights, destination;
};

class UnitBuilder {
 public:
  /// `whole` is the convolution that the part `s` is cut from.
  UnitBuilder(const ConvShape& s, const ConvShape& whole, ConvPass pass, const ConvOptions& options)
      : s_(s), whole_(whole), pass_(pass), options_(options) {}

  /// `inner`: layouts to use inside, those of another part; null: choose.
  Unit build(const Layouts* inner) const {
    const Tag tag = prefers_plain(whole_, pass_) ? Tag::nchw : Tag::any;
    Layouts wanted;
    if (inner != nullptr) {
      const auto like = [](const memory::desc& other, int64_t n, int64_t c, int64_t h, int64_t w) {
        for (Tag known : {Tag::nchw, Tag::nChw16c, Tag::nChw8c, Tag::nhwc}) {
          if (other == activations(other.dims()[0], c, h, w, known)) return activations(n, c, h, w, known);
        }
        return activations(n, c, h, w, Tag::any);
      };
      wanted = {like(inner->source, s_.n, s_.ic, s_.ih, s_.iw), inner->weights,
                like(inner->destination, s_.n, s_.oc, s_.oh, s_.ow)};
    } else {
      wanted.source = activations(s_.n, s_.ic, s_.ih, s_.iw, layout_tag(options_.source, tag));
      wanted.destination = activations(s_.n, s_.oc, s_.oh, s_.ow, layout_tag(options_.destination, tag));
      wanted.weights = memory::desc(weight_dims(), kF32, Tag::any);
    }
    switch (pass_) {
      case ConvPass::Forward: return forward(wanted);
      case ConvPass::BackwardInput: return backward_input(wanted);
      default: return backward_weight(wanted);
    }
  }

 private:
  static Tag layout_tag(ConvLayout layout, Tag otherwise) {
    return layout == ConvLayout::Blocked ? blocked_tag() : otherwise;
  }
  memory::dims weight_dims() const {
    if (s_.groups == 1) return {s_.oc, s_.ic, s_.kh, s_.kw};
    return {s_.groups, s_.oc / s_.groups, s_.ic / s_.groups, s_.kh, s_.kw};
  }
  memory::dims strides() const { return {s_.stride_h, s_.stride_w}; }
  memory::dims dilations() const { return {s_.dilation_h - 1, s_.dilation_w - 1}; }
  memory::dims padding() const { return {s_.pad_h, s_.pad_w}; }
  memory::desc bias_desc() const { return {{s_.oc}, kF32, Tag::x}; }

  dnnl::primitive_attr attributes() const {
    dnnl::primitive_attr result;
    result.set_scratchpad_mode(dnnl::scratchpad_mode::user);
    if (options_.relu && pass_ == ConvPass::Forward) {
      dnnl::post_ops after;
      after.append_eltwise(1.0f, dnnl::algorithm::eltwise_relu, 0.0f, 0.0f);
      result.set_post_ops(after);
    }
    return result;
  }

  Unit forward(const Layouts& wanted) const {
    using Description = dnnl::convolution_forward::desc;
    const auto kind = dnnl::prop_kind::forward_training;
    const auto algorithm = dnnl::algorithm::convolution_direct;
    const Description d = options_.bias ? Description(kind, algorithm, wanted.source, wanted.weights, bias_desc(),
                                                      wanted.destination, strides(), dilations(), padding(), padding())
                                        : Description(kind, algorithm, wanted.source, wanted.weights,
                                                      wanted.destination, strides(), dilations(), padding(), padding());
    const dnnl::convolution_forward::primitive_desc description(d, attributes(), engine());
    return finish(dnnl::convolution_forward(description), description.src_desc(), description.weights_desc(),
                  description.dst_desc(), description.scratchpad_desc());
  }

  Unit backward_input(const Layouts& wanted) const {
    const dnnl::convolution_backward_data::desc d(dnnl::algorithm::convolution_direct, wanted.source, wanted.weights,
                                                  wanted.destination, strides(), dilations(), padding(), padding());
    const auto hint = hint_description();
    const dnnl::convolution_backward_data::primitive_desc description(d, attributes(), engine(), hint);
    return finish(dnnl::convolution_backward_data(description), description.diff_src_desc(), description.weights_desc(),
                  description.diff_dst_desc(), description.scratchpad_desc());
  }

  Unit backward_weight(const Layouts& wanted) const {
    using Description = dnnl::convolution_backward_weights::desc;
    const auto algorithm = dnnl::algorithm::convolution_direct;
    const Description d = options_.bias ? Description(algorithm, wanted.source, wanted.weights, bias_desc(),
                                                      wanted.destination, strides(), dilations(), padding(), padding())
                                        : Description(algorithm, wanted.source, wanted.weights, wanted.destination,
                                                      strides(), dilations(), padding(), padding());
    const auto hint = hint_description();
    const dnnl::convolution_backward_weights::primitive_desc description(d, attributes(), engine(), hint);
    return finish(dnnl::convolution_backward_weights(description), description.src_desc(),
                  description.diff_weights_desc(), description.diff_dst_desc(), description.scratchpad_desc());
  }

  /// The forward pass that oneDNN wants to see with a backward one. Its layouts don't matter to our callers.
  dnnl::convolution_forward::primitive_desc hint_description() const {
    const dnnl::convolution_forward::desc d(
        dnnl::prop_kind::forward_training, dnnl::algorithm::convolution_direct,
        activations(s_.n, s_.ic, s_.ih, s_.iw, Tag::any), memory::desc(weight_dims(), kF32, Tag::any),
        activations(s_.n, s_.oc, s_.oh, s_.ow, Tag::any), strides(), dilations(), padding(), padding());
    return {d, engine()};
  }

  /// Operands of the part where they lie in the whole: a slice of channels keeps the whole's stride between images.
  Unit finish(dnnl::primitive primitive, const memory::desc& source, const memory::desc& weights,
              const memory::desc& destination, const memory::desc& scratchpad) const {
    Unit unit{std::move(primitive), {}, {}, {}, bias_desc(), scratchpad};
    unit.source =
        operand_of(outer(options_.source, s_.ic, s_.ih, s_.iw, whole_.ic), source, pass_ == ConvPass::BackwardInput);
    unit.destination = operand_of(outer(options_.destination, s_.oc, s_.oh, s_.ow, whole_.oc), destination,
                                  pass_ == ConvPass::Forward);
    memory::desc plain_weights(weight_dims(), kF32, s_.groups == 1 ? Tag::oihw : Tag::goihw);
    if (s_.ic != whole_.ic) {  // input channels are not the weights' first axis
      const int64_t taps = s_.kh * s_.kw;
      plain_weights = memory::desc(weight_dims(), kF32, memory::dims{whole_.ic * taps, taps, s_.kw, 1});
    }
    unit.weights = operand_of(plain_weights, weights, pass_ == ConvPass::BackwardWeight);
    return unit;
  }

  memory::desc outer(ConvLayout layout, int64_t c, int64_t h, int64_t w, int64_t whole_c) const {
    if (layout == ConvLayout::Plain) {
      return {{s_.n, c, h, w}, kF32, memory::dims{whole_c * h * w, h * w, w, 1}};
    }
    if (c == whole_c) return activations(s_.n, c, h, w, blocked_tag());
    return activations(s_.n, whole_c, h, w, blocked_tag()).submemory_desc({s_.n, c, h, w}, {0, 0, 0, 0});
  }

  const ConvShape& s_;
  const ConvShape& whole_;
  ConvPass pass_;
  const ConvOptions& options_;
};

}  // namespace

size_t blocked_bytes(int64_t n, int64_t c, int64_t h, int64_t w) {
  return activations(n, c, h, w, blocked_tag()).get_size();
}

// ---- the plan --------------------------------------------------------------------------------------------------

/// Workspace: [converted weights, or a gradient per part] then one slot per thread [source, destination, scratchpad,
/// and with parts by channels the converted weights].
struct ConvPlan::Implementation {
  ConvShape shape;
  ConvPass pass;
  ConvOptions options;
  Parts parts;
  Unit unit;                   ///< of parts.size elements
  std::optional<Unit> longer;  ///< of one more
  size_t shared_bytes = 0;
  size_t slot_bytes = 0;

  Implementation(const ConvShape& s, ConvPass p, const ConvOptions& o)
      : shape(s), pass(p), options(o), parts(parts_of(s, p)) {
    const SingleThread single;  // the primitives are made for one thread
    const ConvShape part = part_shape(parts.size);
    unit = UnitBuilder(part, shape, pass, options).build(nullptr);
    if (parts.longer > 0) {
      const ConvShape more = part_shape(parts.size + 1);
      const Layouts same = {unit.source.inner, unit.weights.inner, unit.destination.inner};
      longer = UnitBuilder(more, shape, pass, options).build(&same);
    }
    slot_bytes = std::max(unit.activation_bytes(), longer ? longer->activation_bytes() : 0);
    if (parts.axis == Axis::Channels) {
      slot_bytes += unit.weights.copy_bytes();
    } else if (!sums_gradients()) {
      shared_bytes = unit.weights.copy_bytes();
    } else {
      shared_bytes = static_cast<size_t>(parts.count) * (weight_gradient_bytes() + bias_gradient_bytes());
    }
  }

  ConvShape part_shape(int64_t size) const {
    ConvShape part = shape;
    (parts.axis == Axis::Images ? part.n : pass == ConvPass::BackwardInput ? part.ic : part.oc) = size;
    return part;
  }

  /// True iff every part leaves a gradient of all weights.
  bool sums_gradients() const {
    return pass == ConvPass::BackwardWeight && parts.axis == Axis::Images && parts.count > 1;
  }
  size_t weight_gradient_bytes() const { return aligned(unit.weights.inner.get_size()); }
  size_t bias_gradient_bytes() const { return options.bias ? aligned(static_cast<size_t>(shape.oc) * 4) : 0; }

  int64_t slots() const { return std::min<int64_t>({parts.count, threads(), 64}); }

  void execute(const ConvBuffers& buffers, const Workspace& workspace) const {
    char* const shared = static_cast<char*>(workspace.bytes);
    char* const first_slot = shared + shared_bytes;
    int64_t slot_count = std::min<int64_t>(slots(), 64);
    if (slot_bytes > 0) {
      slot_count = std::min<int64_t>(slot_count, static_cast<int64_t>((workspace.size - shared_bytes) / slot_bytes));
    }
    float* weights = buffers.weights;
    const bool weights_once = parts.axis == Axis::Images && pass != ConvPass::BackwardWeight;
    if (weights_once && unit.weights.conversion) {
      const SingleThread single;
      unit.weights.convert(weights, shared);
      weights = reinterpret_cast<float*>(shared);
    }
    std::atomic<uint64_t> free_slots = slot_count >= 64 ? ~uint64_t{0} : (uint64_t{1} << slot_count) - 1;
    parallel_for(parts.count, 1, [&](int64_t begin, int64_t end) {
      const SingleThread single;
      const int slot = take_slot(free_slots);
      for (int64_t p = begin; p < end; ++p) {
        run_part(p, buffers, weights, shared, first_slot + static_cast<size_t>(slot) * slot_bytes);
      }
      free_slots.fetch_or(uint64_t{1} << slot, std::memory_order_release);
    });
    if (sums_gradients()) sum_gradients(buffers, shared);
  }

  /// There are as many slots as threads, unless the pool grew since the workspace was measured.
  static int take_slot(std::atomic<uint64_t>& free_slots) {
    uint64_t free = free_slots.load(std::memory_order_acquire);
    for (;;) {
      if (free == 0) {
        std::this_thread::yield();
        free = free_slots.load(std::memory_order_acquire);
      } else if (free_slots.compare_exchange_weak(free, free & (free - 1), std::memory_order_acquire)) {
        return std::countr_zero(free);
      }
    }
  }

  /// Elements from the start of activations [n, c, h, w] to the part's, whose channels are the split ones or not.
  int64_t offset(int64_t part, bool split_channels, ConvLayout layout, int64_t c, int64_t h, int64_t w) const {
    const int64_t begin = parts.begin(part);
    if (parts.axis == Axis::Channels) return split_channels ? begin * h * w : 0;  // blocks hold whole channel groups
    if (layout == ConvLayout::Plain) return begin * c * h * w;
    return begin * static_cast<int64_t>(blocked_bytes(1, c, h, w) / 4);
  }

  void run_part(int64_t p, const ConvBuffers& buffers, float* weights, char* shared, char* slot) const {
    const Unit& u = parts.is_longer(p) ? *longer : unit;
    const bool channels = parts.axis == Axis::Channels;
    const bool input_channels = pass == ConvPass::BackwardInput;
    float* source = buffers.source + offset(p, input_channels, options.source, shape.ic, shape.ih, shape.iw);
    float* destination =
        buffers.destination + offset(p, !input_channels, options.destination, shape.oc, shape.oh, shape.ow);
    float* bias = buffers.bias;
    if (channels) {
      const int64_t taps = shape.kh * shape.kw;
      weights += parts.begin(p) * (input_channels ? taps : shape.ic * taps);
      if (bias != nullptr) bias += parts.begin(p);
    }

    const auto inside = [&](const Operand& operand, float* outside) {
      if (!operand.conversion) return static_cast<void*>(outside);
      void* copy = slot;
      slot += operand.copy_bytes();
      if (!operand.written) operand.convert(outside, copy);
      return copy;
    };
    void* inner_source = inside(u.source, source);
    void* inner_destination = inside(u.destination, destination);
    void* inner_weights = weights;
    if (sums_gradients()) {
      inner_weights = shared + static_cast<size_t>(p) * weight_gradient_bytes();
      if (options.bias) {
        bias = reinterpret_cast<float*>(shared + static_cast<size_t>(parts.count) * weight_gradient_bytes() +
                                        static_cast<size_t>(p) * bias_gradient_bytes());
      }
    } else if (channels) {
      inner_weights = inside(u.weights, weights);
    } else if (pass == ConvPass::BackwardWeight && u.weights.conversion) {
      inner_weights = shared;
    }

    memory s(u.source.inner, engine(), inner_source), w(u.weights.inner, engine(), inner_weights);
    memory d(u.destination.inner, engine(), inner_destination), scratch(u.scratchpad, engine(), slot);
    std::unordered_map<int, memory> arguments = {{DNNL_ARG_SCRATCHPAD, scratch}};
    const bool to_source = pass == ConvPass::BackwardInput, to_weights = pass == ConvPass::BackwardWeight;
    arguments.emplace(to_source ? DNNL_ARG_DIFF_SRC : DNNL_ARG_SRC, s);
    arguments.emplace(to_weights ? DNNL_ARG_DIFF_WEIGHTS : DNNL_ARG_WEIGHTS, w);
    arguments.emplace(pass == ConvPass::Forward ? DNNL_ARG_DST : DNNL_ARG_DIFF_DST, d);
    if (options.bias && !to_source) {
      arguments.emplace(to_weights ? DNNL_ARG_DIFF_BIAS : DNNL_ARG_BIAS, memory(u.bias, engine(), bias));
    }
    u.primitive.execute(stream(), arguments);

    if (u.source.written && u.source.conversion) u.source.convert(inner_source, source);
    if (u.destination.written && u.destination.conversion) u.destination.convert(inner_destination, destination);
    if (u.weights.written && u.weights.conversion && !sums_gradients()) u.weights.convert(inner_weights, weights);
  }

  /// Adds the parts' gradients in their order.
  void sum_gradients(const ConvBuffers& buffers, char* shared) const {
    add_parts(reinterpret_cast<float*>(shared), weight_gradient_bytes() / 4);
    if (options.bias) {
      float* biases = reinterpret_cast<float*>(shared + static_cast<size_t>(parts.count) * weight_gradient_bytes());
      add_parts(biases, bias_gradient_bytes() / 4);
      std::copy_n(biases, shape.oc, buffers.bias);
    }
    if (unit.weights.conversion) {
      const SingleThread single;
      unit.weights.convert(shared, buffers.weights);
    } else {
      std::copy_n(reinterpret_cast<float*>(shared), unit.weights.inner.get_size() / 4, buffers.weights);
    }
  }

  void add_parts(float* first, size_t stride) const {
    parallel_for(static_cast<int64_t>(stride), grain_for_cost(2 * parts.count), [&](int64_t begin, int64_t end) {
      for (int64_t p = 1; p < parts.count; ++p) {
        const float* other = first + static_cast<size_t>(p) * stride;
        for (int64_t i = begin; i < end; ++i) first[i] += other[i];
      }
    });
  }
};

ConvPlan::ConvPlan(const ConvShape& shape, ConvPass pass, ConvOptions options)
    : implementation_(std::make_unique<const Implementation>(shape, pass, options)) {}

ConvPlan::~ConvPlan() = default;

size_t ConvPlan::workspace_bytes() const {
  return implementation_->shared_bytes + static_cast<size_t>(implementation_->slots()) * implementation_->slot_bytes;
}

size_t ConvPlan::minimum_workspace_bytes() const { return implementation_->shared_bytes + implementation_->slot_bytes; }

void ConvPlan::execute(const ConvBuffers& buffers, const Workspace& workspace) const {
  implementation_->execute(buffers, workspace);
}

// ---- the cache -------------------------------------------------------------------------------------------------

namespace {

struct Key {
  ConvShape shape;
  ConvPass pass;
  ConvOptions options;
  bool operator==(const Key&) const = default;
};

struct KeyHash {
  size_t operator()(const Key& k) const {
    const ConvShape& s = k.shape;
    uint64_t hash = static_cast<uint64_t>(k.pass) * 16 + k.options.bias * 8 + k.options.relu * 4 +
                    static_cast<uint64_t>(k.options.source) * 2 + static_cast<uint64_t>(k.options.destination);
    for (int64_t v : {s.n, s.ic, s.ih, s.iw, s.oc, s.oh, s.ow, s.kh, s.kw, s.stride_h, s.stride_w, s.pad_h, s.pad_w,
                      s.dilation_h, s.dilation_w, s.groups}) {
      hash = (hash ^ static_cast<uint64_t>(v)) * 0x9e3779b97f4a7c15u;
      hash ^= hash >> 29;
    }
    return hash;
  }
};

}  // namespace

std::shared_ptr<const ConvPlan> ConvPlan::get(const ConvShape& shape, ConvPass pass, ConvOptions options) {
  constexpr size_t kMostPlans = 1024;  // a program with more shapes than that starts over
  static std::mutex mutex;
  static std::unordered_map<Key, std::shared_ptr<const ConvPlan>, KeyHash> plans;
  const std::lock_guard lock(mutex);
  if (plans.size() >= kMostPlans) plans.clear();
  std::shared_ptr<const ConvPlan>& plan = plans[Key{shape, pass, options}];
  if (!plan) plan = std::make_shared<const ConvPlan>(shape, pass, options);
  return plan;
}

}  // namespace terra::cpu
