// Builds the Python-free trace of a recording: what the frame does to tensors.
#pragma once
#include "graph/trace/trace.h"
#include "interpreter_hooks/bindings/observer.h"
#include "interpreter_hooks/recorder/recording.h"

namespace terra::capture {

class TraceBuilder {
 public:
  explicit TraceBuilder(Recording& recording) : recording_(recording) {}
  ~TraceBuilder() { detach(); }
  void begin() {}
  void detach() {}
  bool empty() const { return true; }
  Register output(Shadow&) { recording_.stop(Reason::GraphRefused); return -1; }
  void finish(Entry&) {}

 private:
  Recording& recording_;
};

}  // namespace terra::capture
