#include "kernels/cpu/convolution_unit.h"

#include <vector>

namespace terra::cpu {
namespace onednn {
namespace {

using dnnl::memory;
using Tag = memory::format_tag;
constexpr auto kF32 = memory::data_type::f32;

/// oneDNN's names of the layouts, of images or of volumes.
struct Tags {
  Tag plain, wide, narrow, channels_last;

  Tag blocked() const {
    static const bool is_wide = dnnl::get_effective_cpu_isa() >= dnnl::cpu_isa::avx512_core;
    return is_wide ? wide : narrow;
  }
};
constexpr Tags kImages{Tag::nchw, Tag::nChw16c, Tag::nChw8c, Tag::nhwc};
constexpr Tags kVolumes{Tag::ncdhw, Tag::nCdhw16c, Tag::nCdhw8c, Tag::ndhwc};

/// The spatial dimensions of `s` behind some others.
memory::dims with_space(const ConvShape& s, memory::dims first, int64_t d, int64_t h, int64_t w) {
  if (s.deep()) first.push_back(d);
  first.insert(first.end(), {h, w});
  return first;
}

/// oneDNN's choice of layout costs a conversion at both ends and is worth it, except where its kernels for plain
/// layouts (im2col, or the image itself as the matrix) do as well or its others are poor.
bool prefers_plain(const ConvShape& s, ConvPass pass) {
  if (s.groups != 1) return false;
  const bool pointwise = s.taps() == 1 && s.stride_d * s.stride_h * s.stride_w == 1 && s.pad_d + s.pad_h + s.pad_w == 0;
  if (pass == ConvPass::BackwardInput && s.ic < 8) return true;
  return pointwise && pass != ConvPass::BackwardWeight && s.output_pixels() >= 256;
}

Operand operand_of(const memory::desc& outer, const memory::desc& inner, bool written) {
  Operand operand{outer, inner, std::nullopt, written, {}};
  if (outer != inner) {
    dnnl::primitive_attr attributes;
    attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
    const dnnl::reorder::primitive_desc description(engine(), written ? inner : outer, engine(),
                                                    written ? outer : inner, attributes);
    operand.conversion.emplace(description);
    operand.scratchpad = description.scratchpad_desc();
  }
  return operand;
}

struct Layouts {
  memory::desc source, weights, destination;
};

class UnitBuilder {
 public:
  /// `whole` is the convolution that the part `s` is cut from.
  UnitBuilder(const ConvShape& s, const ConvShape& whole, ConvPass pass, const ConvOptions& options)
      : s_(s), whole_(whole), pass_(pass), options_(options), tags_(s.deep() ? kVolumes : kImages) {}

  ConvUnit build(const ConvUnit* same) const {
    const bool plain = prefers_plain(whole_, pass_);
    Layouts wanted;
    if (same != nullptr) {
      const auto like = [this](const memory::desc& other, memory::dims dims) {
        memory::dims others = dims;
        others[0] = other.dims()[0];
        for (Tag known : {tags_.plain, tags_.wide, tags_.narrow, tags_.channels_last}) {
          if (other == memory::desc(others, kF32, known)) return memory::desc(dims, kF32, known);
        }
        return memory::desc(dims, kF32, Tag::any);
      };
      wanted = {like(same->source.inner, source_dims(s_.ic)), same->weights.inner,
                like(same->destination.inner, destination_dims(s_.oc))};
    } else {
      wanted.source =
          memory::desc(source_dims(s_.ic), kF32, plain ? layout_tag(options_.source) : inner_tag(options_.source));
      wanted.destination = memory::desc(destination_dims(s_.oc), kF32,
                                        plain ? layout_tag(options_.destination) : inner_tag(options_.destination));
      wanted.weights = memory::desc(weight_dims(), kF32, Tag::any);
    }
    switch (pass_) {
      case ConvPass::Forward: return forward(wanted);
      case ConvPass::BackwardInput: return backward_input(wanted);
      default: return backward_weight(wanted);
    }
  }

 private:
  Tag layout_tag(ConvLayout layout) const {
    switch (layout) {
      case ConvLayout::Blocked: return tags_.blocked();
      case ConvLayout::ChannelsLast: return tags_.channels_last;
      default: return tags_.plain;
    }
  }
  /// What the primitive is asked to take where the caller's layout is not the best one.
  Tag inner_tag(ConvLayout layout) const { return layout == ConvLayout::Blocked ? tags_.blocked() : Tag::any; }
  memory::dims source_dims(int64_t channels) const { return with_space(s_, {s_.n, channels}, s_.id, s_.ih, s_.iw); }
  memory::dims destination_dims(int64_t channels) const {
    return with_space(s_, {s_.n, channels}, s_.od, s_.oh, s_.ow);
  }
  memory::dims weight_dims() const {
    if (s_.groups == 1) return with_space(s_, {s_.oc, s_.ic}, s_.kd, s_.kh, s_.kw);
    return with_space(s_, {s_.groups, s_.oc / s_.groups, s_.ic / s_.groups}, s_.kd, s_.kh, s_.kw);
  }
  memory::dims strides() const { return with_space(s_, {}, s_.stride_d, s_.stride_h, s_.stride_w); }
  memory::dims dilations() const { return with_space(s_, {}, s_.dilation_d - 1, s_.dilation_h - 1, s_.dilation_w - 1); }
  memory::dims padding() const { return with_space(s_, {}, s_.pad_d, s_.pad_h, s_.pad_w); }
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

  ConvUnit forward(const Layouts& wanted) const {
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

  ConvUnit backward_input(const Layouts& wanted) const {
    const dnnl::convolution_backward_data::desc d(dnnl::algorithm::convolution_direct, wanted.source, wanted.weights,
                                                  wanted.destination, strides(), dilations(), padding(), padding());
    const auto hint = hint_description();
    const dnnl::convolution_backward_data::primitive_desc description(d, attributes(), engine(), hint);
    return finish(dnnl::convolution_backward_data(description), description.diff_src_desc(), description.weights_desc(),
                  description.diff_dst_desc(), description.scratchpad_desc());
  }

  ConvUnit backward_weight(const Layouts& wanted) const {
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
        memory::desc(source_dims(s_.ic), kF32, Tag::any), memory::desc(weight_dims(), kF32, Tag::any),
        memory::desc(destination_dims(s_.oc), kF32, Tag::any), strides(), dilations(), padding(), padding());
    return {d, engine()};
  }

  /// Operands of the part where they lie in the whole: a slice of channels keeps the whole's stride between images.
  ConvUnit finish(dnnl::primitive primitive, const memory::desc& source, const memory::desc& weights,
                  const memory::desc& destination, const memory::desc& scratchpad) const {
    ConvUnit unit{std::move(primitive), {}, {}, {}, bias_desc(), scratchpad};
    unit.source = operand_of(outer(options_.source, source_dims(s_.ic), source_dims(whole_.ic)), source,
                             pass_ == ConvPass::BackwardInput);
    unit.destination = operand_of(outer(options_.destination, destination_dims(s_.oc), destination_dims(whole_.oc)),
                                  destination, pass_ == ConvPass::Forward);
    unit.weights = operand_of({weight_dims(), kF32, weight_strides()}, weights, pass_ == ConvPass::BackwardWeight);
    return unit;
  }

  /// Of the caller's weights, which are those of the whole, whatever channels the part has.
  memory::dims weight_strides() const {
    const int64_t inputs = whole_.ic / whole_.groups, taps = s_.taps();
    const bool last = options_.weights == ConvLayout::ChannelsLast;
    const int64_t tap = last ? inputs : 1;
    memory::dims first = {inputs * taps, last ? 1 : taps};
    if (s_.groups > 1) first.insert(first.begin(), s_.oc / s_.groups * inputs * taps);
    return with_space(s_, first, tap * s_.kh * s_.kw, tap * s_.kw, tap);
  }

  memory::desc outer(ConvLayout layout, const memory::dims& dims, const memory::dims& whole) const {
    const memory::desc of_whole(whole, kF32, layout_tag(layout));
    return dims == whole ? of_whole : of_whole.submemory_desc(dims, memory::dims(dims.size(), 0));
  }

  const ConvShape& s_;
  const ConvShape& whole_;
  ConvPass pass_;
  const ConvOptions& options_;
  const Tags& tags_;
};

}  // namespace

dnnl::engine& engine() {
  // Never destroyed: a thread may still compute while the process ends.
  static dnnl::engine& cpu = *new dnnl::engine(dnnl::engine::kind::cpu, 0);
  return cpu;
}

dnnl::stream& stream() {
  thread_local dnnl::stream of_this_thread(engine());
  return of_this_thread;
}

void Operand::convert(void* from, void* to) const {
  const memory source(written ? inner : outer, engine(), from), target(written ? outer : inner, engine(), to);
  std::vector<char> room(scratchpad.get_size());  // none was seen to want any
  conversion->execute(stream(), {{DNNL_ARG_FROM, source},
                                 {DNNL_ARG_TO, target},
                                 {DNNL_ARG_SCRATCHPAD, memory(scratchpad, engine(), room.data())}});
}

ConvUnit make_conv_unit(const ConvShape& part, const ConvShape& whole, ConvPass pass, const ConvOptions& options,
                        const ConvUnit* same) {
  return UnitBuilder(part, whole, pass, options).build(same);
}

}  // namespace onednn

size_t blocked_bytes(int64_t n, int64_t c, int64_t h, int64_t w) {
  return dnnl::memory::desc({n, c, h, w}, onednn::kF32, onednn::kImages.blocked()).get_size();
}

}  // namespace terra::cpu
