"""End-to-end memory networks on little stories: position encoding, hops, adjacent tying, linear start, a vocabulary."""

import argparse
import re
import string
from collections import OrderedDict
from itertools import chain
from random import Random

import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset

PEOPLE, PLACES = ("mary", "john", "sandra"), ("kitchen", "garden", "office", "hall")
VERBS = "moved", "went", "travelled"


def stories(count, rng, sentences=4):
    for _ in range(count):
        where, story = {}, []
        for _ in range(sentences):
            person, place = rng.choice(PEOPLE), rng.choice(PLACES)
            where[person] = place
            story.append(f"{person.title()} {rng.choice(VERBS)} to the {place}.")
        person = rng.choice(sorted(where))
        yield story, f"Where is {person.title()}?", where[person]


def tokenize(sentence):
    return [word.strip().lower() for word in re.split(r"(\W+)", sentence) if word.strip(string.punctuation + " ")]


class bAbI(Dataset):
    vocabulary = OrderedDict({"<pad>": 0})

    def __init__(self, samples, memory_size=6):
        samples = [([tokenize(s) for s in story], tokenize(query), answer) for story, query, answer in samples]
        for story, query, answer in samples:
            for word in chain(*story, query, [answer]):
                self.vocabulary.setdefault(word, len(self.vocabulary))
        self.width = max(len(s) for story, query, _ in samples for s in (*story, query))
        self.rows = [self.vectorize(sample, memory_size) for sample in samples]

    def vectorize(self, sample, memory_size):
        story, query, answer = sample
        pad = lambda words: [self.vocabulary[w] for w in words] + [0] * (self.width - len(words))
        memory = np.zeros((memory_size, self.width), dtype=np.int64)
        for slot, sentence in enumerate(reversed(story[-memory_size:])):
            memory[slot] = pad(sentence)
        return torch.from_numpy(memory), torch.tensor(pad(query)), torch.tensor(self.vocabulary[answer])

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, index):
        return self.rows[index]


class AttrProxy:
    """Reaches numbered modules by attribute lookup."""

    def __init__(self, module, prefix):
        self.module, self.prefix = module, prefix

    def __getitem__(self, i):
        return getattr(self.module, self.prefix + str(i))


class MemN2N(nn.Module):
    def __init__(self, vocab, width, memory_size, embedding=16, hops=3):
        super().__init__()
        self.hops, self.linear = hops, False
        for hop in range(hops + 1):
            C = nn.Embedding(vocab, embedding, padding_idx=0)
            C.weight.data.normal_(0, 0.1)
            C.weight.data[0] = 0
            self.add_module(f"C_{hop}", C)
        self.C = AttrProxy(self, "C_")
        self.temporal = nn.Parameter(torch.zeros(hops + 1, memory_size, embedding).normal_(0, 0.1))
        self.register_buffer("encoding", self.position_encoding(width, embedding), persistent=False)

    @staticmethod
    def position_encoding(sentence_size, embedding_size):
        encoding = np.ones((embedding_size, sentence_size), dtype=np.float32)
        for i in range(1, embedding_size + 1):
            for j in range(1, sentence_size + 1):
                encoding[i - 1, j - 1] = (i - (embedding_size + 1) / 2) * (j - (sentence_size + 1) / 2)
        return torch.from_numpy(1 + 4 * encoding / embedding_size / sentence_size).t().contiguous()

    def forward(self, memory, query):
        u = [torch.sum(self.C[0](query) * self.encoding, 1)]
        batch, slots, words = memory.size()
        for hop in range(self.hops):
            embed = lambda k: (self.C[k](memory.view(batch, -1)).view(batch, slots, words, -1) * self.encoding).sum(2)
            m_a = embed(hop) + self.temporal[hop]
            m_c = embed(hop + 1) + self.temporal[hop + 1]
            scores = torch.sum(m_a * u[-1].unsqueeze(1).expand_as(m_a), 2)
            prob = scores if self.linear else torch.softmax(scores, 1)
            o_k = torch.sum(m_c * prob.unsqueeze(2), 1)
            u.append(u[-1] + o_k)
        return u[-1] @ self.C[self.hops].weight.transpose(0, 1)


def add_gradient_noise(parameters, rate, generator):
    for p in parameters:
        if p.grad is not None:
            p.grad.add_(torch.randn(p.shape, generator=generator), alpha=rate)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--hops", type=int, default=2, choices=(1, 2, 3))
    parser.add_argument("--epochs", type=int, default=6)
    parser.add_argument("--linear-start", dest="linear", action=argparse.BooleanOptionalAction, default=True)
    args = parser.parse_args()
    torch.manual_seed(60)
    train_set, test_set = bAbI(stories(160, Random(1))), bAbI(stories(48, Random(2)))
    generator = torch.Generator().manual_seed(61)
    model = MemN2N(len(bAbI.vocabulary), train_set.width, 6, hops=args.hops)
    print(len(bAbI.vocabulary), "words,", [name for name, _ in model.named_children()])
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02, eps=1e-3)
    scheduler = torch.optim.lr_scheduler.MultiplicativeLR(optimizer, lambda epoch: 0.8)
    criterion = nn.CrossEntropyLoss(reduction="sum")
    train_loader = DataLoader(train_set, batch_size=16, shuffle=True, generator=generator)
    for epoch in range(args.epochs):
        model.linear = args.linear and epoch < args.epochs // 2
        model.train()
        total = correct = 0
        for memory, query, answer in train_loader:
            scores = model(memory, query)
            loss = criterion(scores, answer)
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 20.0)
            add_gradient_noise(model.parameters(), 1e-3, generator)
            optimizer.step()
            with torch.no_grad():
                model.C[0].weight[0].zero_()
            total += loss.item()
            correct += scores.argmax(1).eq(answer).sum().item()
        scheduler.step()
        model.eval()
        with torch.no_grad():
            tested = [model(memory, query).argmax(1).eq(answer) for memory, query, answer in DataLoader(test_set, 16)]
        right = torch.cat(tested).sum().item()
        kind = "linear" if model.linear else "softmax"
        print(f"Epoch {epoch} {kind} loss {total / 160:.4f} train {correct} test {right}")


if __name__ == "__main__":
    main()
