# run: --capture=off
# run:
"""Values and gradients at NaN, at infinities and exactly at bounds; dtypes of bounds; shifts. Expected: PyTorch's."""
import operator

import terra
import terra.nn.functional as F

nan, inf = float("nan"), float("inf")
X = [nan, -1.0, 0.0, 0.5, 1.0, 2.0, inf, -inf]


def check(call, value, *gradients, inputs=(X,)):
    for _ in range(4):  # captured at last, where the run captures
        tensors = [terra.tensor(x, requires_grad=True) for x in inputs]
        result = call(*tensors)
        assert repr(result.tolist()) == repr(value), result.tolist()
        result.sum().backward()
        found = [t.grad.tolist() for t in tensors]
        assert repr(found) == repr(list(gradients)), found


def raises(kind, text, call):
    try:
        call()
    except kind as error:
        assert text in str(error), str(error)
    else:
        raise AssertionError(f"no {kind.__name__}")


# ---- a number as a bound binds what lies at it, a tensor shares with it ----
check(lambda x: x.clamp(0, 1), [nan, 0.0, 0.0, 0.5, 1.0, 1.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0])
check(lambda x: x.clamp(1, 1), [nan] + [1.0] * 7, [0.0] * 8)
check(lambda x: x.clip(min=0), [nan, 0.0, 0.0, 0.5, 1.0, 2.0, inf, 0.0], [0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0, 0.0])
check(lambda x: x.clamp_min(0), [nan, 0.0, 0.0, 0.5, 1.0, 2.0, inf, 0.0], [0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0, 0.0])
check(lambda x: x.clamp_max(1), [nan, -1.0, 0.0, 0.5, 1.0, 1.0, 1.0, -inf], [0.0, 1.0, 1.0, 1.0, 0.0, 0.0, 0.0, 1.0])
check(lambda x: x.clamp(nan, 1.0), [nan] * 8, [0.0] * 8)


def between(low, high, value, *gradients):
    check(terra.clamp, value, *gradients, inputs=(X, [low] * 8, [high] * 8))


between(
    0.0, 1.0, [nan, 0.0, 0.0, 0.5, 1.0, 1.0, 1.0, 0.0],
    [1.0, 0.0, 0.5, 1.0, 0.5, 0.0, 0.0, 0.0], [0.0, 1.0, 0.5, 0.0, 0.0, 0.0, 0.0, 1.0], [0.0, 0.0, 0.0, 0.0, 0.5, 1.0, 1.0, 0.0],
)  # fmt: skip
between(1.0, 0.0, [nan] + [0.0] * 7, [1.0] + [0.0] * 7, [0.0] * 8, [1.0] * 8)
between(
    0.5, 0.5, [nan] + [0.5] * 7,
    [1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0], [0.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0], [0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 0.0],
)  # fmt: skip
between(nan, 1.0, [nan] * 8, [1.0, 1.0, 1.0, 1.0, 1.0, 0.0, 0.0, 1.0], [0.0] * 8, [0.0] * 8)
between(0.0, nan, [nan] * 8, [1.0, 0.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.0], [0.0] * 8, [0.0] * 8)
check(
    lambda x, low: x.clamp_min(low), [nan, 0.0, 0.0, 0.5, 1.0, 2.0, inf, 0.0],
    [1.0, 0.0, 0.5, 1.0, 1.0, 1.0, 1.0, 0.0], [1.0, 1.0, 0.5, 0.0, 0.0, 0.0, 0.0, 1.0], inputs=(X, [0.0] * 8),
)  # fmt: skip

# ---- activations ----
check(F.hardtanh, [nan, -1.0, 0.0, 0.5, 1.0, 1.0, 1.0, -1.0], [1.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0])
check(F.relu6, [nan, 0.0, 0.0, 0.5, 1.0, 2.0, 6.0, 0.0], [1.0, 0.0, 0.0, 1.0, 1.0, 1.0, 0.0, 0.0])
check(lambda x: F.threshold(x, 0.0, 5.0), [nan, 5.0, 5.0, 0.5, 1.0, 2.0, inf, 5.0], [1.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0, 0.0])
check(F.softshrink, [nan, -0.5, 0.0, 0.0, 0.5, 1.5, inf, -inf], [1.0, 1.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0])
K = [nan, -3.0, 3.0, -1.5, 0.0, inf, -inf]
check(F.hardswish, [nan, -0.0, 3.0, -0.375, 0.0, inf, nan], [1.0, 0.0, 1.0, 0.0, 0.5, 1.0, 0.0], inputs=(K,))
sixth = terra.tensor(1 / 6).item()
check(F.hardsigmoid, [nan, 0.0, 1.0, 0.25, 0.5, 1.0, 0.0], [0.0, 0.0, 0.0, sixth, sixth, 0.0, 0.0], inputs=(K,))
S = [nan, -0.5, 0.5, 0.25, -2.0, inf, -inf]
check(F.hardshrink, [nan, 0.0, 0.0, 0.0, -2.0, inf, -inf], [1.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0], inputs=(S,))
for distance, values, slopes in (
    (lambda x: F.smooth_l1_loss(x, terra.zeros_like(x), reduction="none", beta=0.5), [0.25, 0.25, 0.0625, 1.75], [-1.0, 1.0, 0.5, -1.0]),
    (lambda x: F.huber_loss(x, terra.zeros_like(x), reduction="none", delta=0.5), [0.125, 0.125, 0.03125, 0.875], [-0.5, 0.5, 0.25, -0.5]),
):  # fmt: skip
    check(distance, [nan] + values + [inf, inf], [nan] + slopes + [slopes[1], slopes[0]], inputs=(S,))
check(lambda x: x.nan_to_num(1.0, 2.0, 3.0), [1.0, -0.5, 0.5, 0.25, -2.0, 2.0, 3.0], [0.0, 1.0, 1.0, 1.0, 1.0, 0.0, 0.0], inputs=(S,))
check(F.celu, [nan, 0.0, -0.0, 1.0, -1.0], [1.0, 1.0, 1.0, 1.0, 0.0], inputs=([nan, 0.0, -0.0, 1.0, -inf],))
check(F.elu, [nan, 0.0, 1.0, -1.0], [1.0, 1.0, 1.0, 0.0], inputs=([nan, 0.0, 1.0, -inf],))
assert F.softshrink(terra.tensor([-0.25])).tolist().__repr__() == "[-0.0]"

# ---- two operands ----
check(
    terra.fmax, [0.0, 0.0, 0.0, 0.5, 1.0, 2.0, inf, 0.0],
    [0.0, 0.0, 0.5, 1.0, 1.0, 1.0, 1.0, 0.0], [1.0, 1.0, 0.5, 0.0, 0.0, 0.0, 0.0, 1.0], inputs=(X, [0.0] * 8),
)  # fmt: skip
check(
    terra.fmin, [1.0, -1.0, 0.0, 0.5, 1.0, 1.0, 1.0, -inf],
    [0.0, 1.0, 1.0, 1.0, 0.5, 0.0, 0.0, 1.0], [1.0, 0.0, 0.0, 0.0, 0.5, 1.0, 1.0, 0.0], inputs=(X, [1.0] * 8),
)  # fmt: skip
check(lambda x, y: x.fmax(y), [nan, -1.0, 0.0, 0.5, 1.0, 2.0, inf, -inf], [1.0] * 8, [0.0] * 8, inputs=(X, [nan] * 8))
check(
    terra.logaddexp, [inf, inf, -inf, 1.0, nan], [nan, 1.0, nan, 1.0, nan], [nan, 0.0, nan, 0.0, nan],
    inputs=([inf, inf, -inf, 1.0, nan], [inf, -inf, -inf, -inf, 1.0]),
)  # fmt: skip

# ---- median ----
check(terra.median, nan, [0.0, 1.0, 0.0], inputs=([1.0, nan, 3.0],))
check(terra.median, 2.0, [0.0, 1.0, 0.0, 0.0], inputs=([1.0, 2.0, 9.0, 3.0],))
m = terra.tensor([[1.0, nan, 3.0], [4.0, 5.0, 6.0], [nan, nan, 0.0]])
for dim, keepdim, values, places in (
    (1, False, [nan, 5.0, nan], [1, 1, 0]), (0, False, [nan, nan, 3.0], [2, 0, 0]), (0, True, [[nan, nan, 3.0]], [[2, 0, 0]]),
):  # fmt: skip
    found = m.median(dim, keepdim)
    assert repr(found.values.tolist()) == repr(values) and found.indices.tolist() == places, found

raises(IndexError, "median(): Expected reduction dim 0 to have non-zero size.", lambda: terra.zeros(0, 3).median(0))
raises(IndexError, "kthvalue(): Expected reduction dim 0 to have non-zero size.", lambda: terra.zeros(0, 3).kthvalue(1, 0))
assert terra.zeros(0, 3).median(1).values.shape == (0,)

# ---- dtypes: bounds take part in promotion ----
i = terra.tensor([1, 5, 9])
for found, values, dtype in [
    (i.clamp(0.5, 1.5), [1.0, 1.5, 1.5], terra.float32), (i.clamp(max=2.5), [1.0, 2.5, 2.5], terra.float32),
    (i.clamp(2, 3.5), [2.0, 3.5, 3.5], terra.float32), (i.clamp(2, 6), [2, 5, 6], terra.int64),
    (i.to(terra.uint8).clamp(-1, 300), [1, 5, 9], terra.uint8), (i.clamp_min(2.5), [2.5, 5.0, 9.0], terra.float32),
    (i.to(terra.uint8).clamp_min(-1), [1, 5, 9], terra.uint8), (i.half().clamp(0.5, 3), [1.0, 3.0, 3.0], terra.float16),
    (terra.tensor([True, False]).clamp(2), [2, 2], terra.int64), (F.hardtanh(i), [1, 1, 1], terra.int64),
]:  # fmt: skip
    assert found.tolist() == values and found.dtype == dtype, found
raises(RuntimeError, "can't be cast to the desired output type", lambda: i.clamp_(0.5, 1.5))

# ---- round to decimals ----
x = terra.tensor([123.456, -0.0, nan, inf, 2.675, -1234.5])
for decimals, wanted in [
    (-1, [120.0, -0.0, nan, inf, 0.0, -1230.0]), (0, [123.0, -0.0, nan, inf, 3.0, -1234.0]),
    (2, [123.45999908447266, -0.0, nan, inf, 2.680000066757202, -1234.5]), (40, [nan] * 6),
]:  # fmt: skip
    assert repr(terra.round(x, decimals=decimals).tolist()) == repr(wanted), decimals
assert terra.tensor([123.456, 2.675]).half().round(decimals=3).tolist() == [123.4375, 2.67578125]
assert terra.tensor([1.25, 2.75]).round_(decimals=1).tolist() == terra.tensor([1.2, 2.8]).tolist()
y = terra.tensor([1.25, 2.75], requires_grad=True)
y.round(decimals=1).sum().backward()
assert y.grad.tolist() == [0.0, 0.0]
raises(NotImplementedError, "\"round_cpu\" not implemented for 'Long'", lambda: i.round(decimals=1))

# ---- shifts ----
FORMS = [
    (operator.lshift, operator.ilshift, terra.bitwise_left_shift, "bitwise_left_shift"),
    (operator.rshift, operator.irshift, terra.bitwise_right_shift, "bitwise_right_shift"),
]
LEFT, RIGHT = FORMS
for dtype, form, places, wanted in [
    (terra.int64, LEFT, 63, [-(2**63), -(2**63), 0]), (terra.int64, LEFT, 64, [0, 0, 0]), (terra.int64, LEFT, -1, [0, 0, 0]),
    (terra.int64, LEFT, terra.tensor([1, 2, 70]), [2, -12, 0]), (terra.int64, RIGHT, terra.tensor([1, 2, 70]), [0, -1, 0]),
    (terra.int32, LEFT, 31, [-(2**31), -(2**31), 0]), (terra.int32, LEFT, 32, [0, 0, 0]), (terra.int32, RIGHT, 100, [0, -1, 0]),
    (terra.int16, LEFT, 8, [256, -768, 25600]), (terra.int8, LEFT, 1, [2, -6, -56]), (terra.int8, LEFT, 7, [-128, -128, 0]),
    (terra.int8, RIGHT, 1, [0, -2, 50]), (terra.int8, RIGHT, 8, [0, -1, 0]), (terra.int8, RIGHT, -1, [0, -1, 0]),
    (terra.uint8, RIGHT, 1, [0, 126, 50]), (terra.uint8, RIGHT, 8, [0, 0, 0]), (terra.uint8, LEFT, 2, [4, 244, 144]),
]:  # fmt: skip
    operate, in_place, function, name = form
    a = terra.tensor([1, -3, 100]).to(dtype)
    for found in (operate(a, places), function(a, places), getattr(a, name)(places), in_place(a.clone(), places)):
        assert found.tolist() == wanted and found.dtype == dtype, (dtype, name, places, found)
    assert getattr(a, name + "_")(places) is a and a.tolist() == wanted
assert (3 << terra.tensor([1, 0, 70])).tolist() == [6, 3, 0] and (-5 >> terra.tensor([1, 0, 70])).tolist() == [-3, -5, -1]
assert (terra.tensor([True, False]) << 3).tolist() == [8, 0]
raises(NotImplementedError, "\"lshift_cpu\" not implemented for 'Float'", lambda: i << 1.5)
raises(NotImplementedError, "\"rshift_cpu\" not implemented for 'Bool'", lambda: terra.tensor([True]) >> True)

# ---- what a norm doesn't track, it doesn't count ----
bn = terra.nn.BatchNorm1d(2)
bn(terra.randn(4, 2))
bn.track_running_stats = False
bn(terra.randn(4, 2))
assert bn.num_batches_tracked.item() == 1
print("limits: ok")
