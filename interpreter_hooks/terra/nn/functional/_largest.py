"""The largest elements of windows that are no regular grid. A window of several dimensions is a product of windows
along each: the last dimension is pooled first."""

import _terra_C as C


def fractional(size, out, length, samples):
    """[..., out, length] positions: windows whose distances vary, from one random number per plane."""
    last = C.full((*samples.shape, 1), size - length, device=samples.device, dtype=C.int64)
    if out == 1:
        begin = last
    else:
        step = C.tensor(float(size - length), dtype=samples.dtype) / (out - 1)
        start = samples.unsqueeze(-1)
        others = ((C.arange(out - 1, device=samples.device).to(samples.dtype) + start) * step).to(C.int64) - (start * step).to(C.int64)
        begin = C.cat([others, last], -1)
    return begin.unsqueeze(-1) + C.arange(length, device=samples.device)


def _places(input, dim, windows):
    """Where along `dim` the largest element of each window is."""
    moved = input.detach().movedim(dim, -1)
    lead = moved.shape[:-1]
    planes = windows.shape[:-2]
    out, length = windows.shape[-2:]
    between = (1,) * (len(lead) - len(planes))
    positions = windows.view(*planes, *between, out, length).expand(*lead, out, length)
    taken = moved.gather(-1, positions.reshape(*lead, out * length)).view(*lead, out, length)
    best = taken.argmax(-1, keepdim=True)
    return positions.gather(-1, best).squeeze(-1).movedim(-1, dim)


def largest(input, windows):
    """(largest elements, their index among all of their plane) of windows [..., out, length] along each of the last
    dimensions; the leading dimensions of windows are those of the input."""
    n = len(windows)
    index, pixels = None, 1
    sizes = input.shape[-n:]
    for step in range(1, n + 1):
        places = _places(input, -step, windows[-step])
        input = input.gather(-step, places)
        index = places if index is None else places * pixels + index.gather(-step, places)
        pixels *= sizes[-step]
    return input, index
