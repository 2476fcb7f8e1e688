"""Skip-grams with negative sampling: subsampling, an alias table, sparse-looking embeddings, nearest neighbours."""

import math
import random
import re
from collections import Counter

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.optim import Adagrad
from torch.utils.data import DataLoader, IterableDataset

KINDS = {
    "animal": ("cat", "dog", "cow", "pig"), "verb": ("eats", "sees", "likes"),
    "food": ("hay", "fish", "bread", "corn"), "place": ("barn", "field", "house"),
}  # fmt: skip


def write_text(sentences, rng):
    pick = lambda kind: rng.choice(KINDS[kind])
    for _ in range(sentences):
        yield f"The {pick('animal')} {pick('verb')} the {pick('food')} in the {pick('place')}."


class Vocabulary:
    def __init__(self, text, minimum=3):
        self.words = re.findall(r"[a-z]+", text.lower())
        counts = Counter(self.words)
        self.itos = [
            word for word, count in sorted(counts.items(), key=lambda item: (-item[1], item[0])) if count >= minimum
        ]
        self.stoi = {word: i for i, word in enumerate(self.itos)}
        self.frequency = np.array([counts[word] for word in self.itos], dtype=np.float64)
        self.frequency /= self.frequency.sum()

    def __len__(self):
        return len(self.itos)

    def encode(self):
        return [self.stoi[word] for word in self.words if word in self.stoi]


class AliasTable:
    """Draws from a discrete distribution in constant time per sample."""

    def __init__(self, probabilities):
        n = len(probabilities)
        self.threshold, self.alias = np.zeros(n), np.zeros(n, dtype=np.int64)
        scaled = probabilities / probabilities.sum() * n
        small = [i for i, p in enumerate(scaled) if p < 1.0]
        large = [i for i, p in enumerate(scaled) if p >= 1.0]
        while small and large:
            low, high = small.pop(), large.pop()
            self.threshold[low], self.alias[low] = scaled[low], high
            scaled[high] -= 1.0 - scaled[low]
            (small if scaled[high] < 1.0 else large).append(high)
        for i in small + large:
            self.threshold[i] = 1.0

    def draw(self, shape, rng):
        column = rng.randint(0, len(self.alias), shape)
        return np.where(rng.rand(*shape) < self.threshold[column], column, self.alias[column])


class SkipGrams(IterableDataset):
    def __init__(self, tokens, vocabulary, window=2, negatives=4, keep=5e-2):
        self.tokens, self.window, self.negatives = tokens, window, negatives
        self.keep = np.minimum(1.0, np.sqrt(keep / vocabulary.frequency))
        self.table = AliasTable(vocabulary.frequency**0.75)

    def __iter__(self):
        tokens = [t for t in self.tokens if random.random() < self.keep[t]]
        for i, centre in enumerate(tokens):
            reach = random.randint(1, self.window)
            for j in range(max(0, i - reach), min(len(tokens), i + reach + 1)):
                if i != j:
                    yield centre, tokens[j], self.table.draw((self.negatives,), np.random)


class SkipGramModel(nn.Module):
    def __init__(self, size, dim):
        super().__init__()
        self.u_embeddings = nn.Embedding(size, dim)
        self.v_embeddings = nn.Embedding(size, dim)
        bound = 0.5 / dim
        self.u_embeddings.weight.data.uniform_(-bound, bound)
        self.v_embeddings.weight.data.uniform_(-0, 0)

    def forward(self, u, positive, negative):
        centre = self.u_embeddings(u)
        score = torch.sum(torch.mul(centre, self.v_embeddings(positive)), dim=1).clamp(max=10, min=-10)
        noise = torch.bmm(self.v_embeddings(negative), centre.unsqueeze(2)).squeeze(2).clamp(max=10, min=-10)
        return torch.mean(-F.logsigmoid(score) - torch.sum(F.logsigmoid(-noise), dim=1))

    def similarity(self, i):
        vectors = self.u_embeddings.weight.data
        return F.cosine_similarity(vectors, vectors[i : i + 1], dim=1)


def collate(batch):
    centres, contexts, negatives = map(np.array, zip(*batch))
    return torch.from_numpy(centres), torch.from_numpy(contexts), torch.from_numpy(negatives)


def main():
    seed = 6
    random.seed(seed), np.random.seed(seed), torch.manual_seed(seed)
    vocabulary = Vocabulary(" ".join(write_text(120, random.Random(1))))
    dataset = SkipGrams(vocabulary.encode(), vocabulary)
    print(len(vocabulary), "words,", len(dataset.tokens), "tokens, most frequent", vocabulary.itos[:2])
    model = SkipGramModel(len(vocabulary), 12)
    optimizer = Adagrad(model.parameters(), lr=0.3)
    for epoch in range(4):
        losses = []
        for centres, contexts, negatives in DataLoader(dataset, batch_size=64, collate_fn=collate):
            optimizer.zero_grad()
            loss = model(centres, contexts, negatives)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        mean, last = sum(losses) / len(losses), math.exp(losses[-1])
        print(f"epoch {epoch} batches {len(losses)} loss {mean:.4f} perplexity {last:.3f}")
    for word in ("cat", "hay", "barn"):
        scores = model.similarity(vocabulary.stoi[word])
        kind = next(words for words in KINDS.values() if word in words)
        own = scores[[vocabulary.stoi[w] for w in kind if w != word]].mean()
        print(word, f"own kind {own:.3f} all {scores.mean():.3f}")


if __name__ == "__main__":
    main()
