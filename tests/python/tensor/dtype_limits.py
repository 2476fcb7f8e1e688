# run: --torch
"""torch.finfo and torch.iinfo, and that there is one object for each device."""
import copy
import pickle

import torch

FLOATS = (torch.float16, torch.bfloat16, torch.float32, torch.float64)
INTS = (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64)


def raises(kind, sentence, call):
    try:
        call()
    except kind as error:
        assert str(error) == sentence, error
    else:
        raise AssertionError(sentence)


def numbers_are_on_the_edge():
    for dtype in FLOATS:
        limits = torch.finfo(dtype)
        one = torch.ones((), dtype=dtype)
        assert (one + limits.eps).item() == 1.0 + limits.eps and (one + limits.eps / 4).item() == 1.0
        assert torch.tensor(limits.max, dtype=dtype).isfinite() and limits.min == -limits.max
        assert torch.tensor(limits.max * (1 + 2.0 * limits.eps), dtype=dtype).isinf()
        assert limits.tiny == limits.smallest_normal == torch.tensor(limits.tiny, dtype=dtype).item()
        assert limits.bits == 8 * dtype.itemsize and f"torch.{limits.dtype}" == str(dtype)
    for dtype in INTS:
        limits = torch.iinfo(dtype)
        for edge in (limits.min, limits.max):
            assert torch.tensor(edge, dtype=dtype).item() == edge
        assert (torch.tensor(limits.max, dtype=dtype) + 1).item() == limits.min
        assert limits.max - limits.min == 2 ** limits.bits - 1 and f"torch.{limits.dtype}" == str(dtype)


def shown_and_kept():
    single = torch.finfo(torch.float32)
    assert repr(single) == ("finfo(resolution=1e-06, min=-3.40282e+38, max=3.40282e+38, eps=1.19209e-07, "
                            "smallest_normal=1.17549e-38, tiny=1.17549e-38, dtype=float32)")
    assert repr(torch.iinfo(torch.int8)) == "iinfo(min=-128, max=127, dtype=int8)"
    assert isinstance(single, torch.finfo) and isinstance(torch.iinfo(torch.uint8), torch.iinfo)
    assert single == torch.finfo() == torch.finfo(type=torch.float32) != torch.finfo(torch.float64)
    assert pickle.loads(pickle.dumps(single)) is single and copy.deepcopy(single) is single
    torch.set_default_dtype(torch.float64)
    assert torch.finfo() == torch.finfo(torch.float64)
    torch.set_default_dtype(torch.float32)


def wrong_dtypes():
    raises(TypeError, "torch.finfo() requires a floating point input type. Use torch.iinfo to handle 'int32'",
           lambda: torch.finfo(torch.int32))
    raises(TypeError, "torch.iinfo() requires an integer input type. Use torch.finfo to handle 'float32'",
           lambda: torch.iinfo(torch.float32))
    raises(TypeError, "torch.bool is not supported by torch.iinfo", lambda: torch.iinfo(torch.bool))
    raises(TypeError, "finfo(): argument 'type' (position 1) must be torch.dtype, not str", lambda: torch.finfo("float32"))


def devices():
    assert torch.device("cpu") is torch.device("cpu") is torch.device(torch.device("cpu")) is torch.ones(1).device
    assert torch.device("cuda", 1) is torch.device("cuda:1") != torch.device("cuda") != torch.device("cuda:0")
    assert hash(torch.device("cuda:1")) == hash(torch.device("cuda", 1))
    assert str(pickle.loads(pickle.dumps(torch.device("cuda:1")))) == "cuda:1"


tests = [numbers_are_on_the_edge, shown_and_kept, wrong_dtypes, devices]
for test in tests:
    test()
print(len(tests), "passed")
