#include <oneapi/dnnl/dnnl.hpp>

#include <algorithm>
#include <atomic>
#include <bit>
#include <mutex>
#include <optional>
#include <thread>
#include <unordered_map>

#include "kernels/abi/parallel.h"
#include "kernels/cpu/convolution.h"
#include "kernels/cpu/convolution_parts.h"
#include "kernels/cpu/convolution_unit.h"
#include "kernels/cpu/fork_locks.h"
#include "kernels/cpu/held_signals.h"
#include "kernels/cpu/single_thread.h"

namespace terra::cpu {

using onednn::aligned;
using onednn::ConvUnit;
using onednn::engine;
using onednn::Operand;
using onednn::stream;

// ---- the plan --------------------------------------------------------------------------------------------------

/// Workspace: [converted weights, or a gradient per part] then one slot per thread [source, destination, scratchpad,
/// and with parts by channels the converted weights].
struct ConvPlan::Implementation {
  ConvShape shape;
  ConvPass pass;
  ConvOptions options;
  ConvParts parts;
  ConvUnit unit;                   ///< of parts.size elements
  std::optional<ConvUnit> longer;  ///< of one more
  size_t shared_bytes = 0;
  size_t slot_bytes = 0;

  Implementation(const ConvShape& s, ConvPass p, const ConvOptions& o)
      : shape(s), pass(p), options(o), parts(parts_of(s, p)) {
    const SingleThread single;  // the primitives are made for one thread
    const ConvShape part = part_shape(parts.size);
    unit = onednn::make_conv_unit(part, shape, pass, options, nullptr);
    if (parts.longer > 0) {
      const ConvShape more = part_shape(parts.size + 1);
      longer = onednn::make_conv_unit(more, shape, pass, options, &unit);
    }
    slot_bytes = std::max(unit.activation_bytes(), longer ? longer->activation_bytes() : 0);
    if (parts.axis == ConvAxis::Channels) {
      slot_bytes += unit.weights.copy_bytes();
    } else if (!sums_gradients()) {
      shared_bytes = unit.weights.copy_bytes();
    } else {
      shared_bytes = static_cast<size_t>(parts.count) * (weight_gradient_bytes() + bias_gradient_bytes());
    }
  }

  ConvShape part_shape(int64_t size) const {
    ConvShape part = shape;
    (parts.axis == ConvAxis::Images ? part.n : pass == ConvPass::BackwardInput ? part.ic : part.oc) = size;
    return part;
  }

  /// True iff every part leaves a gradient of all weights.
  bool sums_gradients() const {
    return pass == ConvPass::BackwardWeight && parts.axis == ConvAxis::Images && parts.count > 1;
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
    const bool weights_once = parts.axis == ConvAxis::Images && pass != ConvPass::BackwardWeight;
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

  /// Elements from the start of activations [n, c, pixels] to the part's, whose channels are the split ones or not.
  int64_t offset(int64_t part, bool split_channels, ConvLayout layout, int64_t c, int64_t pixels) const {
    const int64_t begin = parts.begin(part);
    if (parts.axis == ConvAxis::Channels) {  // blocks hold whole channel groups
      if (!split_channels) return 0;
      return layout == ConvLayout::ChannelsLast ? begin : begin * pixels;
    }
    if (layout != ConvLayout::Blocked) return begin * c * pixels;
    return begin * static_cast<int64_t>(blocked_bytes(1, c, 1, pixels) / 4);
  }

  void run_part(int64_t p, const ConvBuffers& buffers, float* weights, char* shared, char* slot) const {
    const ConvUnit& u = parts.is_longer(p) ? *longer : unit;
    const bool channels = parts.axis == ConvAxis::Channels;
    const bool input_channels = pass == ConvPass::BackwardInput;
    float* source = buffers.source + offset(p, input_channels, options.source, shape.ic, shape.input_pixels());
    float* destination =
        buffers.destination + offset(p, !input_channels, options.destination, shape.oc, shape.output_pixels());
    float* bias = buffers.bias;
    if (channels) {
      const int64_t taps = shape.taps();
      const int64_t input_step = options.weights == ConvLayout::ChannelsLast ? 1 : taps;
      weights += parts.begin(p) * (input_channels ? input_step : shape.ic * taps);
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

    dnnl::memory s(u.source.inner, engine(), inner_source), w(u.weights.inner, engine(), inner_weights);
    dnnl::memory d(u.destination.inner, engine(), inner_destination), scratch(u.scratchpad, engine(), slot);
    std::unordered_map<int, dnnl::memory> arguments = {{DNNL_ARG_SCRATCHPAD, scratch}};
    const bool to_source = pass == ConvPass::BackwardInput, to_weights = pass == ConvPass::BackwardWeight;
    arguments.emplace(to_source ? DNNL_ARG_DIFF_SRC : DNNL_ARG_SRC, s);
    arguments.emplace(to_weights ? DNNL_ARG_DIFF_WEIGHTS : DNNL_ARG_WEIGHTS, w);
    arguments.emplace(pass == ConvPass::Forward ? DNNL_ARG_DST : DNNL_ARG_DIFF_DST, d);
    if (options.bias && !to_source) {
      arguments.emplace(to_weights ? DNNL_ARG_DIFF_BIAS : DNNL_ARG_BIAS, dnnl::memory(u.bias, engine(), bias));
    }
    {
      const HeldSignals held;
      u.primitive.execute(stream(), arguments);
    }

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
    uint64_t hash = static_cast<uint64_t>(k.pass);
    for (int option :
         {static_cast<int>(k.options.bias), static_cast<int>(k.options.relu), static_cast<int>(k.options.source),
          static_cast<int>(k.options.destination), static_cast<int>(k.options.weights)})
      hash = hash * 4 + static_cast<uint64_t>(option);
    for (int64_t v : {s.n,  s.ic,       s.ih,       s.iw,       s.oc,    s.oh,         s.ow,         s.kh,
                      s.kw, s.stride_h, s.stride_w, s.pad_h,    s.pad_w, s.dilation_h, s.dilation_w, s.groups,
                      s.id, s.od,       s.kd,       s.stride_d, s.pad_d, s.dilation_d}) {
      hash = (hash ^ static_cast<uint64_t>(v)) * 0x9e3779b97f4a7c15u;
      hash ^= hash >> 29;
    }
    return hash;
  }
};

}  // namespace

std::shared_ptr<const ConvPlan> ConvPlan::get(const ConvShape& shape, ConvPass pass, ConvOptions options) {
  constexpr size_t kMostPlans = 1024;  // a program with more shapes than that starts over
  // Never destroyed: a thread may still compute while the process ends.
  static auto& plans = *new std::unordered_map<Key, std::shared_ptr<const ConvPlan>, KeyHash>;
  const std::lock_guard lock(fork_locks().convolution_plans);
  if (plans.size() >= kMostPlans) plans.clear();
  std::shared_ptr<const ConvPlan>& plan = plans[Key{shape, pass, options}];
  if (!plan) plan = std::make_shared<const ConvPlan>(shape, pass, options);
  return plan;
}

}  // namespace terra::cpu
