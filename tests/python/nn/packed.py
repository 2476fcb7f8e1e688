# run: --torch --capture=off
# run: --torch --capture=stress
"""Packed sequences, and recurrent networks over them: outputs, last states, gradients as PyTorch's."""

import pathlib
import sys

import torch
import torch.nn as nn
from torch.nn.utils.rnn import (
    PackedSequence,
    pack_padded_sequence,
    pack_sequence,
    pad_packed_sequence,
    pad_sequence,
    unpack_sequence,
)

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from _oracle import check  # noqa: E402

items = []
parts = [torch.arange(1.0, 1 + 3 * n).view(n, 3).sin() for n in (2, 4, 1)]
packed = pack_sequence(parts, enforce_sorted=False)
items.append(("packed", tuple(packed)))
items.append(("unpacked", unpack_sequence(packed)))
items.append(("padded", pad_packed_sequence(packed, batch_first=True, padding_value=-1.0, total_length=5)))
items.append(("double", packed.to(torch.float64).data))
sorted_pack = pack_padded_sequence(pad_sequence([parts[1], parts[0]], batch_first=True), [4, 2], batch_first=True)
items.append(("sorted", tuple(sorted_pack)))
items.append(("made", isinstance(PackedSequence(sorted_pack.data, sorted_pack.batch_sizes), PackedSequence)))

for kind in (nn.RNN, nn.LSTM, nn.GRU):
    for bidirectional in (False, True):
        torch.manual_seed(1)
        net = kind(3, 4, num_layers=2, bidirectional=bidirectional)
        for given in (False, True):
            state = torch.arange(2.0 * (1 + bidirectional) * 12).view(-1, 3, 4).cos() if given else None
            state = (state, state * 0.5) if given and kind is nn.LSTM else state
            net.zero_grad()
            output, last = net(packed, state)
            ends = last if isinstance(last, tuple) else (last,)
            (output.data.square().sum() + sum(end.sum() for end in ends)).backward()
            name = f"{kind.__name__} {bidirectional} {given}"
            items.append((name, (pad_packed_sequence(output)[0], last)))
            items.append((name + " gradients", [p.grad.sum() for p in net.parameters()]))


def error(run):
    try:
        run()
    except Exception as e:
        return f"{type(e).__name__}: {str(e)[:60]}"


padded = pad_sequence(parts)
items.append(("not sorted", error(lambda: pack_padded_sequence(padded, [2, 4, 1]))))
items.append(("zero", error(lambda: pack_padded_sequence(padded, [4, 2, 0]))))
items.append(("batch", error(lambda: pack_padded_sequence(padded, [4, 2]))))
items.append(("total", error(lambda: pad_packed_sequence(packed, total_length=2))))
check(items, __file__)
