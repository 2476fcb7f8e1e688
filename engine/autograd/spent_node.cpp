#include "engine/autograd/spent_node.h"

#include "engine/autograd/autograd.h"
#include "engine/autograd/walk.h"
#include "engine/errors/errors.h"

namespace terra::autograd {

void fail_spent() {
  fail(ErrorKind::RuntimeError,
       "Trying to backward through the graph a second time (or directly access saved tensors after they have already "
       "been freed). Saved intermediate values of the graph are freed when you call .backward() or autograd.grad(). "
       "Specify retain_graph=True if you need to backward through the graph a second time or if you need to access "
       "saved tensors after calling backward.");
}

bool is_spent(const Tensor& t) {
  bool spent = false;
  each_node(history(t).node.get(), [&](const Node& node) { spent = spent || node.released(); });
  return spent;
}

}  // namespace terra::autograd
