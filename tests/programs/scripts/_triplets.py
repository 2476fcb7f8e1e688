"""Siamese embeddings: balanced batches, hard negatives mined online, triplet and ArcFace losses, retrieval by kNN."""

import itertools
import math
import random
from collections import defaultdict

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset
from torch.utils.data.sampler import BatchSampler


class Signals(Dataset):
    """Each class is a chord of two frequencies, each sample has its own phases."""

    def __init__(self, classes, per_class, length=48, seed=0):
        generator = torch.Generator().manual_seed(seed)
        chords = list(itertools.combinations(range(2, 9), 2))[:classes]
        time = torch.linspace(0, 2 * math.pi, length)
        self.data, self.targets = [], []
        for label, (a, b) in enumerate(chords):
            phase = torch.rand(per_class, 2, generator=generator) * 2 * math.pi
            wave = torch.sin(a * time + phase[:, :1]) + torch.sin(b * time + phase[:, 1:])
            self.data.append(wave + 0.3 * torch.randn(per_class, length, generator=generator))
            self.targets += [label] * per_class
        self.data = torch.cat(self.data).unsqueeze(1)

    def __getitem__(self, index):
        return self.data[index], self.targets[index]

    def __len__(self):
        return self.data.size(0)


class BalancedBatchSampler(BatchSampler):
    def __init__(self, labels, n_classes, n_samples, n_batches):
        self.by_label = defaultdict(list)
        for i, label in enumerate(labels):
            self.by_label[label].append(i)
        self.n_classes, self.n_samples, self.n_batches = n_classes, n_samples, n_batches

    def __iter__(self):
        for _ in range(self.n_batches):
            chosen = random.sample(sorted(self.by_label), self.n_classes)
            yield [i for label in chosen for i in random.sample(self.by_label[label], self.n_samples)]

    def __len__(self):
        return self.n_batches


class EmbeddingNet(nn.Module):
    def __init__(self, size=16):
        super().__init__()
        self.convnet = nn.Sequential(
            nn.Conv1d(1, 12, 7, padding=3), nn.PReLU(), nn.MaxPool1d(2),
            nn.Conv1d(12, 16, 5, padding=2), nn.PReLU(), nn.MaxPool1d(2), nn.InstanceNorm1d(16, affine=True),
        )  # fmt: skip
        self.fc = nn.Sequential(nn.Linear(16 * 12, 48), nn.PReLU(), nn.Linear(48, size))

    def forward(self, x):
        return F.normalize(self.fc(self.convnet(x).flatten(1)), p=2, dim=1)


class BatchHardTripletLoss(nn.Module):
    def __init__(self, margin=0.3):
        super().__init__()
        self.ranking = nn.MarginRankingLoss(margin=margin)

    def forward(self, x, y):
        n = x.size(0)
        squares = torch.pow(x, 2).sum(dim=1, keepdim=True).expand(n, n)
        dist = squares + squares.t()
        dist = dist.addmm(x, x.t(), beta=1, alpha=-2).clamp(min=1e-12).sqrt()
        mask = y.expand(n, n).eq(y.expand(n, n).t())
        furthest, closest = [], []
        for i in range(n):
            furthest.append(dist[i][mask[i]].max().unsqueeze(0))
            closest.append(dist[i][mask[i] == 0].min().unsqueeze(0))
        furthest, closest = torch.cat(furthest), torch.cat(closest)
        loss = self.ranking(closest, furthest, torch.ones_like(closest))
        return loss, (closest > furthest).float().mean().item()


class ArcMargin(nn.Module):
    """Angles between embeddings and class centres, the right one made larger."""

    def __init__(self, size, classes, s=16.0, m=0.3):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(classes, size))
        nn.init.xavier_uniform_(self.weight)
        self.s, self.cos_m, self.sin_m = s, math.cos(m), math.sin(m)
        self.threshold, self.mm = math.cos(math.pi - m), math.sin(math.pi - m) * m

    def forward(self, x, label):
        cosine = F.linear(x, F.normalize(self.weight))
        sine = torch.sqrt((1.0 - cosine.pow(2)).clamp(1e-6, 1))
        phi = torch.where(cosine > self.threshold, cosine * self.cos_m - sine * self.sin_m, cosine - self.mm)
        one_hot = torch.zeros_like(cosine).scatter_(1, label.view(-1, 1).long(), 1)
        return F.cross_entropy(self.s * (one_hot * phi + (1.0 - one_hot) * cosine), label)


@torch.no_grad()
def recall(model, gallery, queries, k=3):
    model.eval()
    keys, wanted = model(gallery.data), torch.tensor(gallery.targets)
    distances = torch.cdist(model(queries.data), keys)
    nearest = wanted[distances.topk(k, largest=False).indices]
    votes = torch.mode(nearest, 1).values
    return (votes == torch.tensor(queries.targets)).float().mean().item()


if __name__ == "__main__":
    random.seed(21)
    torch.manual_seed(21)
    train, test = Signals(6, 16), Signals(6, 8, seed=1)
    loader = DataLoader(train, batch_sampler=BalancedBatchSampler(train.targets, 4, 4, 8))
    model, triplet, arc = EmbeddingNet(), BatchHardTripletLoss(), ArcMargin(16, 6)
    optimizer = torch.optim.Adam(
        [{"params": model.parameters()}, {"params": arc.parameters(), "lr": 1e-2}], lr=2e-3, eps=1e-5
    )
    print(f"untrained {recall(model, train, test):.3f}")
    for epoch in range(4):
        model.train()
        sums = defaultdict(float)
        for x, y in loader:
            embedded = model(x)
            ranking, precision = triplet(embedded, y)
            angular = arc(embedded, y)
            optimizer.zero_grad()
            (ranking + 0.1 * angular).backward()
            optimizer.step()
            for name, value in (("triplet", ranking.item()), ("precision", precision), ("angular", angular.item())):
                sums[name] += value / len(loader)
        means = {name: round(value, 3) for name, value in sums.items()}
        print(epoch, means, f"recall {recall(model, train, test):.3f}")
