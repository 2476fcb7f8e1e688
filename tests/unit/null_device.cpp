#include "tests/unit/null_device.h"

#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <functional>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "engine/errors/errors.h"
#include "engine/memory/size_class.h"

namespace terra::test {
namespace {

/// Does jobs one after the other on a thread of its own, some of them late.
class LateQueue {
 public:
  LateQueue() : thread_([this] { work(); }) {}

  void put(std::function<void()> job) {
    {
      const std::lock_guard lock(mutex_);
      jobs_.push_back(std::move(job));
    }
    changed_.notify_all();
  }
  /// Returns when the queue is empty; throws what a job has thrown since the last time.
  void wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return jobs_.empty(); });
    if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
  }

 private:
  [[noreturn]] void work() {
    for (uint64_t n = 0;; ++n) {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return !jobs_.empty(); });
      const std::function<void()> job = std::move(jobs_.front());
      lock.unlock();
      if (n % 5 == 0) std::this_thread::sleep_for(std::chrono::microseconds(50));
      std::exception_ptr failure;
      try {
        job();
      } catch (...) {
        failure = std::current_exception();
      }
      lock.lock();
      jobs_.pop_front();
      if (failure && !failure_) failure_ = failure;
      lock.unlock();
      changed_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> jobs_;  ///< the first one is under way
  std::exception_ptr failure_;
  std::thread thread_;
};

/// Blocks of memory that is mapped twice.
class HiddenMemory {
 public:
  static constexpr size_t kBytes = size_t{4} << 30;  // of addresses; pages come as they are used

  HiddenMemory() {
    const int file = memfd_create("null device", 0);
    if (file < 0 || ftruncate(file, kBytes) != 0) throw std::runtime_error("no memory for the null device");
    front_ = static_cast<char*>(mmap(nullptr, kBytes, PROT_NONE, MAP_SHARED, file, 0));
    back_ = static_cast<char*>(mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0));
    if (front_ == MAP_FAILED || back_ == MAP_FAILED) throw std::runtime_error("no memory for the null device");
    close(file);
  }

  void* take(size_t bytes) {
    const memory::SizeClass cls = memory::size_class(bytes);
    const std::lock_guard lock(mutex_);
    auto& idle = idle_[cls.index];
    if (!idle.empty()) {
      void* block = idle.back();
      idle.pop_back();
      return block;
    }
    if (used_ + static_cast<size_t>(cls.bytes) > kBytes) throw std::bad_alloc();
    void* block = front_ + used_;
    used_ += static_cast<size_t>(cls.bytes);
    return block;
  }
  void give(void* block, size_t bytes) {
    const std::lock_guard lock(mutex_);
    idle_[memory::size_class(bytes).index].push_back(block);
  }

  /// Where the queue finds what is at an address of the device. Addresses of the host are refused.
  template <class T>
  T* behind(T* address) const {
    if (!address) return nullptr;
    const char* at = reinterpret_cast<const char*>(address);
    if (at < front_ || at >= front_ + kBytes) throw InternalError("the null device was given memory of the host");
    return reinterpret_cast<T*>(const_cast<char*>(at - front_ + back_));
  }

 private:
  char *front_, *back_;
  std::mutex mutex_;
  size_t used_ = 0;
  std::array<std::vector<void*>, memory::kClasses> idle_;
};

struct Machine {
  HiddenMemory memory;
  LateQueue queue;
};
Machine& machine() {
  static Machine& instance = *new Machine;  // its thread works until the process ends
  return instance;
}

/// A view with all that it refers to, at the address where the queue finds it.
struct KeptView {
  explicit KeptView(const View& v) : view(v) {
    if (!v.defined()) return;
    sizes.assign(v.sizes, v.sizes + (v.sizes ? v.rank : 0));
    strides.assign(v.strides, v.strides + (v.strides ? v.rank : 0));
    if (v.is_number) std::memcpy(number, v.data, size_of(v.dtype));
  }
  View get() {
    View v = view;
    v.sizes = sizes.data();
    v.strides = strides.data();
    if (v.defined()) v.data = v.is_number ? number : machine().memory.behind(v.data);
    return v;
  }

  View view;
  std::vector<int64_t> sizes, strides;
  alignas(16) char number[kMaxElementSize] = {};
};

/// The arguments of a call, once the caller's are gone.
class KeptArgs {
 public:
  explicit KeptArgs(std::span<const KernelArg> args) : args_(args.begin(), args.end()) {
    for (const KernelArg& a : args_) {
      for (const View& v : views_of(a)) kept_.emplace_back(v);
      if (a.kind == KernelArg::Kind::IntList) ints_.emplace_back(a.ints, a.ints + a.count);
      if (a.kind == KernelArg::Kind::String) texts_.emplace_back(a.chars, a.count);
    }
  }
  std::span<const KernelArg> get() {
    auto kept = kept_.begin();
    auto ints = ints_.begin();
    auto text = texts_.begin();
    for (KernelArg& a : args_) {
      if (const size_t count = views_of(a).size(); count > 0) {
        auto& views = views_.emplace_back();
        for (size_t k = 0; k < count; ++k) views.push_back((kept++)->get());
        a.views = views.data();
      }
      if (a.kind == KernelArg::Kind::IntList) a.ints = (ints++)->data();
      if (a.kind == KernelArg::Kind::String) a.chars = (text++)->data();
    }
    return args_;
  }

 private:
  std::vector<KernelArg> args_;
  std::deque<KeptView> kept_;
  std::deque<std::vector<int64_t>> ints_;
  std::deque<std::string> texts_;
  std::deque<std::vector<View>> views_;
};

std::vector<View> views_of(std::deque<KeptView>& kept) {
  std::vector<View> views;
  for (KeptView& k : kept) views.push_back(k.get());
  return views;
}

void* allocate(size_t bytes) {
  void* block = machine().memory.take(bytes);
  machine().queue.put([=] { std::memset(machine().memory.behind(block), 0xa5, bytes); });
  return block;
}

void release(void* block, size_t bytes) noexcept {
  machine().queue.put([=] {
    std::memset(machine().memory.behind(block), 0x5a, bytes);
    machine().memory.give(block, bytes);
  });
}

void copy_in(void* to, const void* host, size_t bytes) {
  if (bytes == 0) return;
  const auto* from = static_cast<const char*>(host);
  machine().queue.put([to, copy = std::vector<char>(from, from + bytes)] {
    std::memcpy(machine().memory.behind(to), copy.data(), copy.size());
  });
}

void copy_out(void* host, const void* from, size_t bytes) {
  if (bytes > 0) machine().queue.put([=] { std::memcpy(host, machine().memory.behind(from), bytes); });
  machine().queue.wait();
}

void copy(void* to, const void* from, size_t bytes) {
  if (bytes == 0) return;
  machine().queue.put([=] { std::memcpy(machine().memory.behind(to), machine().memory.behind(from), bytes); });
}

void clear(void* to, size_t bytes) {
  machine().queue.put([=] { std::memset(machine().memory.behind(to), 0, bytes); });
}

void launch(const Kernel& kernel, const KernelCall& call) {
  const auto outs = std::make_shared<std::deque<KeptView>>(call.out.begin(), call.out.end());
  const auto args = std::make_shared<KeptArgs>(call.args);
  machine().queue.put([&kernel, outs, args, workspace = call.workspace] {
    const std::vector<View> out = views_of(*outs);
    kernel.run({out, args->get(), {machine().memory.behind(workspace.bytes), workspace.size}});
  });
}

void launch_elementwise(const Kernel& kernel, const View& out, std::span<const View> inputs,
                        std::span<const KernelArg> params) {
  const auto kept = std::make_shared<std::deque<KeptView>>(inputs.begin(), inputs.end());
  kept->emplace_front(out);
  const auto attributes = std::make_shared<std::vector<KernelArg>>(params.begin(), params.end());
  machine().queue.put([&kernel, kept, attributes] {
    const std::vector<View> views = views_of(*kept);
    cpu_backend().launch_elementwise(kernel, views[0], {views.data() + 1, views.size() - 1}, *attributes);
  });
}

/// A group as it is at a launch, with its numbers.
struct KeptGroup {
  explicit KeptGroup(const FusedGroup& now) : group(now) {
    for (FusedGroup::Slot& s : group.slots) {
      if (s.kind != FusedGroup::Slot::Kind::Number) continue;
      auto& number = numbers.emplace_back();
      std::memcpy(number.data(), s.data, size_of(s.dtype));
      s.data = number.data();
    }
  }
  void run() {
    for (FusedGroup::Slot& s : group.slots)
      if (s.kind != FusedGroup::Slot::Kind::Number) s.data = machine().memory.behind(s.data);
    cpu_backend().prepare_fused(group)->launch();
  }

  FusedGroup group;
  std::deque<std::array<char, kMaxElementSize>> numbers;
};

class LateGroup final : public FusedKernel {
 public:
  explicit LateGroup(const FusedGroup& group) : group_(group) { cpu_backend().prepare_fused(group); }
  void launch() const override {
    machine().queue.put([kept = std::make_shared<KeptGroup>(group_)] { kept->run(); });
  }

 private:
  const FusedGroup& group_;
};

constexpr Backend kNull{
    .name = "null device",
    .allocate = allocate,
    .release = release,
    .copy_in = copy_in,
    .copy_out = copy_out,
    .copy = copy,
    .clear = clear,
    .find_kernel = find_kernel,
    .launch = launch,
    .launch_elementwise = launch_elementwise,
    .prepare_fused = [](const FusedGroup& group) -> std::unique_ptr<FusedKernel> {
      return std::make_unique<LateGroup>(group);
    },
    .synchronize = [] { machine().queue.wait(); },
};

}  // namespace

const Backend& null_backend() {
  static const bool once = (register_backend(kNullDevice, kNull), true);
  (void)once;
  return kNull;
}

Tensor on_null_device(const Tensor& tensor, std::map<Storage*, Ref<Storage>>& storages) {
  Ref<Storage>& storage = storages[tensor->storage.get()];
  if (!storage) {
    null_backend();
    storage = Storage::allocate(tensor->storage->bytes(), kNullDevice);
    copy_in(storage->data(), tensor->storage->data(), tensor->storage->bytes());
  }
  Tensor there = Tensor::view_of(storage, tensor.dtype(), tensor.sizes(), tensor.strides(), tensor->offset);
  there->wrapped_number = tensor->wrapped_number;
  return there;
}

Tensor on_null_device(const Tensor& tensor) {
  std::map<Storage*, Ref<Storage>> storages;
  return on_null_device(tensor, storages);
}

}  // namespace terra::test
