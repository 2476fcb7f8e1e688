# run: --torch
"""SummaryWriter: what it writes is read back by a small reader, checksums included."""

import glob
import math
import os
import struct
import tempfile
import zlib

import torch
from torch.utils.tensorboard import SummaryWriter


class Branching(torch.nn.Module):
    def forward(self, x):
        return x if x.sum() > 0 else -x


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def masked(data):
    crc = crc32c(data)
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


assert crc32c(b"123456789") == 0xE3069283  # the check value of the catalogue of CRCs


def records(path):
    with open(path, "rb") as file:
        data = file.read()
    at = 0
    while at < len(data):
        (length,) = struct.unpack_from("<Q", data, at)
        assert struct.unpack_from("<I", data, at + 8)[0] == masked(data[at : at + 8])
        body = data[at + 12 : at + 12 + length]
        assert struct.unpack_from("<I", data, at + 12 + length)[0] == masked(body)
        yield body
        at += 16 + length


def fields(message):
    """field -> values: ints, floats by their 4 or 8 bytes, bytes."""
    found, at = {}, 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = message[at]
            at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    while at < len(message):
        key = varint()
        if key & 7 == 0:
            value = varint()
        elif key & 7 == 1:
            (value,) = struct.unpack_from("<d", message, at)
            at += 8
        elif key & 7 == 5:
            (value,) = struct.unpack_from("<f", message, at)
            at += 4
        else:
            length = varint()
            value = message[at : at + length]
            at += length
        found.setdefault(key >> 3, []).append(value)
    return found


def events(folder):
    (path,) = glob.glob(os.path.join(folder, "events.out.tfevents.*"))
    return [fields(body) for body in records(path)]


def values(folder):
    """tag -> (step, the Value's fields) of all events with a summary."""
    found = {}
    for event in events(folder):
        for summary in event.get(5, []):
            for value in fields(summary)[1]:
                value = fields(value)
                found[value[1][0].decode()] = (event.get(2, [None])[0], value)
    return found


folder = tempfile.mkdtemp()
with SummaryWriter(folder) as writer:
    writer.add_scalar("loss", torch.tensor(0.5), 3, walltime=12.0)
    writer.add_scalar("new", 2, 4, new_style=True)
    writer.add_histogram("weights", torch.tensor([-1.0, 0.0, 0.5, 0.5, 3.0]), 1)
    writer.add_histogram("edges", torch.arange(10.0), 1, bins=[0, 5, 10])
    pixels = torch.arange(12, dtype=torch.uint8).view(3, 2, 2) * 20
    writer.add_image("picture", pixels, 2)
    writer.add_images("batch", torch.rand(3, 1, 4, 5), 2)
    writer.add_text("note", "so *it* goes", 7)
    writer.add_audio("sound", torch.arange(100.0).sin(), 1, sample_rate=8000)
    writer.add_pr_curve("curve", torch.tensor([0, 1, 1]), torch.tensor([0.1, 0.4, 0.8]), 1, num_thresholds=5)
    writer.add_scalars("both", {"a": 1.0, "b": 2.0}, 5)
    writer.add_hparams({"lr": 0.1, "name": "x", "flag": True}, {"acc": 0.9}, run_name="trial")
    for method, args in (("add_graph", (None,)), ("add_mesh", ("m", None)), ("add_video", ("v", None))):
        try:
            getattr(writer, method)(*args)
        except NotImplementedError as e:
            assert method in str(e), e
        else:
            raise AssertionError(f"{method} pretends")

first, scalar, *_ = events(folder)
assert first[3] == [b"brain.Event:2"] and scalar[1] == [12.0]
found = values(folder)
assert found["loss"] == (3, {1: [b"loss"], 2: [0.5]})
step, new = found["new"]
assert step == 4 and fields(new[8][0])[4] == [struct.pack("<f", 2.0)] and fields(fields(new[9][0])[1][0])[1] == [b"scalars"]

histogram = fields(found["weights"][1][5][0])
assert [histogram[i][0] for i in range(1, 6)] == [-1.0, 3.0, 5.0, 3.0, 10.5]
limits, counts = (struct.unpack(f"<{len(histogram[i][0]) // 8}d", histogram[i][0]) for i in (6, 7))
assert len(limits) == len(counts) and sum(counts) == 5 and counts[0] == 0 and list(limits) == sorted(limits)
assert limits[0] < -1.0 <= limits[1] and limits[-2] <= 3.0 < limits[-1] and counts[-1] == 1
for limit, count in zip(limits, counts):
    assert count != 2 or limit / 1.1 <= 0.5 < limit, (limit, count)
edges = fields(found["edges"][1][5][0])
assert struct.unpack("<3d", edges[6][0]) == (0.0, 5.0, 10.0) and struct.unpack("<3d", edges[7][0]) == (0.0, 5.0, 5.0)


def image(message):
    """(height, width, channels, rows) of a summary's PNG."""
    message = fields(message)
    data = message[4][0]
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    at, body, header = 8, b"", None
    while at < len(data):
        (length,) = struct.unpack_from(">I", data, at)
        kind, chunk = data[at + 4 : at + 8], data[at + 8 : at + 8 + length]
        assert struct.unpack_from(">I", data, at + 8 + length)[0] == zlib.crc32(kind + chunk)
        header = struct.unpack(">IIBBBBB", chunk) if kind == b"IHDR" else header
        body += chunk if kind == b"IDAT" else b""
        at += 12 + length
    width, height, depth, color = header[:4]
    assert (message[1], message[2], depth, color) == ([height], [width], 8, 2)
    lines = zlib.decompress(body)
    return height, width, b"".join(lines[i * (3 * width + 1) + 1 : (i + 1) * (3 * width + 1)] for i in range(height))


height, width, rows = image(found["picture"][1][4][0])
assert (height, width) == (2, 2) and list(rows) == pixels.permute(1, 2, 0).flatten().tolist()
assert image(found["batch"][1][4][0])[:2] == (4, 15)

step, note = found["note/text_summary"]
assert step == 7 and fields(note[8][0])[8] == [b"so *it* goes"] and fields(fields(note[9][0])[1][0])[1] == [b"text"]
sound = fields(found["sound"][1][6][0])
assert sound[1] == [8000.0] and sound[3] == [100] and sound[4][0][:4] == b"RIFF" and sound[5] == [b"audio/wav"]
curve = struct.unpack("<30f", fields(found["curve"][1][8][0])[4][0])
assert curve[:5] == (2.0, 2.0, 1.0, 1.0, 0.0) and curve[5:10] == (1.0, 0.0, 0.0, 0.0, 0.0)
for name, value in (("both_a", 1.0), ("both_b", 2.0)):
    assert values(os.path.join(folder, name))["both"] == (5, {1: [b"both"], 2: [value]})
trial = values(os.path.join(folder, "trial"))
assert math.isclose(trial["acc"][1][2][0], 0.9, rel_tol=1e-6)
start = fields(fields(fields(trial["_hparams_/session_start_info"][1][9][0])[1][0])[2][0])[3][0]
given = {fields(pair)[1][0]: fields(fields(pair)[2][0]) for pair in fields(start)[1]}
assert given == {b"lr": {2: [0.1]}, b"name": {3: [b"x"]}, b"flag": {4: [1]}}
assert list(trial)[:3] == ["_hparams_/experiment", "_hparams_/session_start_info", "_hparams_/session_end_info"]

# The graph of a model, and points of the projector.
with tempfile.TemporaryDirectory() as folder:
    model = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.ReLU())
    with SummaryWriter(folder) as writer:
        writer.add_graph(model, torch.ones(1, 2))
        writer.add_embedding(torch.tensor([[1.0, 2.0], [3.0, 4.0]]), ["a", "b"], torch.rand(2, 3, 4, 5), 7, "my points")
        writer.add_embedding(torch.ones(1, 2), [["x", 1]], metadata_header=["name", "count"])
        try:
            writer.add_graph(Branching())
            raise SystemExit("a branch was drawn")
        except NotImplementedError as error:
            assert "Branching can't be drawn" in str(error), error
    (path,) = glob.glob(os.path.join(folder, "events*"))
    drawn = [fields(body)[4][0] for body in records(path) if 4 in fields(body)]
    assert len(drawn) == 1
    nodes = [fields(node) for node in fields(drawn[0])[1]]
    assert [(node[1][0].decode(), node[2][0].decode()) for node in nodes] == [
        ("Sequential/input_1", "Input"), ("Sequential/0/_0", "Linear"), ("Sequential/1/_1", "ReLU"),
        ("Sequential/output", "Output"),
    ]  # fmt: skip
    assert nodes[1][3] == [b"Sequential/input_1"] and nodes[3][3] == [b"Sequential/1/_1"]
    with open(os.path.join(folder, "projector_config.pbtxt")) as file:
        listed = file.read()
    assert listed.count("embeddings {") == 2
    assert 'tensor_name: "my points:00007"' in listed and "single_image_dim: 5\nsingle_image_dim: 4" in listed
    first, second = os.path.join(folder, "00007", "my%20points"), os.path.join(folder, "00000", "default")
    texts = [open(os.path.join(where, name)).read() for where in (first, second) for name in ("tensors.tsv", "metadata.tsv")]
    assert texts == ["1.0\t2.0\n3.0\t4.0\n", "a\nb\n", "1.0\t1.0\n", "name\tcount\nx\t1\n"], texts
    with open(os.path.join(first, "sprite.png"), "rb") as file:
        assert struct.unpack_from(">II", file.read(), 16) == (10, 8)
print("14 passed")
