"""Music Transformer: attention that knows how far apart two notes are, on melodies. A step trains on a crop of a
random number of bars, and an object of the model keeps its mask and positions, which grow when a longer crop
comes."""

import json
import math
import sys

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from common import Progress, parse, read_file

BAR = 16  # sixteenth notes
LOWEST, HIGHEST = 36, 84  # MIDI pitches; number 0 is silence, 1 the lowest pitch
NUMBERS = HIGHEST - LOWEST + 2
CONFIG = {"layers": 3, "heads": 4, "hidden": 96, "longest": 8 * BAR, "dropout": 0.1}
SCALES = {"major": (0, 2, 4, 5, 7, 9, 11), "minor": (0, 2, 3, 5, 7, 8, 10)}


class Context:
    """The causal mask and the positions for the longest sequence so far."""

    def __init__(self):
        self.length, self.mask, self.positions = 0, None, None

    def grow(self, length):
        self.length = length
        self.mask = torch.triu(torch.ones(length, length, dtype=torch.bool), diagonal=1)
        self.positions = torch.arange(length)

    def fit(self, length):
        if length > self.length:
            self.grow(length)
        return self.mask[:length, :length], self.positions[:length]


class RelativeAttention(nn.Module):
    def __init__(self, hidden, heads, longest, dropout):
        super().__init__()
        self.heads, self.longest = heads, longest
        self.queries_keys_values = nn.Linear(hidden, 3 * hidden, bias=False)
        self.distances = nn.Parameter(0.02 * torch.randn(longest, hidden // heads))
        self.out = nn.Linear(hidden, hidden)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, mask):
        b, t, c = x.shape
        parts = self.queries_keys_values(x).view(b, t, 3, self.heads, c // self.heads)
        q, k, v = parts.permute(2, 0, 3, 1, 4).unbind(0)
        relative = self.skew(q @ self.distances[self.longest - t :].transpose(0, 1))
        scores = (q @ k.transpose(2, 3) + relative) / math.sqrt(c // self.heads)
        weights = self.dropout(scores.masked_fill(mask, float("-inf")).softmax(dim=-1))
        return self.out((weights @ v).transpose(1, 2).reshape(b, t, c))

    @staticmethod
    def skew(x):
        """From [query, distance] to [query, key]: a column in front, and each row moves by one against the last."""
        b, h, t, _ = x.shape
        return F.pad(x, (1, 0)).reshape(b, h, t + 1, t)[:, :, 1:]


class DecoderLayer(nn.Module):
    def __init__(self, hidden, heads, longest, dropout):
        super().__init__()
        self.attention = RelativeAttention(hidden, heads, longest, dropout)
        self.feed_forward = nn.Sequential(
            nn.Linear(hidden, 4 * hidden), nn.ReLU(), nn.Linear(4 * hidden, hidden), nn.Dropout(dropout)
        )
        self.norm1, self.norm2 = nn.LayerNorm(hidden), nn.LayerNorm(hidden)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, mask):
        x = self.norm1(x + self.dropout(self.attention(x, mask)))
        return self.norm2(x + self.feed_forward(x))


class MusicTransformer(nn.Module):
    def __init__(self, layers, heads, hidden, longest, dropout):
        super().__init__()
        self.context = Context()
        self.notes = nn.Embedding(NUMBERS, hidden)
        self.places = nn.Embedding(BAR, hidden)
        self.layers = nn.ModuleList([DecoderLayer(hidden, heads, longest, dropout) for _ in range(layers)])
        self.out = nn.Linear(hidden, NUMBERS)

    def forward(self, notes):
        mask, positions = self.context.fit(notes.size(1))
        x = self.notes(notes) + self.places(positions % BAR)
        for layer in self.layers:
            x = layer(x, mask)
        return self.out(x)


def drawn_melody(draw, bars):
    """A motif of one bar in a scale, repeated higher or lower along the scale, with a new rhythm now and then."""
    scale = SCALES[draw.choice(list(SCALES))]
    root = draw.integers(48, 60)
    motif = [(draw.choice((2, 4, 4, 8)), draw.integers(-2, 3)) for _ in range(BAR // 2)]
    degree, notes = draw.integers(7), []
    for _ in range(bars):
        bar, height = [], degree
        for length, step in motif:
            octave, tone = divmod(height, 7)
            bar += [root + 12 * octave + scale[tone] - LOWEST + 1] * length
            height += step
        notes += bar[:BAR]
        degree = min(9, max(0, degree + draw.integers(-1, 2)))
    return np.clip(notes, 1, NUMBERS - 1)


def chorale_melodies(folder, name="Jsb16thSeparated.json"):
    """The voices of Bach's chorales, each by itself."""
    try:
        chorales = json.loads(read_file(folder, name))["train"]
        voices = [[step[voice] for step in chorale] for chorale in chorales for voice in range(4)]
        return [np.where(np.array(v) < 0, 0, np.clip(np.array(v) - LOWEST + 1, 1, NUMBERS - 1)) for v in voices]
    except (KeyError, IndexError, TypeError, ValueError) as error:
        sys.exit(f"{name} in {folder} should have a list of chorales of four voices as \"train\": {error!r}")


def random_crops(draw, melodies, length, batch):
    """[batch, length + 1], each crop beginning with a bar."""
    crops = []
    while len(crops) < batch:
        melody = melodies[draw.integers(len(melodies))]
        if len(melody) > length:
            begin = BAR * draw.integers((len(melody) - length - 1) // BAR + 1)
            crops.append(melody[begin : begin + length + 1])
    return torch.from_numpy(np.stack(crops).astype(np.int64))


def main(arguments=None, progress=None):
    options = parse("Trains Music Transformer on melodies.", arguments, 250, "Jsb16thSeparated.json")
    progress = progress or Progress(options)
    draw = np.random.default_rng(options.seed)
    melodies = chorale_melodies(options.data) if options.data else [drawn_melody(draw, 12) for _ in range(400)]

    model = MusicTransformer(**CONFIG)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, betas=(0.9, 0.98), eps=1e-9)
    for step in range(1, options.steps + 1):
        length = BAR * draw.integers(2, CONFIG["longest"] // BAR + 1)
        crops = random_crops(draw, melodies, length, batch=6)
        notes, following = crops[:, :-1], crops[:, 1:]
        logits = model(notes)
        loss = F.cross_entropy(logits.reshape(-1, NUMBERS), following.reshape(-1))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        progress.step(step, loss)
        if step % options.log_every == 0:
            right = (logits.argmax(-1) == following).float().mean().item()
            print(f"{length // BAR} bars, {100 * right:.1f} % of the notes right, mask of {model.context.length}")


if __name__ == "__main__":
    main()
