# run: --torch
"""Hooks around the state of optimizers: order, what they may change, and that handles take them off."""

import copy
import pickle

import torch

p = torch.nn.Parameter(torch.ones(2))
optimizer = torch.optim.Adam([p])
p.sum().backward()
optimizer.step()
plain = optimizer.state_dict()
seen = []


def note(name, result=None):
    def hook(*args):
        assert args[0] is optimizer
        seen.append((name, len(args)))
        return result(args[1]) if result else None

    return hook


handles = [
    optimizer.register_state_dict_pre_hook(note("before")),
    optimizer.register_state_dict_post_hook(note("after", lambda state: {**state, "more": 1})),
    optimizer.register_state_dict_post_hook(note("first"), prepend=True),
    optimizer.register_load_state_dict_pre_hook(note("load", lambda state: {k: v for k, v in state.items() if k != "more"})),
    optimizer.register_load_state_dict_post_hook(note("loaded")),
]
state = optimizer.state_dict()
assert state["more"] == 1 and state["param_groups"] == plain["param_groups"]
assert seen == [("before", 1), ("first", 2), ("after", 2)], seen
seen.clear()
optimizer.load_state_dict(state)
assert seen == [("load", 2), ("loaded", 1)] and torch.equal(optimizer.state[p]["exp_avg"], plain["state"][0]["exp_avg"])
for handle in handles:
    handle.remove()
seen.clear()
optimizer.load_state_dict(optimizer.state_dict())
assert not seen and "more" not in optimizer.state_dict()

# A hook may change the dict that it gets, which is not the caller's.
optimizer.register_load_state_dict_pre_hook(lambda o, state: state.update(param_groups=plain["param_groups"]))
given = {"state": plain["state"], "param_groups": []}
optimizer.load_state_dict(given)
assert given["param_groups"] == [] and len(optimizer.param_groups) == 1
assert copy.deepcopy(optimizer).state_dict().keys() == pickle.loads(pickle.dumps(torch.optim.SGD([p]))).state_dict().keys()
print("5 passed")
