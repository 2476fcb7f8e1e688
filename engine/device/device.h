// A device: where memory is and work is done. A kind of hardware, and which one of its kind.
#pragma once
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

namespace terra {

/// Private: of a backend that the program that embeds Terra brings with it. Meta: of tensors that have a shape and a
/// dtype and no elements.
enum class DeviceKind : uint8_t { Cpu, Cuda, Private, Meta };
inline constexpr std::string_view kDeviceKindNames[] = {"cpu", "cuda", "privateuseone", "meta"};
inline constexpr int kDeviceKinds = std::size(kDeviceKindNames);
inline constexpr int kDevicesOfKind = 16;

struct Device {
  DeviceKind kind = DeviceKind::Cpu;
  uint8_t index = 0;

  bool is_cpu() const { return kind == DeviceKind::Cpu; }
  bool is_meta() const { return kind == DeviceKind::Meta; }
  friend bool operator==(Device a, Device b) = default;
};

inline constexpr Device kMetaDevice{DeviceKind::Meta};

/// "cpu", "cuda:0", "meta".
std::string to_string(Device device);

namespace detail {
inline constinit thread_local Device current_device;
}
/// Where ops of this thread make tensors that get none: the CPU unless a scope says otherwise.
inline Device current_device() { return detail::current_device; }

/// Makes a device current.
class DeviceScope {
 public:
  explicit DeviceScope(Device device) : before_(std::exchange(detail::current_device, device)) {}
  ~DeviceScope() { detail::current_device = before_; }
  DeviceScope(const DeviceScope&) = delete;

 private:
  const Device before_;
};

}  // namespace terra
