# run: --torch
"""Functions of complex numbers, tensors and Python's own, give the same captured as plain: numbers that change between calls,
items, truths, writes to parts, views of either kind, gradients, what raises."""

import cmath
import math

import _terra_C as C
import terra
import torch

C.capture_thrift(False)  # times of calls decide nothing
T = torch.tensor
Z = T([[0.3 - 0.4j, 1.2 + 0.5j], [-0.7 + 0.1j, 2.0 - 1.5j]])


def scaled(z, number):
    return z * number + number


def with_constant(z):
    return z * (2 - 1j) + 0.5j


def by_item(z):
    total = z.sum().item()
    return z / total, total.real


def by_truth(z):
    if z[0, 0]:
        return z.abs()
    return z.imag


def by_part(z):
    if z.real.sum() > 0:
        return z * 1j
    return z.conj()


def writes(z, x):
    z = z.clone()
    z.real.mul_(x)
    z.imag = z.real + 1
    torch.view_as_real(z)[0, 0] = 7.0
    z[1] = 1 - 1j
    z += 2j
    return z


def writes_argument(z):
    z.imag.add_(1)
    z.mul_(1j)
    return z


def pairs(x):
    z = torch.view_as_complex(x)
    z.mul_(1j)
    return x * 2, z.abs()


def looped(z):
    for k in range(3):
        z = z * z + 1j * k
    return z


def by_builtin(z, x):
    total, number = complex(x.sum()), complex(1.5, x.size(0))
    return z * number + abs(number) * cmath.exp(number).imag, total, number.conjugate()


def transformed(z):
    spectrum = torch.fft.fft(z)
    spectrum[..., 1:] = 0
    return torch.fft.ifft(spectrum).real, torch.fft.rfft(z.real).angle()


def learned(z, w):
    w = w.detach().requires_grad_()
    loss = ((z @ w).abs() ** 2).sum() + (w.real * w.imag).sum()
    loss.backward()
    return loss.detach(), w.grad


def grown(z, n):
    return torch.cat([z] * n).cumsum(0) if n else torch.zeros(0, dtype=z.dtype)


def refused(z):
    return z < z


def mixed(z, x):
    return torch.where(x > 0, z, x), torch.complex(x, z.imag), z.to(torch.complex128) + x


X = T([[0.5, -1.5], [2.0, 1.0]])
W = T([[1.0 + 1j, 2.0], [0.5j, -1.0]])
CALLS = {
    scaled: [(Z, 2 + 1j), (Z, 1j), (Z, 3.0), (Z, 2), (Z.real, 1j), (Z, 2 - 1j), (Z, True), (Z, complex(math.inf, 0))],
    with_constant: [(Z,), (Z.cdouble(),), (Z.real,), (Z[0],)],
    by_item: [(Z,), (Z * 1j,), (Z + 1,), (Z.cdouble(),)],
    by_truth: [(Z,), (0 * Z,), (Z * 1j,), (0 * Z,)],
    by_part: [(Z,), (-Z,), (Z * 2,), (-Z,)],
    writes: [(Z, X), (Z * 2, X), (Z, X + 1)],
    writes_argument: [(Z,), (Z * 2,), (Z.t(),)],
    pairs: [(X,), (X * 2,), (torch.stack([X, X]),)],
    looped: [(Z,), (Z * 0.5,), (Z[0],)],
    by_builtin: [(Z, X), (Z, X * 2), (Z, -X), (Z[:1], X[:1])],
    transformed: [(Z,), (Z * 2,), (torch.cat([Z, Z], 1),)],
    learned: [(Z, W), (Z * 2, W), (Z, W + 1)],
    grown: [(Z, 1), (Z, 3), (Z, 2), (Z, 0)],
    refused: [(Z,), (Z.cdouble(),)],
    mixed: [(Z, X), (Z * 2, X), (Z.cdouble(), X.double())],
}


def flat(value):
    if isinstance(value, torch.Tensor):
        return [str(value.dtype), list(value.shape), *value.detach().flatten().tolist()]
    if isinstance(value, (tuple, list)):
        return [v for part in value for v in flat(part)]
    return [value]


def close(a, b):
    if isinstance(a, (int, float, complex)) and not isinstance(a, bool):
        return type(a) is type(b) and (a == b or a != a and b != b or abs(a - b) <= 1e-5 * max(1, abs(a)))
    return a == b


def copied(arguments):
    return [a.clone() if isinstance(a, torch.Tensor) else a for a in arguments]


passed, plain = 0, {}
for number, (function, calls) in [*enumerate(CALLS.items())] * 7:  # here rather than in a function, which would be captured
    for place, arguments in enumerate(calls):
        given = copied(arguments)
        with terra.capture.mode("auto" if (number, place) in plain else "off"):
            try:
                result = function(*given)
            except Exception as error:  # noqa: BLE001
                result = [type(error).__name__, str(error)]
        got = flat(result) + flat(given)
        want = plain.setdefault((number, place), got)
        assert len(got) == len(want) and all(map(close, got, want)), f"{function.__name__}{arguments}:\n{got}\nplain:\n{want}"
        passed += 1
stats = {f["name"]: f for f in terra.capture.stats()["frames"]}
captured = {name for name, f in stats.items() if f["state"] == "captured"}
for function in (scaled, with_constant, by_part, writes, writes_argument, pairs, looped, transformed, learned, mixed):
    assert function.__name__ in captured, (function.__name__, stats.get(function.__name__))
print(f"{passed} passed")
