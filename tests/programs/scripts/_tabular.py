"""A tabular net: embeddings of categories, a numeric branch, sparse attention over features, focal loss, k-fold."""

import json
import math
import os
import tempfile
from collections import OrderedDict

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.autograd import Function
from torch.utils.data import DataLoader, Subset, TensorDataset, WeightedRandomSampler

CONFIG = {"cardinalities": [5, 3, 7], "numeric": 6, "hidden": 16, "steps": 3, "gamma": 1.3, "lr": 0.02, "epochs": 3}


class SparsemaxFunction(Function):
    """The Euclidean projection onto the simplex."""

    @staticmethod
    def forward(ctx, scores, dim=-1):
        ctx.dim = dim
        scores = scores - scores.max(dim=dim, keepdim=True)[0]
        ordered, _ = torch.sort(scores, descending=True, dim=dim)
        rank = torch.arange(1, scores.size(dim) + 1, dtype=scores.dtype)
        cumulative = ordered.cumsum(dim) - 1
        support = (rank * ordered > cumulative).sum(dim=dim, keepdim=True)
        threshold = cumulative.gather(dim, support - 1) / support.to(scores.dtype)
        output = torch.clamp(scores - threshold, min=0)
        ctx.save_for_backward(support, output)
        return output

    @staticmethod
    def backward(ctx, grad_output):
        support, output = ctx.saved_tensors
        grad = grad_output.clone()
        grad[output == 0] = 0
        mean = grad.sum(dim=ctx.dim, keepdim=True) / support.to(output.dtype)
        return torch.where(output != 0, grad - mean, grad), None


sparsemax = SparsemaxFunction.apply


class GLU(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.fc = nn.Linear(inputs, 2 * outputs, bias=False)
        self.bn = nn.BatchNorm1d(2 * outputs, momentum=0.02)

    def forward(self, x):
        return F.glu(self.bn(self.fc(x)))


class TabularNet(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.config = config
        sizes = [min(50, (n + 1) // 2) for n in config["cardinalities"]]
        self.embeddings = nn.ModuleList([nn.Embedding(n, d) for n, d in zip(config["cardinalities"], sizes)])
        width = sum(sizes) + config["numeric"]
        self.norm = nn.BatchNorm1d(config["numeric"])
        self.shared = GLU(width, config["hidden"])
        self.blocks = nn.ModuleList()
        for _ in range(config["steps"]):
            block = OrderedDict(
                mask=nn.Linear(config["hidden"], width), transform=GLU(config["hidden"], config["hidden"])
            )
            self.blocks.append(nn.ModuleDict(block))
        self.head = nn.Linear(config["hidden"], 1)
        nn.init.constant_(self.head.bias, -math.log((1 - 0.25) / 0.25))

    def forward(self, categories, numbers):
        parts = [embed(categories[:, i]) for i, embed in enumerate(self.embeddings)]
        x = torch.cat(parts + [self.norm(numbers)], dim=1)
        prior, total, entropy = torch.ones_like(x), 0, 0
        state = self.shared(x)
        for block in self.blocks:
            mask = sparsemax(block["mask"](state) * prior)
            entropy = entropy - (mask * torch.log(mask + 1e-8)).sum(1).mean()
            prior = prior * (self.config["gamma"] - mask)
            state = math.sqrt(0.5) * (self.shared(mask * x) + block["transform"](state))
            total = total + F.relu(state)
        return self.head(total).squeeze(1), entropy / len(self.blocks)


class FocalLoss(nn.Module):
    def __init__(self, alpha=0.75, gamma=2.0):
        super().__init__()
        self.alpha, self.gamma = alpha, gamma

    def forward(self, logits, targets):
        bce = F.binary_cross_entropy_with_logits(logits, targets, reduction="none")
        weight = self.alpha * targets + (1 - self.alpha) * (1 - targets)
        return (weight * (1 - torch.exp(-bce)) ** self.gamma * bce).mean()

    def extra_repr(self):
        return f"alpha={self.alpha}, gamma={self.gamma}"


def auc(scores, labels):
    order = np.argsort(scores)
    ranks = np.empty(len(scores))
    ranks[order] = np.arange(1, len(scores) + 1)
    positive = labels == 1
    n, m = positive.sum(), (~positive).sum()
    return (ranks[positive].sum() - n * (n + 1) / 2) / (n * m)


def make_table(rows):
    rng = np.random.default_rng(0)
    categories = np.stack([rng.integers(0, n, rows) for n in CONFIG["cardinalities"]], 1)
    numbers = rng.normal(size=(rows, CONFIG["numeric"])).astype(np.float32)
    score = numbers[:, 0] * (categories[:, 0] > 1) + np.sin(2 * numbers[:, 1]) + (categories[:, 2] == 3) - 0.8
    labels = (score + 0.3 * rng.normal(size=rows) > 0.4).astype(np.float32)
    return torch.from_numpy(categories), torch.from_numpy(numbers), torch.from_numpy(labels)


def fit(dataset, train_rows, valid_rows, path):
    labels = dataset.tensors[2][train_rows]
    share = labels.mean().item()
    weights = torch.where(labels == 1, 0.5 / share, 0.5 / (1 - share)).tolist()
    sampler = WeightedRandomSampler(weights, num_samples=len(train_rows), replacement=True)
    loader = DataLoader(Subset(dataset, train_rows), batch_size=32, sampler=sampler, drop_last=True)
    model, criterion = TabularNet(CONFIG), FocalLoss()
    optimizer = torch.optim.AdamW(model.parameters(), lr=CONFIG["lr"], weight_decay=0.01)
    scheduler = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, 2 * CONFIG["lr"], total_steps=CONFIG["epochs"] * len(loader)
    )
    best = 0.0
    for epoch in range(CONFIG["epochs"]):
        model.train()
        running = 0.0
        for categories, numbers, targets in loader:
            optimizer.zero_grad()
            logits, entropy = model(categories, numbers)
            loss = criterion(logits, targets) + 1e-3 * entropy
            loss.backward()
            optimizer.step()
            scheduler.step()
            running += loss.item()
        model.eval()
        with torch.no_grad():
            scores = torch.sigmoid(model(*dataset[valid_rows][:2])[0]).numpy()
        score = auc(scores, dataset.tensors[2][valid_rows].numpy())
        print(f"  epoch {epoch} loss {running / len(loader):.5f} auc {score:.4f} lr {scheduler.get_last_lr()[0]:.5f}")
        if score > best:
            best = score
            torch.save(model.state_dict(), path)
    return best


def main():
    torch.manual_seed(2023)
    dataset = TensorDataset(*make_table(240))
    print(FocalLoss(), json.dumps(CONFIG, sort_keys=True))
    folds = np.array_split(np.random.RandomState(1).permutation(len(dataset)), 3)
    predictions = []
    with tempfile.TemporaryDirectory() as folder:
        for i, valid in enumerate(folds):
            train = np.concatenate([f for j, f in enumerate(folds) if j != i])
            path = os.path.join(folder, f"fold{i}.pt")
            print(f"fold {i}: best {fit(dataset, train.tolist(), valid.tolist(), path):.4f}")
            model = TabularNet(CONFIG)
            model.load_state_dict(torch.load(path, map_location="cpu"))
            with torch.no_grad():
                predictions.append(model.eval()(*dataset.tensors[:2])[0])
    print(f"ensemble {auc(torch.stack(predictions).mean(0).numpy(), dataset.tensors[2].numpy()):.4f}")


if __name__ == "__main__":
    main()
