"""Without tensor work the hook goes, and with it the hook comes back, to functions that were captured as well."""
import terra

resting = lambda: terra.capture.stats()["resting"]


def plain(i):
    return i + 1


def much_python():
    for i in range(400_000):
        plain(i)


def f(x):
    return x * 2 + 1


assert not resting()
much_python()
assert resting()
terra.ones(2)
assert not resting()
much_python()
much_python()
assert resting()  # it takes twice as long

replays = terra.capture.stats()["replays"]
for i in range(12):
    assert f(terra.ones(3) * i).tolist() == [2.0 * i + 1] * 3
assert not resting() and terra.capture.stats()["replays"] >= replays + 6
much_python()
much_python()
assert resting()  # what was captured is served again when the hook is back
replays = terra.capture.stats()["replays"]
for i in range(12):
    assert f(terra.ones(3) * i).tolist() == [2.0 * i + 1] * 3
assert not resting() and terra.capture.stats()["replays"] >= replays + 10
with terra.capture.mode("off"):
    much_python()
assert f(terra.ones(3)).tolist() == [3.0] * 3
large = terra.zeros(1 << 20)
assert terra.capture.stats()["peak_tensor_bytes"] >= 4 << 20
print("rest: ok")
