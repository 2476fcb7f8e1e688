// What the parts of a program consist of, said once for those who print it and those who read it.
#pragma once
#include <concepts>
#include <string_view>
#include <type_traits>

#include "graph/file/portable.h"

namespace terra::graph {

template <class T, class Record>
concept Is = std::same_as<std::remove_const_t<T>, Record>;

// ---- the words of enums, in their order ----------------------------------------------------------------------------

template <class E>
inline constexpr std::string_view kWords[1] = {};
template <>
inline constexpr std::string_view kWords<ProgramTensor::Role>[] = {"argument", "parameter", "buffer", "constant"};
template <>
inline constexpr std::string_view kWords<InputBinding::Kind>[] = {"tensor", "scalar", "tangent"};
template <>
inline constexpr std::string_view kWords<TensorSpec::Source>[] = {"input", "input_storage", "fresh", "constant"};
template <>
inline constexpr std::string_view kWords<ResultSpec::Kind>[] = {"tensor", "scalar", "none", "known"};
template <>
inline constexpr std::string_view kWords<GradientTarget::Kind>[] = {"input", "root", "function"};
template <>
inline constexpr const auto& kWords<DeviceKind> = kDeviceKindNames;
template <>
inline constexpr std::string_view kWords<SavedMemory::Kind>[] = {"input", "fresh", "apart"};

// ---- the fields of records: calls f(name, field) -------------------------------------------------------------------

template <Is<ProgramTensor> T, class F>
void each_field(T& x, F&& f) {
  f("name", x.name), f("role", x.role), f("dtype", x.dtype), f("sizes", x.sizes), f("strides", x.strides);
}

template <Is<InputBinding> T, class F>
void each_field(T& x, F&& f) {
  f("kind", x.kind), f("index", x.index), f("offset", x.offset), f("strides", x.strides);
  f("own_offset", x.own_offset);
}

template <Is<LoopedWrites> T, class F>
void each_field(T& x, F&& f) {
  f("output", x.output), f("each", x.each);
}

template <Is<StorageWrite> T, class F>
void each_field(T& x, F&& f) {
  f("input", x.input), f("output", x.output), f("versions", x.versions), f("looped", x.looped);
}

template <Is<TensorSpec> T, class F>
void each_field(T& x, F&& f) {
  f("source", x.source), f("index", x.index), f("dtype", x.dtype), f("sizes", x.sizes), f("strides", x.strides);
  f("offset", x.offset), f("from_input_offset", x.from_input_offset);
  f("leaf_requires_grad", x.leaf_requires_grad), f("retains_grad", x.retains_grad);
  f("is_inference", x.is_inference);
  f("versions", x.versions), f("looped", x.looped), f("apart", x.apart), f("apart_versions", x.apart_versions);
  f("spent", x.spent), f("grad_fn", x.grad_fn), f("leads_to", x.leads_to), f("view", x.view), f("base", x.base);
}

template <Is<ResultSpec> T, class F>
void each_field(T& x, F&& f) {
  f("kind", x.kind), f("index", x.index), f("known", x.known);
}

template <Is<GradWrite> T, class F>
void each_field(T& x, F&& f) {
  f("tensor", x.tensor), f("grad", x.grad);
}

template <Is<FlagWrite> T, class F>
void each_field(T& x, F&& f) {
  f("input", x.input), f("requires_grad", x.requires_grad);
}

template <Is<Device> T, class F>
void each_field(T& x, F&& f) {
  f("kind", x.kind), f("index", x.index);
}

template <Is<TensorMeta> T, class F>
void each_field(T& x, F&& f) {
  f("dtype", x.dtype), f("sizes", x.sizes), f("wrapped", x.wrapped), f("device", x.device);
}

template <Is<ProgramRoot> T, class F>
void each_field(T& x, F&& f) {
  f("spec", x.spec), f("part", x.part), f("place", x.place), f("meta", x.meta), f("grad_fn", x.grad_fn);
}

template <Is<GradientTarget> T, class F>
void each_field(T& x, F&& f) {
  f("kind", x.kind), f("index", x.index);
}

template <Is<SavedMemory> T, class F>
void each_field(T& x, F&& f) {
  f("kind", x.kind), f("index", x.index), f("meta", x.meta), f("maker", x.maker), f("place", x.place);
}

template <Is<SavingCalls> T, class F>
void each_field(T& x, F&& f) {
  f("roots", x.roots), f("targets", x.targets), f("memory", x.memory);
}

template <Is<PartWays> T, class F>
void each_field(T& x, F&& f) {
  f("leads", x.leads), f("saving", x.saving);
}

template <Is<ProgramPart> T, class F>
void each_field(T& x, F&& f) {
  f("roots", x.roots), f("targets", x.targets), f("ways", x.ways);
}

template <Is<Program::Gradient> T, class F>
void each_field(T& x, F&& f) {
  f("part", x.part), f("target", x.target), f("sizes", x.sizes), f("strides", x.strides);
}

template <Is<Program::FunctionResult> T, class F>
void each_field(T& x, F&& f) {
  f("spec", x.spec), f("part", x.part);
}

/// The graph has a text of its own, which comes last.
template <Is<Program> T, class F>
void each_field(T& x, F&& f) {
  f("inputs", x.inputs), f("tensors", x.tensors), f("results", x.results), f("writes", x.writes);
  f("grads", x.grads), f("flags", x.flags), f("generators", x.generators), f("asserts", x.asserts), f("cuts", x.cuts);
  f("calls", x.calls), f("roots", x.roots), f("parts", x.parts), f("functions", x.functions);
  f("gradients", x.gradients), f("first_gradient", x.first_gradient);
}

}  // namespace terra::graph
