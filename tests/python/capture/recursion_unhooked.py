"""A function that calls itself and was given up runs without the hook: there is nothing for capture to find. What is
captured elsewhere is served as before."""
import terra
import _terra_C as C


def sort(t):
    """Of lengths that hardly come again: given up by its misses."""
    if t.numel() <= 1:
        return t
    first, rest = t[0], t[1:]
    return terra.cat([sort(rest[rest < first]), first[None], sort(rest[rest >= first])])


def step(x):
    return terra.nn.functional.gelu(x * 2 + 1).sum() * 3


def served_steps():
    """Whatever times say."""
    C.capture_thrift(False)
    before = terra.capture.stats()["replays"]
    for i in range(60):
        step(terra.ones(8) * i)
    C.capture_thrift(True)
    return terra.capture.stats()["replays"] - before


terra.manual_seed(0)
lists = [terra.rand(200) for _ in range(40)]
C.capture_thrift(False)  # whatever the times: it is seen to call itself
for t in lists[:2]:
    sort(t)
C.capture_thrift(True)
for t in lists[:20]:
    assert terra.equal(sort(t), t.sort()[0])
assert C.capture_frame(sort)["state"] == "given up", C.capture_frame(sort)
before = terra.capture.stats()["frames_seen"]
for t in lists[20:]:
    sort(t)
seen = terra.capture.stats()["frames_seen"] - before
assert seen < 20 * 60, seen  # of some 20 * 250

served_steps()
for t in lists:
    sort(t)
    assert served_steps() >= 40
try:
    sort([])
except AttributeError:  # on the way through such a call
    pass
assert served_steps() >= 40
with terra.capture.mode("off"):
    sort(lists[0])
    assert served_steps() == 0
assert served_steps() >= 40
print("recursion unhooked: ok")
