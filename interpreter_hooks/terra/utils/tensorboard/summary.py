"""Summaries: the values of one event, as messages.

The numbers are those of the fields in TensorBoard's summary.proto, tensor.proto and hparams plugin."""

import bisect
import io
import struct
import wave

import _terra_C as C

from . import protobuf
from .png import png


def as_tensor(value):
    if isinstance(value, C.Tensor):
        return value.detach()
    if isinstance(value, str):
        raise NotImplementedError("a name in place of values is a feature of Caffe2, which is not in Terra")
    return C.as_tensor(value) if not hasattr(value, "__array__") else C.as_tensor(value.__array__())


def number(value):
    """One float, from a number or anything with one element."""
    return float(value) if not hasattr(value, "numel") else float(value.item())


def metadata(plugin, content=b"", description=""):
    message = protobuf.text(1, protobuf.text(1, plugin) + (protobuf.text(2, content) if content else b""))
    return message + (protobuf.text(3, description) if description else b"")


def value(tag, payload, about=None):
    """A Summary of one value."""
    message = protobuf.text(1, tag) + (protobuf.text(9, about) if about is not None else b"") + payload
    return protobuf.text(1, message)


def scalar(tag, scalar_value, new_style=False, double_precision=False):
    plain = number(scalar_value)
    if new_style:
        kind, data = (2, struct.pack("<d", plain)) if double_precision else (1, struct.pack("<f", plain))
        tensor = protobuf.integer(1, kind) + protobuf.text(2, b"") + protobuf.text(4, data)
        return value(tag, protobuf.text(8, tensor), metadata("scalars"))
    return value(tag, protobuf.single(2, plain))


def _default_bins():
    edge, positive = 1e-12, []
    while edge < 1e20:
        positive.append(edge)
        edge *= 1.1
    return [-e for e in reversed(positive)] + [0.0] + positive


_BINS = {}


def _edges(bins, values):
    if bins == "tensorflow":
        if "tensorflow" not in _BINS:
            _BINS["tensorflow"] = _default_bins()
        return _BINS["tensorflow"]
    if isinstance(bins, str):
        import numpy

        return numpy.histogram_bin_edges(values, bins).tolist()
    return list(bins)


def _buckets(edges, counts):
    """(upper edges, counts) without the empty ends, with one empty bucket before the first full one."""
    full = [i for i, count in enumerate(counts) if count]
    if not full:
        return [edges[-1]], [0]
    first, last = full[0], full[-1]
    return edges[first : last + 2], [0, *counts[first : last + 1]]


def _histogram_message(low, high, count, total, squares, limits, counts):
    parts = [protobuf.double(i, float(v)) for i, v in enumerate((low, high, count, total, squares), 1)]
    return b"".join(parts) + protobuf.doubles(6, [float(v) for v in limits]) + protobuf.doubles(7, [float(v) for v in counts])


def histogram(tag, values, bins="tensorflow", max_bins=None):
    values = as_tensor(values).to(C.float64).flatten()
    if values.numel() == 0:
        raise ValueError("The input has no element.")
    plain = sorted(values.tolist())
    edges = _edges(bins, plain)
    if max_bins is not None and len(edges) - 1 > max_bins:
        edges = edges[:: (len(edges) - 1) // max_bins] + ([edges[-1]] if (len(edges) - 1) % max_bins else [])
    places = [bisect.bisect_left(plain, edge) for edge in edges[:-1]] + [bisect.bisect_right(plain, edges[-1])]
    counts = [b - a for a, b in zip(places, places[1:])]
    limits, counts = _buckets(edges, counts)
    message = _histogram_message(plain[0], plain[-1], len(plain), values.sum().item(), (values * values).sum().item(), limits, counts)
    return value(tag, protobuf.text(5, message))


def histogram_raw(tag, min, max, num, sum, sum_squares, bucket_limits, bucket_counts):
    return value(tag, protobuf.text(5, _histogram_message(min, max, num, sum, sum_squares, bucket_limits, bucket_counts)))


def as_hwc(tensor, dataformats):
    """An image with rows, columns and 1, 3 or 4 channels; a batch becomes a grid of 8 in a row."""
    tensor, dataformats = as_tensor(tensor), dataformats.upper()
    if len(set(dataformats)) != len(dataformats) or tensor.dim() != len(dataformats):
        raise AssertionError(f"size of input tensor and input format are different. tensor shape: {tuple(tensor.shape)}, input_format: {dataformats}")
    if len(dataformats) == 4:
        batch = tensor.permute(*(dataformats.index(d) for d in "NHWC"))
        columns = min(8, batch.size(0))
        rows = -(-batch.size(0) // columns)
        grid = C.zeros((rows * batch.size(1), columns * batch.size(2), batch.size(3)), dtype=batch.dtype)
        for i in range(batch.size(0)):
            y, x = i // columns * batch.size(1), i % columns * batch.size(2)
            grid[y : y + batch.size(1), x : x + batch.size(2)] = batch[i]
        tensor = grid
    elif len(dataformats) == 3:
        tensor = tensor.permute(*(dataformats.index(d) for d in "HWC"))
    else:
        tensor = tensor.permute(*(dataformats.index(d) for d in "HW")).unsqueeze(-1)
    return tensor.expand(-1, -1, 3) if tensor.size(-1) == 1 else tensor


def as_bytes(tensor):
    """Elements of uint8 are 0..255 already, others 0..1."""
    if tensor.dtype != C.uint8:
        tensor = (tensor.to(C.float32) * 255.0).clamp(0, 255).to(C.uint8)
    return tensor.contiguous().numpy().tobytes()


def _image_message(tensor):
    height, width, channels = tensor.shape
    data = png(as_bytes(tensor), height, width, channels)
    return protobuf.integer(1, height) + protobuf.integer(2, width) + protobuf.integer(3, channels) + protobuf.text(4, data)


def image(tag, tensor, dataformats="NCHW"):
    return value(tag, protobuf.text(4, _image_message(as_hwc(tensor, dataformats))))


def audio(tag, tensor, sample_rate=44100):
    """One channel of numbers from -1 to 1, as WAV."""
    samples = (as_tensor(tensor).to(C.float32).flatten().clamp(-1, 1) * 32767.0).to(C.int16)
    file = io.BytesIO()
    with wave.open(file, "wb") as out:
        out.setnchannels(1)
        out.setsampwidth(2)
        out.setframerate(sample_rate)
        out.writeframes(samples.numpy().tobytes())
    parts = protobuf.single(1, sample_rate) + protobuf.integer(2, 1) + protobuf.integer(3, samples.numel())
    return value(tag, protobuf.text(6, parts + protobuf.text(4, file.getvalue()) + protobuf.text(5, "audio/wav")))


def _string_tensor(strings, sizes):
    shape = b"".join(protobuf.text(2, protobuf.integer(1, size)) for size in sizes)
    return protobuf.integer(1, 7) + protobuf.text(2, shape) + b"".join(protobuf.text(8, s) for s in strings)


def text(tag, text_string):
    return value(tag + "/text_summary", protobuf.text(8, _string_tensor([text_string], [1])), metadata("text", protobuf.integer(1, 0)))


_ORDER = ("tp", "fp", "tn", "fn", "precision", "recall")


def _curve(tag, rows, thresholds):
    data = struct.pack(f"<{6 * thresholds}f", *(v for row in rows for v in row))
    shape = protobuf.text(2, protobuf.integer(1, 6)) + protobuf.text(2, protobuf.integer(1, thresholds))
    tensor = protobuf.integer(1, 1) + protobuf.text(2, shape) + protobuf.text(4, data)
    return value(tag, protobuf.text(8, tensor), metadata("pr_curves", protobuf.integer(1, 0) + protobuf.integer(2, thresholds)))


def pr_curve(tag, labels, predictions, num_thresholds=127, weights=None):
    thresholds = min(num_thresholds, 127)
    labels, predictions = as_tensor(labels).flatten().tolist(), as_tensor(predictions).flatten().tolist()
    weights = [1.0] * len(labels) if weights is None else as_tensor(weights).flatten().tolist()
    yes, no = [0.0] * thresholds, [0.0] * thresholds
    for label, prediction, weight in zip(labels, predictions, weights):
        (yes if label else no)[int(prediction * (thresholds - 1))] += weight
    tp = [sum(yes[i:]) for i in range(thresholds)]
    fp = [sum(no[i:]) for i in range(thresholds)]
    tn, fn = [fp[0] - v for v in fp], [tp[0] - v for v in tp]
    precision = [a / max(1e-7, a + b) for a, b in zip(tp, fp)]
    recall = [a / max(1e-7, a + b) for a, b in zip(tp, fn)]
    return _curve(tag, (tp, fp, tn, fn, precision, recall), thresholds)


def pr_curve_raw(tag, tp, fp, tn, fn, precision, recall, num_thresholds=127, weights=None):
    thresholds = min(num_thresholds, 127)
    rows = [as_tensor(row).flatten().tolist() for row in (tp, fp, tn, fn, precision, recall)]
    return _curve(tag, rows, thresholds)


def _plain_value(field, given):
    """A google.protobuf.Value: a number, a string or a bool."""
    if isinstance(given, bool):
        return protobuf.text(field, protobuf.integer(4, given))
    if isinstance(given, str):
        return protobuf.text(field, protobuf.text(3, given))
    return protobuf.text(field, protobuf.double(2, number(given)))


def _kind(given):
    return (2, "bool") if isinstance(given, bool) else (1, "string") if isinstance(given, str) else (3, "float64")


def hparams(hparam_dict, metric_dict, hparam_domain_discrete=None):
    """Three summaries: what was varied, this run's values, and its end."""
    for name, given in (("hparam_dict", hparam_dict), ("metric_dict", metric_dict)):
        if not isinstance(given, dict):
            raise TypeError(f"parameter: {name} should be a dictionary, nothing logged.")
    infos, values = b"", b""
    for name, given in hparam_dict.items():
        if given is None:
            continue
        if not isinstance(given, (int, float, str, bool, C.Tensor)) and not hasattr(given, "item"):
            raise ValueError(f"value should be one of int, float, str, bool, or torch.Tensor, but {name} is {type(given).__name__}")
        info = protobuf.text(1, name) + protobuf.integer(4, _kind(given)[0])
        domain = (hparam_domain_discrete or {}).get(name)
        if domain is not None:
            info += protobuf.text(5, b"".join(_plain_value(1, choice) for choice in domain))
        infos += protobuf.text(4, info)
        values += protobuf.text(1, protobuf.text(1, name) + _plain_value(2, given))
    metrics = b"".join(protobuf.text(5, protobuf.text(1, protobuf.text(2, name))) for name in metric_dict)

    def summary(tag, field, message):
        content = protobuf.integer(1, 0) + protobuf.text(field, message)
        return value(tag, b"", metadata("hparams", content))

    return (
        summary("_hparams_/experiment", 2, infos + metrics),
        summary("_hparams_/session_start_info", 3, values),
        summary("_hparams_/session_end_info", 4, protobuf.integer(1, 1)),
    )


def custom_scalars(layout):
    """The layout of charts: {category: {chart: ["Multiline" or "Margin", tags]}}."""
    categories = b""
    for category, charts in layout.items():
        shown = b""
        for title, (kind, tags) in charts.items():
            if kind == "Margin":
                if len(tags) != 3:
                    raise AssertionError("a chart of kind Margin has three tags: value, lower, upper")
                series = b"".join(protobuf.text(i, tag) for i, tag in enumerate(tags, 1))
                body = protobuf.text(3, protobuf.text(1, series))
            else:
                body = protobuf.text(2, b"".join(protobuf.text(1, tag) for tag in tags))
            shown += protobuf.text(2, protobuf.text(1, title) + body)
        categories += protobuf.text(2, protobuf.text(1, category) + shown)
    tensor = protobuf.integer(1, 7) + protobuf.text(2, b"") + protobuf.text(8, categories)
    return value("custom_scalars__config__", protobuf.text(8, tensor), metadata("custom_scalars"))
