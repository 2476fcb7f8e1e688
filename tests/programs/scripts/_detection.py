"""A one-stage detector: anchors on a feature pyramid, IoU matching, focal and GIoU losses, non-maximum suppression."""

import argparse
import itertools
import sys

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset


class Shapes(Dataset):
    """Images with one to three squares (class 0) or frames (class 1), and their boxes."""

    def __init__(self, count, size=32, seed=0):
        rng = np.random.RandomState(seed)
        self.samples = []
        for _ in range(count):
            image, boxes, labels = rng.rand(1, size, size).astype(np.float32) * 0.2, [], []
            for _ in range(rng.randint(1, 4)):
                side = rng.randint(6, 14)
                x, y = rng.randint(0, size - side, 2)
                kind = rng.randint(2)
                image[0, y : y + side, x : x + side] = 1.0
                if kind:
                    image[0, y + 2 : y + side - 2, x + 2 : x + side - 2] = 0.0
                boxes.append([x, y, x + side, y + side])
                labels.append(kind)
            target = {"boxes": torch.tensor(boxes, dtype=torch.float32), "labels": torch.tensor(labels)}
            self.samples.append((torch.from_numpy(image), target))

    def __len__(self):
        return len(self.samples)

    def __getitem__(self, index):
        return self.samples[index]


def collate(batch):
    images, targets = zip(*batch)
    return torch.stack(images), list(targets)


def area(boxes):
    return (boxes[..., 2] - boxes[..., 0]) * (boxes[..., 3] - boxes[..., 1])


def iou(a, b):
    corner = torch.max(a[:, None, :2], b[None, :, :2])
    opposite = torch.min(a[:, None, 2:], b[None, :, 2:])
    inside = (opposite - corner).clamp(min=0).prod(-1)
    return inside / (area(a)[:, None] + area(b)[None] - inside)


def giou_loss(a, b):
    inside = (torch.min(a[:, 2:], b[:, 2:]) - torch.max(a[:, :2], b[:, :2])).clamp(min=0).prod(1)
    union = area(a) + area(b) - inside
    hull = (torch.max(a[:, 2:], b[:, 2:]) - torch.min(a[:, :2], b[:, :2])).prod(1)
    return 1 - inside / union + (hull - union) / hull


def sigmoid_focal_loss(logits, targets, alpha=0.25, gamma=2.0):
    p = torch.sigmoid(logits)
    ce = F.binary_cross_entropy_with_logits(logits, targets, reduction="none")
    p_t = p * targets + (1 - p) * (1 - targets)
    return ((alpha * targets + (1 - alpha) * (1 - targets)) * (1 - p_t) ** gamma * ce).sum()


def nms(boxes, scores, threshold):
    order, keep = scores.argsort(descending=True), []
    while order.numel() > 0:
        best = order[0]
        keep.append(best.item())
        if order.numel() == 1:
            break
        order = order[1:][iou(boxes[best].unsqueeze(0), boxes[order[1:]]).squeeze(0) <= threshold]
    return torch.tensor(keep, dtype=torch.long)


class Detector(nn.Module):
    strides, scales = (4, 8), (1.5, 2.5)

    def __init__(self, classes=2, width=16):
        super().__init__()
        conv = lambda i, o, s: nn.Sequential(nn.Conv2d(i, o, 3, s, 1), nn.GroupNorm(4, o), nn.ReLU())
        self.stem = nn.Sequential(conv(1, 8, 2), conv(8, width, 2))
        self.deep = conv(width, width, 2)
        self.lateral = nn.Conv2d(width, width, 1)
        anchors = len(self.scales)
        self.cls_head = nn.Sequential(conv(width, width, 1), nn.Conv2d(width, anchors * classes, 3, padding=1))
        self.box_head = nn.Sequential(conv(width, width, 1), nn.Conv2d(width, anchors * 4, 3, padding=1))
        self.classes = classes
        nn.init.constant_(self.cls_head[-1].bias, -2.0)

    def anchors(self, shapes):
        for stride, (height, width) in zip(self.strides, shapes):
            grid = [(torch.arange(n) + 0.5) * stride for n in (height, width)]
            y, x = torch.meshgrid(*grid, indexing="ij")
            centres = torch.stack([x, y, x, y], -1).reshape(-1, 1, 4)
            half = torch.tensor([[-s, -s, s, s] for s in self.scales]) * stride / 2 * 1.5
            yield (centres + half).reshape(-1, 4)

    def forward(self, images):
        fine = self.stem(images)
        coarse = self.deep(fine)
        fine = self.lateral(fine) + F.interpolate(coarse, scale_factor=2, mode="nearest")
        levels = [fine, coarse]
        flat = lambda t, last: t.permute(0, 2, 3, 1).reshape(len(images), -1, last)
        logits = torch.cat([flat(self.cls_head(level), self.classes) for level in levels], 1)
        deltas = torch.cat([flat(self.box_head(level), 4) for level in levels], 1)
        return logits, deltas, torch.cat(list(self.anchors([level.shape[-2:] for level in levels])))

    @staticmethod
    def decode(deltas, anchors):
        size = anchors[:, 2:] - anchors[:, :2]
        centre = anchors[:, :2] + 0.5 * size + deltas[..., :2] * size
        size = size * deltas[..., 2:].clamp(max=2.0).exp()
        return torch.cat([centre - 0.5 * size, centre + 0.5 * size], -1)

    def loss(self, images, targets):
        logits, deltas, anchors = self(images)
        boxes = self.decode(deltas, anchors)
        classification, regression, positives = 0.0, 0.0, 0
        for i, target in enumerate(targets):
            overlap, match = iou(anchors, target["boxes"]).max(dim=1)
            foreground, ignored = overlap >= 0.5, (overlap >= 0.4) & (overlap < 0.5)
            foreground[iou(anchors, target["boxes"]).argmax(dim=0)] = True
            wanted = torch.zeros_like(logits[i])
            wanted[foreground, target["labels"][match[foreground]]] = 1.0
            used = foreground | ~ignored
            classification = classification + sigmoid_focal_loss(logits[i][used], wanted[used])
            regression = regression + giou_loss(boxes[i][foreground], target["boxes"][match[foreground]]).sum()
            positives += int(foreground.sum())
        return {"cls": classification / max(1, positives), "box": regression / max(1, positives)}

    @torch.no_grad()
    def detect(self, images, threshold=0.3):
        logits, deltas, anchors = self(images)
        for scores, boxes in zip(logits.sigmoid(), self.decode(deltas, anchors)):
            best, labels = scores.max(1)
            chosen = best > threshold
            boxes, best, labels = boxes[chosen].clamp(0, images.shape[-1]), best[chosen], labels[chosen]
            keep = nms(boxes + labels[:, None] * 100, best, 0.4)[:5]
            yield {"boxes": boxes[keep], "scores": best[keep], "labels": labels[keep]}


def main(arguments):
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", default=5, type=int)
    parser.add_argument("-b", "--batch-size", default=8, type=int)
    parser.add_argument("--lr", default=0.01, type=float)
    args = parser.parse_args(arguments)
    torch.manual_seed(4)
    loader = DataLoader(Shapes(48), args.batch_size, shuffle=True, collate_fn=collate)
    model = Detector()
    optimizer = torch.optim.SGD(model.parameters(), args.lr, momentum=0.9, weight_decay=1e-4)
    warm_up = torch.optim.lr_scheduler.LinearLR(optimizer, start_factor=0.1, total_iters=len(loader))
    for epoch in range(args.epochs):
        totals = {}
        for images, targets in loader:
            losses = model.loss(images, targets)
            loss = sum(losses.values())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            warm_up.step()
            for name, value in itertools.chain(losses.items(), [("all", loss)]):
                totals[name] = totals.get(name, 0.0) + value.item() / len(loader)
        print("epoch", epoch, " ".join(f"{name} {value:.4f}" for name, value in totals.items()))
    images, targets = collate([Shapes(4, seed=9)[i] for i in range(4)])
    for found, target in zip(model.eval().detect(images, 0.15), targets):
        hits = (iou(found["boxes"], target["boxes"]).max(1)[0] > 0.3).sum().item() if len(found["boxes"]) else 0
        print(len(target["labels"]), "objects", len(found["labels"]), "found", hits, "on one")


if __name__ == "__main__":
    main(sys.argv[1:])
