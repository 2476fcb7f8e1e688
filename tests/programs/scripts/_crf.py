"""A bidirectional LSTM tagger with a linear-chain conditional random field: forward algorithm, Viterbi, masks."""

import random

import torch
import torch.nn as nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence
from torch.utils.data import DataLoader

TAGS = ["O", "B", "I"]
SENTENCES = 96


class CRF(nn.Module):
    def __init__(self, tags):
        super().__init__()
        self.start = nn.Parameter(torch.empty(tags))
        self.end = nn.Parameter(torch.empty(tags))
        self.transitions = nn.Parameter(torch.empty(tags, tags))
        self.reset_parameters()

    def reset_parameters(self):
        for parameter in self.parameters():
            nn.init.uniform_(parameter, -0.1, 0.1)

    def __repr__(self):
        return f"{type(self).__name__}(tags={len(self.start)})"

    def forward(self, emissions, tags, mask):
        """Negative log likelihood, mean over the batch; time first."""
        return (self.normalizer(emissions, mask) - self.score(emissions, tags, mask)).mean()

    def score(self, emissions, tags, mask):
        batch = torch.arange(tags.shape[1])
        score = self.start[tags[0]] + emissions[0, batch, tags[0]]
        for t in range(1, len(tags)):
            step = self.transitions[tags[t - 1], tags[t]] + emissions[t, batch, tags[t]]
            score = score + step * mask[t]
        last = tags[mask.long().sum(0) - 1, batch]
        return score + self.end[last]

    def normalizer(self, emissions, mask):
        alpha = self.start + emissions[0]
        for t in range(1, len(emissions)):
            following = torch.logsumexp(alpha.unsqueeze(2) + self.transitions + emissions[t].unsqueeze(1), dim=1)
            alpha = torch.where(mask[t].unsqueeze(1), following, alpha)
        return torch.logsumexp(alpha + self.end, dim=1)

    @torch.no_grad()
    def decode(self, emissions, mask):
        score, history = self.start + emissions[0], []
        for t in range(1, len(emissions)):
            best, came_from = (score.unsqueeze(2) + self.transitions + emissions[t].unsqueeze(1)).max(dim=1)
            score = torch.where(mask[t].unsqueeze(1), best, score)
            history.append(came_from)
        score = score + self.end
        paths = []
        for row, length in enumerate(mask.sum(0).tolist()):
            path = [score[row].argmax().item()]
            for came_from in reversed(history[: length - 1]):
                path.append(came_from[row][path[-1]].item())
            paths.append(path[::-1])
        return paths


class Tagger(nn.Module):
    def __init__(self, words, embedding=12, hidden=16):
        super().__init__()
        self.embedding = nn.Embedding(words, embedding, padding_idx=0)
        self.lstm = nn.LSTM(embedding, hidden // 2, bidirectional=True)
        self.projection = nn.Linear(hidden, len(TAGS))
        self.crf = CRF(len(TAGS))

    def features(self, words, lengths):
        packed = pack_padded_sequence(self.embedding(words), lengths, enforce_sorted=False)
        states, _ = pad_packed_sequence(self.lstm(packed)[0])
        return self.projection(states)

    def forward(self, words, lengths, tags):
        return self.crf(self.features(words, lengths), tags, words != 0)

    def decode(self, words, lengths):
        return self.crf.decode(self.features(words, lengths), words != 0)


def sentence():
    """Words from 10 on start a span of two or three; nothing else tells where it ends."""
    words, tags = [], []
    while len(words) < random.randint(4, 8):
        if random.random() < 0.4:
            inside = random.randint(1, 2)
            words += [random.randint(10, 14)] + [random.randint(5, 9) for _ in range(inside)]
            tags += [1] + [2] * inside
        else:
            words.append(random.randint(1, 7))
            tags.append(0)
    return words, tags


def collate(samples):
    words, tags = zip(*samples)
    lengths = torch.tensor([len(w) for w in words])
    return pad_sequence([torch.tensor(w) for w in words]), lengths, pad_sequence([torch.tensor(t) for t in tags])


def evaluate(model, loader):
    model.eval()
    right = total = 0
    for words, lengths, tags in loader:
        for path, row in zip(model.decode(words, lengths), tags.t()):
            right += sum(p == g for p, g in zip(path, row.tolist()))
            total += len(path)
    return right / total


def main():
    random.seed(11)
    torch.manual_seed(11)
    data = [sentence() for _ in range(SENTENCES)]
    split = SENTENCES * 3 // 4
    training = DataLoader(data[:split], batch_size=12, shuffle=True, collate_fn=collate)
    testing = DataLoader(data[split:], batch_size=12, collate_fn=collate)
    model = Tagger(15)
    print(model.crf, sum(p.numel() for p in model.parameters()), "parameters")
    optimizer = torch.optim.Adam(model.parameters(), lr=0.03, weight_decay=1e-4)
    for epoch in range(5):
        model.train()
        losses = []
        for words, lengths, tags in training:
            model.zero_grad()
            loss = model(words, lengths, tags)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        print(f"epoch {epoch} loss {sum(losses) / len(losses):.4f} accuracy {evaluate(model, testing):.4f}")
    words, lengths, tags = next(iter(testing))
    print([" ".join(TAGS[t] for t in path) for path in model.decode(words, lengths)[:3]])
    print("transitions", [[round(v, 2) for v in row] for row in model.crf.transitions.tolist()])


if __name__ == "__main__":
    main()
