// What the host decides for a call: numbers and handles of its structure, and how they are read.
//
//   struct Tree { int64_t word; const Tree *left, *right; };
//   const HostRead<const Tree*(const Tree*)> left("left", [](const Tree* t) { return t->left; });
//
// In the body of a SubGraph, `left(tree)` is a node that reads the structure when a call runs.
#pragma once
#include <functional>
#include <span>
#include <string>
#include <type_traits>

#include "graph/ir/handle.h"
#include "graph/ir/value.h"

namespace terra {

/// A number or a handle in the body of a SubGraph: what it is, the host says when a call runs.
class HostSymbol {
 public:
  HostSymbol(graph::ValueId id, graph::ValueMeta meta) : id_(id), meta_(std::move(meta)) {}

  graph::ValueId id() const { return id_; }
  const graph::ValueMeta& meta() const { return meta_; }
  /// The number as a tensor without dimensions (bool, int64, float64): an index, for instance.
  Tensor as_tensor() const;
  /// The number as Python's would be: it decides no dtype.
  Tensor as_number() const;

 private:
  graph::ValueId id_;
  graph::ValueMeta meta_;
};

namespace recursive {

using HostFunctionObject = std::function<graph::HostValue(std::span<const graph::HostValue> args)>;

/// Host functions of C++ programs have numbers from here on; those below belong to whoever else supplies some.
inline constexpr uint32_t kFirstHostFunction = 1u << 24;

/// Gives a function its number, for the life of the process. May be called on any thread.
uint32_t add_host_function(HostFunctionObject function);
/// Makes graphs find these functions, besides those of whoever supplies others.
void install_host_functions();

/// How a C++ type is passed to and from the host: pointers as handles, numbers as scalars.
template <class T>
graph::ValueMeta host_meta() {
  if constexpr (std::is_pointer_v<T>) {
    graph::ValueMeta handle;
    handle.kind = graph::ValueKind::Handle;
    return handle;
  } else if constexpr (std::is_same_v<T, bool>) {
    return graph::ValueMeta::number(Scalar::Kind::Bool);
  } else if constexpr (std::is_integral_v<T>) {
    return graph::ValueMeta::number(Scalar::Kind::Int);
  } else {
    static_assert(std::is_floating_point_v<T>, "a host read takes and gives pointers and numbers");
    return graph::ValueMeta::number(Scalar::Kind::Float);
  }
}

template <class T>
T from_host(const graph::HostValue& value) {
  if constexpr (std::is_pointer_v<T>)
    return static_cast<T>(std::get<graph::Handle>(value).get());
  else if constexpr (std::is_same_v<T, bool>)
    return std::get<Scalar>(value).to_bool();
  else if constexpr (std::is_integral_v<T>)
    return static_cast<T>(std::get<Scalar>(value).to_int());
  else
    return static_cast<T>(std::get<Scalar>(value).to_double());
}

template <class T>
graph::HostValue to_host(const T& value) {
  if constexpr (std::is_same_v<T, Tensor>)
    return value;
  else if constexpr (std::is_pointer_v<T>)
    return graph::Handle(const_cast<void*>(static_cast<const void*>(value)));
  else if constexpr (std::is_same_v<T, bool>)
    return Scalar(value);
  else if constexpr (std::is_integral_v<T>)
    return Scalar(static_cast<int64_t>(value));
  else
    return Scalar(static_cast<double>(value));
}

/// Emits the node into the body that is being written. Throws for operands that aren't of these kinds.
HostSymbol read_host(const std::string& name, uint32_t function, std::span<const graph::ValueMeta> takes,
                     const graph::ValueMeta& gives, std::span<const HostSymbol> operands);

}  // namespace recursive

template <class Signature>
class HostRead;

/// A function of the host that reads its structure: from handles and numbers to one of them.
template <class R, class... A>
class HostRead<R(A...)> {
 public:
  HostRead(std::string name, std::function<R(A...)> read)
      : name_(std::move(name)), function_(recursive::add_host_function([read](std::span<const graph::HostValue> args) {
          return call(read, args, std::index_sequence_for<A...>());
        })) {}

  template <class... S>
  HostSymbol operator()(const S&... operands) const {
    const graph::ValueMeta takes[] = {recursive::host_meta<A>()...};
    const HostSymbol given[] = {operands...};
    return recursive::read_host(name_, function_, takes, recursive::host_meta<R>(), given);
  }

 private:
  template <size_t... I>
  static graph::HostValue call(const std::function<R(A...)>& read, std::span<const graph::HostValue> args,
                               std::index_sequence<I...>) {
    return recursive::to_host(read(recursive::from_host<A>(args[I])...));
  }

  std::string name_;
  uint32_t function_;
};

}  // namespace terra
