"""Sequences of different lengths as one tensor: padded, or packed step by step without padding."""

import collections
from collections.abc import Iterable

import _terra_C as C

__all__ = [
    "PackedSequence", "invert_permutation", "pack_padded_sequence", "pack_sequence", "pad_packed_sequence", "pad_sequence",
    "unpack_sequence", "unpad_sequence",
]  # fmt: skip


def pad_sequence(sequences, batch_first=False, padding_value=0.0, padding_side="right"):
    if not isinstance(sequences, Iterable):
        raise RuntimeError(
            f"pad_sequence: Expected iterable for input sequences, but got arg of type: {type(sequences)}"
        )
    sequences = list(sequences)
    if not sequences:
        raise RuntimeError("received an empty list of sequences")
    longest = max(s.size(0) for s in sequences)
    rest = list(sequences[0].shape[1:])
    sizes = [len(sequences), longest] if batch_first else [longest, len(sequences)]
    out = C.full([*sizes, *rest], padding_value, device=sequences[0].device, dtype=sequences[0].dtype)
    by_sequence = out if batch_first else out.transpose(0, 1)
    for i, sequence in enumerate(sequences):
        length = sequence.size(0)
        start = 0 if padding_side == "right" else longest - length
        by_sequence[i, start : start + length] = sequence
    return out


def unpad_sequence(padded_sequences, lengths, batch_first=False):
    if not batch_first:
        padded_sequences = padded_sequences.transpose(0, 1)
    return [sequence[:length] for sequence, length in zip(padded_sequences, lengths.tolist(), strict=True)]


def invert_permutation(permutation):
    """The places of 0, 1, 2, ... in a permutation."""
    return None if permutation is None else C.argsort(permutation)


class PackedSequence(collections.namedtuple("PackedSequence_", "data batch_sizes sorted_indices unsorted_indices")):
    """The rows of all sequences, first steps first, longest sequence first; batch_sizes says how many there are of each
    step. sorted_indices is the order in which the sequences were taken, unsorted_indices its inverse."""

    __slots__ = ()

    def __new__(cls, data, batch_sizes=None, sorted_indices=None, unsorted_indices=None):
        if batch_sizes is None:
            data, batch_sizes = data
        if unsorted_indices is None:
            unsorted_indices = invert_permutation(sorted_indices)
        return super().__new__(cls, data, batch_sizes, sorted_indices, unsorted_indices)

    def _with(self, data):
        return self if data is self.data else type(self)(data, self.batch_sizes, self.sorted_indices, self.unsorted_indices)

    def to(self, *args, **kwargs):
        return self._with(self.data.to(*args, **kwargs))

    def cpu(self):
        return self

    def cuda(self, *args, **kwargs):
        return self._with(self.data.cuda(*args, **kwargs))

    def float(self):
        return self._with(self.data.float())

    def double(self):
        return self._with(self.data.double())

    def half(self):
        return self._with(self.data.half())

    def long(self):
        return self._with(self.data.long())

    def int(self):
        return self._with(self.data.int())

    def pin_memory(self):
        return self

    def is_pinned(self):
        return False

    @property
    def is_cuda(self):
        return False


def pack_padded_sequence(input, lengths, batch_first=False, enforce_sorted=True):
    """Packs a padded tensor; the lengths have to fall unless enforce_sorted is False."""
    lengths = C.as_tensor(lengths, dtype=C.int64)
    order = None
    if not enforce_sorted:
        lengths, order = C.sort(lengths, descending=True)
        input = input.index_select(0 if batch_first else 1, order)
    if batch_first:
        input = input.transpose(0, 1)
    sizes = lengths.tolist()
    if input.numel() == 0:
        raise RuntimeError("Cannot pack empty tensors.")
    if len(sizes) != input.size(1):
        raise RuntimeError(f"Expected `len(lengths)` to be equal to batch_size, but got {len(sizes)} (batch_size={input.size(1)})")
    if sizes[-1] <= 0 or min(sizes) <= 0:
        raise RuntimeError("Length of all samples has to be greater than 0, but found an element in 'lengths' that is <= 0")
    if any(a < b for a, b in zip(sizes, sizes[1:])):
        raise RuntimeError(
            "`lengths` array must be sorted in decreasing order when `enforce_sorted` is True. You can pass "
            "`enforce_sorted=False` to pack_padded_sequence and/or pack_sequence to sidestep this requirement if you do "
            "not need ONNX exportability."
        )
    if sizes[0] > input.size(0):
        raise RuntimeError(f"Expected the longest length {sizes[0]} to be at most the padded length {input.size(0)}")
    counts = [sum(size > step for size in sizes) for step in range(sizes[0])]
    data = C.cat([input[step, :count] for step, count in enumerate(counts)])
    return PackedSequence(data, C.tensor(counts), order, None)


def pad_packed_sequence(sequence, batch_first=False, padding_value=0.0, total_length=None):
    """(padded tensor, lengths), in the order in which the sequences were given."""
    counts = sequence.batch_sizes.tolist()
    steps = len(counts)
    if total_length is not None:
        if total_length < steps:
            raise ValueError(
                f"Expected total_length to be at least the length of the longest sequence in input, but got "
                f"total_length={total_length} and max sequence length being {steps}"
            )
        steps = total_length
    data = sequence.data
    rows = []
    for step, part in enumerate(data.split(counts)):
        missing = counts[0] - counts[step]
        if missing:
            part = C.cat([part, C.full((missing, *data.shape[1:]), padding_value, dtype=data.dtype)])
        rows.append(part)
    rows += [C.full((counts[0], *data.shape[1:]), padding_value, dtype=data.dtype)] * (steps - len(counts))
    padded = C.stack(rows, 1 if batch_first else 0)
    lengths = C.tensor([sum(count > i for count in counts) for i in range(counts[0])])
    if sequence.unsorted_indices is not None:
        padded = padded.index_select(0 if batch_first else 1, sequence.unsorted_indices)
        lengths = lengths[sequence.unsorted_indices]
    return padded, lengths


def pack_sequence(sequences, enforce_sorted=True):
    lengths = C.as_tensor([sequence.size(0) for sequence in sequences])
    return pack_padded_sequence(pad_sequence(sequences), lengths, enforce_sorted=enforce_sorted)


def unpack_sequence(packed_sequences):
    return unpad_sequence(*pad_packed_sequence(packed_sequences))
