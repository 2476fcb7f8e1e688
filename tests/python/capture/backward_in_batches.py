"""Calls whose values decide what comes next can't wait for each other; their gradients can."""
import terra
import _terra_C as C
from terra import nn

C.capture_thrift(False)  # times of calls decide nothing
terra.manual_seed(0)


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.actor, self.critic = nn.Linear(4, 24), nn.Linear(24, 3), nn.Linear(24, 1)

    def forward(self, state):
        h = terra.relu(self.body(state))
        return terra.log_softmax(self.actor(h), -1), self.critic(h)


policy, seen, passed, gradients = Policy(), [], [], []
for episode in range(10):
    state, losses = terra.tensor([0.1, -0.2, 0.3, 0.0]), []
    for t in range(60):
        logs, value = policy(state)
        action = int(logs.argmax())
        losses.append(value.square() - logs[action])
        state = terra.tensor([0.1 * (t % 7), 0.2, 0.3 * action, value.item()])
    if episode == 8:  # a hook may tell in which order nodes are applied: then none waits
        hook = policy.body.weight.register_hook(lambda g: seen.append(g.norm()))
    policy.zero_grad()
    terra.cat(losses).mean().backward()
    gradients.append([p.grad.clone() for p in policy.parameters()])
    passed.append(terra.capture.stats()["backward"])
    if episode == 8:
        hook.remove()
        C.capture_mode("off")  # the last one is plain

runs, batches = (passed[7][what] - passed[6][what] for what in ("runs", "batches"))
assert runs >= 50, passed
assert runs >= 20 * batches, passed
assert passed[8] == passed[7], passed
assert len(seen) == 1
for found in gradients:
    assert all(terra.allclose(a, b, atol=1e-5) for a, b in zip(found, gradients[-1]))
