"""An encoder-decoder transformer that learns to write a sequence backwards, with padding, then decodes greedily."""
import math

import torch
from torch import nn

torch.manual_seed(0)
WORDS, BEGIN, END, PAD, WIDTH = 12, 1, 2, 0, 16


class Positions(nn.Module):
    def __init__(self, width, longest=32):
        super().__init__()
        place = torch.arange(longest).unsqueeze(1)
        rate = torch.exp(torch.arange(0, width, 2) * (-math.log(10000.0) / width))
        table = torch.zeros(longest, width)
        table[:, 0::2] = torch.sin(place * rate)
        table[:, 1::2] = torch.cos(place * rate)
        self.register_buffer("table", table)

    def forward(self, x):
        return x + self.table[: x.size(1)]


class Translator(nn.Module):
    def __init__(self):
        super().__init__()
        self.source = nn.Embedding(WORDS, WIDTH, padding_idx=PAD)
        self.target = nn.Embedding(WORDS, WIDTH, padding_idx=PAD)
        self.positions = Positions(WIDTH)
        self.transformer = nn.Transformer(WIDTH, 2, 1, 1, 32, dropout=0.0, batch_first=True, norm_first=True)
        self.words = nn.Linear(WIDTH, WORDS)

    def encode(self, source):
        hidden = source == PAD
        return self.transformer.encoder(self.positions(self.source(source)), src_key_padding_mask=hidden), hidden

    def decode(self, memory, hidden, target):
        mask = nn.Transformer.generate_square_subsequent_mask(target.size(1)).isinf()
        states = self.transformer.decoder(
            self.positions(self.target(target)), memory, tgt_mask=mask, memory_key_padding_mask=hidden
        )
        return self.words(states)

    def forward(self, source, target):
        memory, hidden = self.encode(source)
        return self.decode(memory, hidden, target)


def batch(size):
    source = torch.full((size, 6), PAD)
    target = torch.full((size, 8), PAD)
    lengths = torch.randint(3, 7, (size,)).tolist()
    for row, length in enumerate(lengths):
        words = torch.randint(3, WORDS, (length,))
        source[row, :length] = words
        target[row, 0] = BEGIN
        target[row, 1 : length + 1] = words.flip(0)
        target[row, length + 1] = END
    return source, target


model = Translator()
optimizer = torch.optim.Adam(model.parameters(), lr=0.005, betas=(0.9, 0.98))
criterion = nn.CrossEntropyLoss(ignore_index=PAD)
for step in range(60):
    source, target = batch(16)
    optimizer.zero_grad()
    scores = model(source, target[:, :-1])
    loss = criterion(scores.reshape(-1, WORDS), target[:, 1:].reshape(-1))
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    if step % 10 == 9:
        print(f"step {step} loss {loss.item():.3f}")

model.eval()
with torch.no_grad():
    source, target = batch(3)
    memory, hidden = model.encode(source)
    written = torch.full((3, 1), BEGIN)
    for _ in range(7):
        scores = model.decode(memory, hidden, written)[:, -1]
        written = torch.cat([written, scores.argmax(-1, keepdim=True)], 1)
    print("shape", tuple(written.shape), "first scores", [round(v, 2) for v in scores[0].tolist()])
