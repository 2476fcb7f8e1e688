# run: --torch
# timeout: 240
"""The format from before archives, places of storages, mapped files, plain pickles. The files below were written by PyTorch 2.15."""

import base64
import io
import mmap
import os
import pickle
import random
import tempfile
import warnings
import zlib

import torch
from torch import nn

LEGACY = """
eNp1k1lzEkEQx/eAkKxJjLfxjDd4ICxLAI2SS4xuzo3HehXFMQlYC0svQ8pYlSpeEhM/gw8++jH8KL76EazywR5mIW5cF2Zgenv+v+7p6bb0WbF+f8n9Gn
v/bXk02pYWfso4b4EQNkcEQWg4NrVLtpXfIE6zatdBRAdzCN9YVUotkif1crVQB2nXVNBINxsk36x+JE2QtyAQNoNobFZsh0JQl0wZV9U6hT49YAaYhl1f
h5AeaLW6TGZtFNBdLFHbKVWi+RatWk0l75Biq2qV85TUm7aT31AVkMJhM8T00bOwTkDmW5ScZRfoKjcqEDCH0SejJTQ1lkyribiaGYdgJ5RSo4WhDC5SCK
3okh7Yhn5d3IaBvRJmbJESxYSbypJTJg4pz1ZLVAElYsAhCoMGDJl9LOGWUydlGK5gMBW54gs7XOGQkRVd0AO6vANHdFEP7MDRvQrTO0bhuAEnOrlXCtYa
nORqbjpzaOplc+oAQNViMTiNAAkBowwgbcMZlsVZLn6OwnkDLpj9uK24xk4mPg4XPYDpHDf3IGNeSBI/abjkQi67kCsMcpVDrlG4bsANc4BXr1AjlDgQ/k
8Jex4KRPzPLZlIxVW46RJvucTbjHiHE6MU7hoQ2+0s4p9ANSCxf6U0T37zaOrlluyR4hktnhpPJdMajLuklEtKM1KGk+5RuG/AROcmk1qDbsKDf4JGKTWG
kWdUeIhSAkplmZTAij2py7q4A1NcbprCjAGznYtbsmsNi3yAR55wZ7jVe4tznrDTKU1LqPAYWSKy5hgLI37Cpqeco1OYN2ChcyZF27Zg0VtzNPXElzzimV
Q8oWmw7IqvuOIGm1a5+DMKzw140emAeqtWxGK/9DsUpqWl02C6Wq9QKxLhGq8pvDHgLev8d6zzfcoi+iUt+QUr+1F96xP069A+v64K+XVBv99FHSBRSeCP
6P4eXAtCO4vTZHct7r8QJrt/BoW/H74BvzjaOL7i+I7jB/OfEoQRHGM4YlNdmDAhTEi93e2s5NFqZ/8AjudvJg==
"""
ARCHIVE = """
eNqlVktsG0UYHj+TmJJHG5o2hVAoUAdaZ22vH2nTONmUpbCFJtuWmnCwNvYmtlh789vj0CIVRUIJVOoBIQ6cql564VKpF0AVomcuqEjcQCBx4sSNEwdmdt
buzuRhEo88u/Jovu//Zuaf7995LRBEqLcXbWmD6CAy6sVyZc2cKBnYiK1+YKlKP1rk2rr/JqBonnCgVaOOwVfENgHFCk1csRqRQt1calasUgGbtYZdL6wl
IuCPRvM9ZH6DzDRWTAgwSES1bANfZoMRCOZ9ZI4EoXyAvIurTQhrBzD0LGh+LbgBvZpvA/puFYu2ZZlFXLFrjcilesmsm6XzlSKOQGRch6cwHNDh6XyYMO
BmvWaWoL9MwpcD5WA5VHYIBxY0pAW1wCYMaj4tuAlDt8oUexDDIR2GnZWVDWsZnmFIV+wFMtTWetjRGocRQunHcIRS+jfgKNU4yuiOYXhWh+fydKOXlulK
42kY4ygVlQ23aZ93aBNwnNG+4NK+SGlPMNqXMLyswyv5Prb/RtXEZh1O7nAI7RkRiLb2wYmRhHEW41U3xms0xikW4zSGmA4Tnzl/pE8hrkPC2RbLrq1Akl
vDRTLU1i873DKkGHfa5c5Q7izjnsRwRoez+RCZaFZX8Q2Y4oSl4BwBIwzTFIzoMeW0gObbhBlGMItB0WHOSaiiXV21zOtwnpM0x0b57HrdYU+DSth9GN6g
7ETVBfp4kzG/hUHT4aKz0iXbtuBt/rTIUJvuHYcuA5cY3bxLt0AfOqO7jOGKDledXKw1q0vkmN7llpqFawydJ+jxcYZ6D8OiDu83Y/NaT+/Drx/OlsltoH
1+x3s7gg61721s2a5XDVxYM+sNckVUZUC4votxSvzN379+QiXQvjPxKMo8IXYvb8GwKiu1qlnDqpIUuf9PS8tUQO5D+MtPQvh3FTCEcm0BSzewadP7ripn
9xO31awKxpZJNWyc+/MoPZzwrhr60TTnihOSqpzpQgBjXc+Rxwz5kb5O+l3SH5H+B+lolngx6cdJl2ap0us3l6clao4dlA7zSuOqMrhFKZpCU5TT/mHxBM
30YAfOGZ4zoSpT3Wz/4npuPUfj//vxT7V9xE92G5/tPdPw+UL4Fxq0t4OGKV6DrCrZfWvwuax+9011fPfbP6T6IqczHWhbHTKvI6Uq0p517CF/0tvmj5u7
VPfavVxsH/uX6Wr/aOBjv4fudfavfjTHB86qSq6r5GH311n77TtfXeucvwMeB2t7clf+lYzQ6I/vrFzt7J9jKPHEwJ0daJj1CnHwjwz6AVWolFQltkcxUn
wyk8mmpWQqmUxPJqS4LCclWcpkEvG0LMmT6VQqM5lOp6jK73/UHkSJjqij0uekfEunt7YNblEufoeKaG8BG+GQ3wbQTtVQJPEWoVG+8ATRLpVP5PEWkiGO
5wsPT7uAiXCvu/dz8MMhJNQeEet1cR77SMTGRazXgXnscFjAJkSs1zl57JciNilivW7HY4/0CFi5hd3eD73trohNiXG9bsVj6RDvfCLWazg8Ni9iMyLW6x
Q89rGIzYpY7z0f4LBX+pDoLCLYe/3GOPDPHvD2xjCvhcOnWjYSOO0xNP59P+AmcaRVzsL0yxyddFfKHDoUZpgBZz6b+x+jhzQq
"""
PICKLE = """
eNrt1ltz00YUB3BJdi6oDddyK6Wl0IvTgmvJdmK3tHEhpBdxXS4VVyHLm1iMIvkvrRnSGWbyohT4DDzw2H4EZnhyvlh3vRaJmYTmNZl6PCutdLzS+e2Z9S5rT6EU
7BFFUeaDyGVQPRbFXrvodJkfJLoT02bXD1oOo2ESxc5jU4dWGMQk/OAuUN3hv2w583G06DSXGE105DzHi1rUS3QaihMdefuUqii9Za33Qg9W3/Rezq2+PvGo9/fV
o0V+8dLqPzlx7L/MXv4ynThikRcFzmMaJ34UQhUh9gS/FfiMBdShYct3Q2i9Z7bOr7KlDnUS/0+aIPcUeZlS0o5ihhFLs3O854cMo1bezotBonABY1a+2xWPLdhj
IlqmA0Wmp88JkOuDHKHau3lMvVI3SlXDqJaNWq0GObDX6SJnjV5myF8Tw92HslGw6hZHlfWf3vIMbxv82xAd0bxqYMQWUYHL/NDA6ArGCMZT7CLQLcXSrNwKPrBy
lrqCD597XCigHuNAiX4lbtGYtmZ9j+mYmCTYzbCHYG9/ONaNQ9rCvrZWaOfa/0/GVidjf5vPwAGCj1IcJDhkqXwGtBUc5id8Io48bwvoowwfExxby+WTjPnwdmO+
yGM2VDZLFbNcNswhZW0T5bfBXFkb+KqDY9bHcUH7KcFnKU4QfC6KO8VJS01xSrJ+wfAlwVf2OI9u9lcnYwpfZ7R7thvtuTmZwka8lVLFmDanp2pb4V0LXserzCgN
FAQpl/smxbcEpyXpGUFalKTfMZQIjP4zopDCzDT3bTfN2ajbDOjmpVqpTg1Zqu8rVRHMLdWhBWG8gbLwrBBUU0wRTFvK5KR0rDHUCb63dwkNN3YXKaMxftjkv/Nt
hI6zGfj+HbMAi3KsG+W6udXalcHra1cuvrzBj0L8J4KZFA2Cn2UFnxMVfF7KzzJcIJh71u/88hd+JfhN5kDdefye8U7sLF6zbJa2Us5rwUPlLGQtIXuR4FKKywRX
uCxHvSqaaxKTMFwnuNHPhS522BJuZprjO0mzVDfN0vBCq2yqOQjmmpklbgnIPwjsFLcJ7nBIRWwJ7vKdAd+U3ZNlep/hAYHTfzkvWuwE9AkeZpxHthvneZnBf6hW
39kdqO9Trcrdgfru/guu4G0SeClaBFTW6bxoFiRtm8EneNQt/gsrqp8t
"""


def file_of(text):
    return io.BytesIO(zlib.decompress(base64.b64decode(text)))


def shown(value):
    return {k: (t.tolist(), str(t.dtype), t.stride(), t.requires_grad, type(t)) for k, t in value.items()}


def written(value, new=False):
    file = io.BytesIO()
    torch.save(value, file, _use_new_zipfile_serialization=new)
    file.seek(0)
    return file


def raises(kind, text, function, *args, **options):
    try:
        function(*args, **options)
    except kind as error:
        assert text in str(error), error
    else:
        raise AssertionError(f"no {kind.__name__} with {text!r}")


# Both formats hold the same, and ours hold what PyTorch's do.
there = torch.load(file_of(LEGACY))
assert list(there) == [
    "part", "turned", "half", "bfloat16", "parameter", "long", "empty", "complex", "bool", "number",
]  # fmt: skip
assert there["part"].tolist() == [2, 3, 4, 5] and there["turned"].stride() == (1, 4)
assert shown(there) == shown(torch.load(file_of(ARCHIVE))) == shown(torch.load(file_of(LEGACY), weights_only=False))
for new in (False, True):
    assert shown(torch.load(written(there, new))) == shown(there)
there["part"][0] = 99.0
assert there["turned"][2, 0] == 99.0  # they share memory again


class WithSource(pickle._Pickler):
    """PyTorch wrote the classes of modules with their sources."""

    def persistent_id(self, value):
        return ("module", list, "linear.py", "class Linear: ...") if value is nn.Linear else None


def with_source():
    file = io.BytesIO()
    for value in (0x1950A86A20F9469CFC6C, 1001, {"little_endian": True}):
        pickle.dump(value, file, 2)
    WithSource(file, 2).dump([nn.Linear])
    pickle.dump([], file, 2)
    file.seek(0)
    return file


assert torch.load(with_source(), weights_only=False) == [list]
raises(pickle.UnpicklingError, "Unsupported global", torch.load, with_source())
module = nn.Linear(2, 1)
again = torch.load(written(module), weights_only=False)
assert torch.equal(again.weight, module.weight) and again(torch.ones(2)).shape == (1,)

# Several objects in one file, each where the last one ended.
file = io.BytesIO()
for i in range(3):
    torch.save({"i": torch.tensor(i)}, file, _use_new_zipfile_serialization=False)
file.seek(0)
assert [torch.load(file)["i"].item() for _ in range(3)] == [0, 1, 2]

# Places.
for text in (LEGACY, ARCHIVE):
    seen = []

    def note(storage, place):
        seen.append(place)
        return storage

    for to in ("cpu", torch.device("cpu"), {"cuda:0": "cpu"}, note, lambda storage, place: None, None):
        assert shown(torch.load(file_of(text), map_location=to)) == shown(torch.load(file_of(ARCHIVE)))
    assert seen and set(seen) == {"cpu"}
    for to in ("cuda", torch.device("cuda:1"), {"cpu": "cuda:0"}):
        raises(RuntimeError, "torch.cuda.is_available() is False", torch.load, file_of(text), map_location=to)
    from_gpu = zlib.decompress(base64.b64decode(text)).replace(b"X\x03\0\0\0cpu", b"X\x06\0\0\0cuda:0")
    if text is LEGACY:
        raises(RuntimeError, "map_location=torch.device('cpu')", torch.load, io.BytesIO(from_gpu))
        assert torch.load(io.BytesIO(from_gpu), map_location={"cuda:0": "cpu"})["long"].tolist() == [1, 2]

# Mapped files: the same tensors, and writing to them does not reach the file.
with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "mapped.pt")
    torch.save({"a": torch.arange(1000.0), "b": torch.arange(4, dtype=torch.int8)}, path)
    for _ in range(2):
        mapped = torch.load(path, mmap=True)
        assert torch.equal(mapped["a"], torch.arange(1000.0)) and mapped["b"].tolist() == [0, 1, 2, 3]
        mapped["a"].zero_()
    os.remove(path)
    assert mapped["b"].sum() == 6  # the mapping outlives the name
    torch.save({"a": torch.ones(2)}, path, _use_new_zipfile_serialization=False)
    raises(RuntimeError, "mmap can only be used", torch.load, path, mmap=True)
raises(ValueError, "file name", torch.load, file_of(ARCHIVE), mmap=True)
assert torch.serialization.get_default_mmap_options() == mmap.MAP_PRIVATE
found = torch.serialization.get_unsafe_globals_in_checkpoint(written(nn.Linear(1, 1), True))
assert found == ["torch.nn.modules.linear.Linear"], found

# Damaged files make it fail, and nothing else.
random.seed(2)
intact = file_of(LEGACY).getvalue()
for _ in range(600):
    data = bytearray(intact)
    for _ in range(random.randint(1, 5)):
        data[random.randrange(len(data))] = random.randrange(256)
    if random.random() < 0.2:
        data = data[: random.randrange(len(data))]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            torch.load(io.BytesIO(bytes(data)))
    except (RuntimeError, pickle.UnpicklingError, EOFError, KeyError):
        pass
# Pickles of tensors, made without torch.save().
loaded = pickle.load(file_of(PICKLE))
assert loaded["float"].tolist() == [[0, 1, 2], [3, 4, 5]] and loaded["turned"].tolist() == [[1, 4], [2, 5]]
assert loaded["turned"].stride() == (1, 3) and loaded["long"].tolist() == [1, 2] and loaded["one"] == 3 and loaded["one"].dim() == 0
assert loaded["bfloat16"].dtype == torch.bfloat16 and loaded["bfloat16"].tolist() == [0.5, 2] and loaded["complex"].tolist() == [1 + 2j]
assert type(loaded["parameter"]) is nn.Parameter and loaded["leaf"].requires_grad and loaded["empty"].shape == (0, 2)
loaded["float"][0, 0] = 7
assert loaded["float"].tolist()[0] == [7, 1, 2]
print("10 passed")
