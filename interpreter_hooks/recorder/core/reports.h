// The way from the engine's reports into the recorder.
#pragma once
#include "interpreter_hooks/bindings/calls/observer.h"
#include "interpreter_hooks/recorder/core/recording.h"

#include <utility>

namespace terra::capture {

/// Hands each report on, below the shield that every way into the recorder has: an engine call neither ends nor begins
/// with an exception that is the recorder's.
class Reports final : public hooks::OpObserver {
 public:
  Reports(Recording& recording, hooks::OpObserver& to) : recording_(recording), to_(to) {}

  void on_call(const hooks::CallReport& report) override {
    hand_on([&] { to_.on_call(report); });
  }
  void on_item(PyObject* tensor, PyObject* value) override {
    hand_on([&] { to_.on_item(tensor, value); });
  }
  void on_truth(PyObject* tensor, bool value) override {
    hand_on([&] { to_.on_truth(tensor, value); });
  }
  void on_metadata(PyObject* tensor, const char* attribute, PyObject* value, int64_t dim) override {
    hand_on([&] { to_.on_metadata(tensor, attribute, value, dim); });
  }
  void on_grad_read(PyObject* tensor, PyObject* value) override {
    hand_on([&] { to_.on_grad_read(tensor, value); });
  }
  void on_grad_write(PyObject* tensor, PyObject* value) override {
    hand_on([&] { to_.on_grad_write(tensor, value); });
  }
  void before_backward() override {
    hand_on([&] { to_.before_backward(); });
  }
  void on_backward(const hooks::BackwardReport& report) override {
    hand_on([&] { to_.on_backward(report); });
  }
  void on_grad(const hooks::BackwardReport& report) override {
    hand_on([&] { to_.on_grad(report); });
  }
  void on_function(const void* node, const char* name, std::span<PyObject* const> inputs,
                   std::span<PyObject* const> outputs, bool saves) override {
    hand_on([&] { to_.on_function(node, name, inputs, outputs, saves); });
  }
  void on_history(PyObject* tensor, const void* node, unsigned index, PyObject* result) override {
    hand_on([&] { to_.on_history(tensor, node, index, result); });
  }
  void on_hook(PyObject* tensor, const void* hooks, bool first, PyObject* handle) override {
    hand_on([&] { to_.on_hook(tensor, hooks, first, handle); });
  }
  void on_retain_grad(PyObject* tensor) override {
    hand_on([&] { to_.on_retain_grad(tensor); });
  }
  void on_history_read(PyObject* tensor) override {
    hand_on([&] { to_.on_history_read(tensor); });
  }
  void on_data(PyObject* tensor, PyObject* data) override {
    hand_on([&] { to_.on_data(tensor, data); });
  }
  void on_data_write(PyObject* tensor, PyObject* data) override {
    hand_on([&] { to_.on_data_write(tensor, data); });
  }
  void on_callback(const void* owner, std::span<PyObject* const> gradients, PyObject* node) override {
    hand_on([&] { to_.on_callback(owner, gradients, node); });
  }
  void on_callback_done(const void* owner, std::span<PyObject* const> results) override {
    hand_on([&] { to_.on_callback_done(owner, results); });
  }
  void on_construct(PyObject* data, PyObject* tensor) override {
    hand_on([&] { to_.on_construct(data, tensor); });
  }
  void on_requires_grad(PyObject* tensor, bool value) override {
    hand_on([&] { to_.on_requires_grad(tensor, value); });
  }
  void on_grad_mode(GradientModes modes) override {
    hand_on([&] { to_.on_grad_mode(modes); });
  }
  void on_mode_read() override {
    hand_on([&] { to_.on_mode_read(); });
  }
  void on_opaque(const char* what, PyObject* tensor) override {
    hand_on([&] { to_.on_opaque(what, tensor); });
  }

 private:
  template <class F>
  void hand_on(F report) {
    if (recording_.alive()) recording_.shielded(report);
  }

  Recording& recording_;
  hooks::OpObserver& to_;
};

}  // namespace terra::capture
