"""Sequences of different lengths as one tensor."""

import _terra_C as C

__all__ = ["pad_sequence", "unpad_sequence"]


def pad_sequence(sequences, batch_first=False, padding_value=0.0, padding_side="right"):
    sequences = list(sequences)
    longest = max(s.size(0) for s in sequences)
    rest = list(sequences[0].shape[1:])
    out = C.full([len(sequences), longest, *rest], padding_value, dtype=sequences[0].dtype)
    for i, sequence in enumerate(sequences):
        length = sequence.size(0)
        start = 0 if padding_side == "right" else longest - length
        out[i, start : start + length] = sequence
    return out if batch_first else out.transpose(0, 1).contiguous()


def unpad_sequence(padded_sequences, lengths, batch_first=False):
    if not batch_first:
        padded_sequences = padded_sequences.transpose(0, 1)
    return [sequence[:length] for sequence, length in zip(padded_sequences, lengths.tolist())]
