"""A GRU translator with additive attention: teacher forcing, label smoothing, beam search with length penalty, BLEU."""

import heapq
import math
import random
from collections import Counter, namedtuple
from typing import List

import torch
import torch.nn as nn
import torch.nn.functional as F

PAD, BOS, EOS = 0, 1, 2
Hypothesis = namedtuple("Hypothesis", "score tokens hidden")


def pairs(count, rng):
    """The target spells each number of the source in base three, most significant digit first."""
    for _ in range(count):
        source = [rng.randrange(9) for _ in range(rng.randint(2, 4))]
        target = [digit for number in source for digit in divmod(number, 3)]
        yield [3 + n for n in source], [BOS, *(3 + d for d in target), EOS]


class Encoder(nn.Module):
    def __init__(self, vocab, width, hidden, dropout=0.1):
        super().__init__()
        self.embedding = nn.Embedding(vocab, width)
        self.rnn = nn.GRU(width, hidden, bidirectional=True, batch_first=True)
        self.fc = nn.Linear(hidden * 2, hidden)
        self.dropout = nn.Dropout(dropout)

    def forward(self, source, lengths):
        embedded = self.dropout(self.embedding(source))
        packed = nn.utils.rnn.pack_padded_sequence(embedded, lengths.cpu(), batch_first=True, enforce_sorted=False)
        outputs, hidden = self.rnn(packed)
        outputs, _ = nn.utils.rnn.pad_packed_sequence(outputs, batch_first=True)
        return outputs, torch.tanh(self.fc(torch.cat((hidden[-2], hidden[-1]), dim=1)))


class Attention(nn.Module):
    def __init__(self, hidden):
        super().__init__()
        self.attn = nn.Linear(hidden * 3, hidden)
        self.v = nn.Linear(hidden, 1, bias=False)

    def forward(self, hidden, outputs, mask):
        repeated = hidden.unsqueeze(1).repeat(1, outputs.shape[1], 1)
        energy = self.v(torch.tanh(self.attn(torch.cat((repeated, outputs), dim=2)))).squeeze(2)
        return F.softmax(energy.masked_fill(mask == 0, -1e10), dim=1)


class Decoder(nn.Module):
    def __init__(self, vocab, width, hidden):
        super().__init__()
        self.embedding = nn.Embedding(vocab, width)
        self.attention = Attention(hidden)
        self.rnn = nn.GRUCell(hidden * 2 + width, hidden)
        self.out = nn.Linear(hidden * 3 + width, vocab)

    def forward(self, token, hidden, outputs, mask):
        embedded = self.embedding(token)
        weights = self.attention(hidden, outputs, mask)
        context = torch.bmm(weights.unsqueeze(1), outputs).squeeze(1)
        hidden = self.rnn(torch.cat((embedded, context), dim=1), hidden)
        return self.out(torch.cat((hidden, context, embedded), dim=1)), hidden


class Seq2Seq(nn.Module):
    def __init__(self, source_vocab, target_vocab, width=12, hidden=24):
        super().__init__()
        self.encoder, self.decoder = Encoder(source_vocab, width, hidden), Decoder(target_vocab, width, hidden)

    def forward(self, source, lengths, target, teacher_forcing=0.5):
        outputs, hidden = self.encoder(source, lengths)
        mask, token, scores = source != PAD, target[:, 0], []
        for t in range(1, target.shape[1]):
            score, hidden = self.decoder(token, hidden, outputs, mask)
            scores.append(score)
            token = target[:, t] if random.random() < teacher_forcing else score.argmax(1)
        return torch.stack(scores, 1)

    @torch.no_grad()
    def translate(self, source: List[int], beam: int = 3, limit: int = 12, penalty: float = 0.7):
        self.eval()
        row = torch.tensor([source])
        outputs, hidden = self.encoder(row, torch.tensor([len(source)]))
        mask, finished = row != PAD, []
        beams = [Hypothesis(0.0, [BOS], hidden)]
        for _ in range(limit):
            candidates = []
            tokens = torch.tensor([h.tokens[-1] for h in beams])
            states = torch.cat([h.hidden for h in beams])
            n = len(beams)
            logits, states = self.decoder(tokens, states, outputs.expand(n, -1, -1), mask.expand(n, -1))
            best, words = F.log_softmax(logits, dim=1).topk(beam, dim=1)
            for h, state, values, indices in zip(beams, states.split(1), best.tolist(), words.tolist()):
                candidates += [Hypothesis(h.score + v, h.tokens + [w], state) for v, w in zip(values, indices)]
            beams = []
            for h in heapq.nlargest(beam, candidates, key=lambda c: c.score):
                (finished if h.tokens[-1] == EOS else beams).append(h)
            if len(finished) >= beam or not beams:
                break
        return max(finished or beams, key=lambda h: h.score / len(h.tokens) ** penalty)


def bleu(candidates, references, longest=3):
    matches, totals, c, r = [0] * longest, [0] * longest, 0, 0
    for candidate, reference in zip(candidates, references):
        c, r = c + len(candidate), r + len(reference)
        for n in range(1, longest + 1):
            grams = lambda words: Counter(zip(*(words[i:] for i in range(n))))
            matches[n - 1] += sum((grams(candidate) & grams(reference)).values())
            totals[n - 1] += max(0, len(candidate) - n + 1)
    if min(matches) == 0:
        return 0.0
    logs = sum(math.log(m / t) for m, t in zip(matches, totals)) / longest
    return math.exp(logs + min(0.0, 1 - r / c))


def batches(data, size):
    random.shuffle(data)
    for start in range(0, len(data), size):
        sources, targets = zip(*data[start : start + size])
        pad = lambda rows: nn.utils.rnn.pad_sequence(
            [torch.tensor(row) for row in rows], batch_first=True, padding_value=PAD
        )
        yield pad(sources), torch.tensor(list(map(len, sources))), pad(targets)


def main():
    random.seed(1234)
    torch.manual_seed(1234)
    data = list(pairs(192, random.Random(5)))
    train, test = data[:176], data[176:]
    model = Seq2Seq(12, 6)
    for name, param in model.named_parameters():
        nn.init.normal_(param.data, mean=0, std=0.2) if "weight" in name else nn.init.constant_(param.data, 0)
    optimizer = torch.optim.Adamax(model.parameters(), lr=0.02)
    criterion = nn.CrossEntropyLoss(ignore_index=PAD, label_smoothing=0.05)
    for epoch in range(6):
        model.train()
        total = 0.0
        for source, lengths, target in batches(train, 16):
            optimizer.zero_grad()
            output = model(source, lengths, target, teacher_forcing=1.0 - 0.1 * epoch)
            loss = criterion(output.flatten(0, 1), target[:, 1:].flatten())
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1)
            optimizer.step()
            total += loss.item()
        print(f"Epoch: {epoch + 1:02} | Train Loss: {total / 11:.4f} | PPL: {math.exp(total / 11):.3f}")
    found = [model.translate(source) for source, _ in test]
    print("BLEU %.3f" % bleu([h.tokens[1:-1] for h in found], [target[1:-1] for _, target in test]))
    for h, (source, target) in zip(found[:3], test):
        print(source, "->", h.tokens, "wanted", target, f"{h.score:.3f}")


if __name__ == "__main__":
    main()
