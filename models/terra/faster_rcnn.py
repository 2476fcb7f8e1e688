"""Faster R-CNN with a small backbone. Between its two stages numpy takes over: it decodes the proposals, suppresses
those that overlap and draws samples, so the second stage has another number of boxes at every step."""

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from common import Progress, parse
from images import drawn_scene

CONFIG = {
    "side": 64,
    "classes": 4,  # class 0 is the background
    "batch": 4,
    "stride": 8,
    "sizes": (14, 19, 25),
    "rpn_samples": 32,
    "before_nms": 60,
    "after_nms": 20,
    "nms": 0.6,
    "roi_samples": 12,
    "pooled": 4,
    "score": 0.5,
}


def make_anchors(config):
    """[cells * sizes, 4], corners in pixels, in the order of the RPN's outputs."""
    cells = config["side"] // config["stride"]
    middles = (np.arange(cells) + 0.5) * config["stride"]
    y, x, size = np.meshgrid(middles, middles, config["sizes"], indexing="ij")
    boxes = np.stack([x - size / 2, y - size / 2, x + size / 2, y + size / 2], axis=-1)
    return boxes.reshape(-1, 4).astype(np.float32)


def middles_and_sizes(boxes):
    return (boxes[:, :2] + boxes[:, 2:]) / 2, boxes[:, 2:] - boxes[:, :2]


def encode(anchors, boxes):
    (a, a_size), (b, b_size) = middles_and_sizes(anchors), middles_and_sizes(boxes)
    return np.concatenate([(b - a) / a_size, np.log(b_size / a_size)], axis=1)


def decode(anchors, deltas, side):
    middle, size = middles_and_sizes(anchors)
    middle = middle + deltas[:, :2] * size
    size = size * np.exp(np.clip(deltas[:, 2:], -2, 2))
    return np.clip(np.concatenate([middle - size / 2, middle + size / 2], axis=1), 0, side)


def box_iou(a, b):
    low = np.maximum(a[:, None, :2], b[None, :, :2])
    high = np.minimum(a[:, None, 2:], b[None, :, 2:])
    common = np.clip(high - low, 0, None).prod(axis=2)
    areas = [(boxes[:, 2:] - boxes[:, :2]).prod(axis=1) for boxes in (a, b)]
    return common / (areas[0][:, None] + areas[1][None] - common)


def nms(boxes, scores, threshold):
    """Indices of the boxes that stay, the best first."""
    order, kept = np.argsort(-scores, kind="stable"), []
    while len(order):
        best, order = order[0], order[1:]
        kept.append(best)
        order = order[box_iou(boxes[best : best + 1], boxes[order])[0] <= threshold]
    return np.array(kept, dtype=np.int64)


def sample(draw, positive, negative, count):
    """(indices, how many of them are positive): up to half of them positive, all drawn."""
    positive = draw.permutation(positive)[: count // 2]
    negative = draw.permutation(negative)[: count - len(positive)]
    return np.concatenate([positive, negative]), len(positive)


class Backbone(nn.Module):
    def __init__(self, width):
        super().__init__()
        layers, inputs = [], 3
        for outputs in (width, 2 * width, 4 * width):
            layers += [nn.Conv2d(inputs, outputs, 3, 2, padding=1, bias=False), nn.BatchNorm2d(outputs), nn.ReLU()]
            layers += [nn.Conv2d(outputs, outputs, 3, padding=1, bias=False), nn.BatchNorm2d(outputs), nn.ReLU()]
            inputs = outputs
        self.layers = nn.Sequential(*layers)

    def forward(self, images):
        return self.layers(images)


class RegionProposalNetwork(nn.Module):
    def __init__(self, config, channels):
        super().__init__()
        self.config = config
        self.anchors = make_anchors(config)
        count = len(config["sizes"])
        self.conv = nn.Conv2d(channels, channels, 3, padding=1)
        self.scores = nn.Conv2d(channels, count, 1)
        self.deltas = nn.Conv2d(channels, 4 * count, 1)

    def forward(self, features):
        """(scores [images, anchors], deltas [images, anchors, 4])"""
        x = F.relu(self.conv(features))
        scores = self.scores(x).permute(0, 2, 3, 1).flatten(1)
        return scores, self.deltas(x).permute(0, 2, 3, 1).reshape(x.size(0), -1, 4)

    def proposals(self, scores, deltas):
        """The boxes of one image that are worth a look."""
        scores, deltas = scores.detach().numpy(), deltas.detach().numpy()
        best = np.argsort(-scores, kind="stable")[: self.config["before_nms"]]
        boxes = decode(self.anchors[best], deltas[best], self.config["side"])
        large = (boxes[:, 2:] - boxes[:, :2]).min(axis=1) >= 4
        boxes, scores = boxes[large], scores[best][large]
        return boxes[nms(boxes, scores, self.config["nms"])[: self.config["after_nms"]]]

    def loss(self, draw, scores, deltas, truth):
        overlap = box_iou(self.anchors, truth)
        best = overlap.max(axis=1)
        positive = (best >= 0.6) | (overlap == overlap.max(axis=0)).any(axis=1)
        chosen, count = sample(
            draw, np.flatnonzero(positive), np.flatnonzero(~positive & (best < 0.4)), self.config["rpn_samples"]
        )
        labels = (np.arange(len(chosen)) < count).astype(np.float32)
        loss = F.binary_cross_entropy_with_logits(scores[torch.from_numpy(chosen)], torch.from_numpy(labels))
        chosen = chosen[:count]
        target = encode(self.anchors[chosen], truth[overlap[chosen].argmax(axis=1)])
        return loss + F.smooth_l1_loss(deltas[torch.from_numpy(chosen)], torch.from_numpy(target))


class FasterRCNN(nn.Module):
    def __init__(self, config, width=16):
        super().__init__()
        self.config = config
        channels = 4 * width
        self.backbone = Backbone(width)
        self.rpn = RegionProposalNetwork(config, channels)
        self.fc = nn.Linear(channels * config["pooled"] ** 2, 128)
        self.classes = nn.Linear(128, config["classes"] + 1)
        self.deltas = nn.Linear(128, 4)

    def pool(self, features, boxes):
        """RoI pooling: features [1, c, h, w] and n boxes -> [n, c, pooled, pooled]."""
        middle, size = middles_and_sizes(boxes * 2 / self.config["side"] - 1)
        theta = np.zeros((len(boxes), 2, 3), dtype=np.float32)
        theta[:, [0, 1], [0, 1]] = size / 2
        theta[:, :, 2] = middle
        pooled = 2 * self.config["pooled"]
        size = (len(boxes), features.size(1), pooled, pooled)
        grid = F.affine_grid(torch.from_numpy(theta), size, align_corners=False)
        crops = F.grid_sample(features.expand(len(boxes), -1, -1, -1), grid, align_corners=False)
        return F.max_pool2d(crops, 2)

    def head(self, pooled):
        x = F.relu(self.fc(pooled.flatten(1)))
        return self.classes(x), self.deltas(x)

    def roi_samples(self, draw, proposals, truth, labels):
        """(boxes, their classes, the deltas of the first of them, which are no background)"""
        proposals = np.concatenate([proposals, truth])
        overlap = box_iou(proposals, truth)
        best = overlap.max(axis=1)
        positive, negative = np.flatnonzero(best >= 0.5), np.flatnonzero(best < 0.5)
        chosen, count = sample(draw, positive, negative, self.config["roi_samples"])
        boxes, matched = proposals[chosen], overlap[chosen].argmax(axis=1)
        classes = np.where(np.arange(len(chosen)) < count, labels[matched] + 1, 0)
        return boxes, classes, encode(boxes[:count], truth[matched[:count]])

    def loss(self, draw, images, truths, labels):
        features = self.backbone(images)
        scores, deltas = self.rpn(features)
        rpn_loss, pooled, classes, positive, targets, seen = 0, [], [], [], [], 0
        for i in range(len(images)):
            rpn_loss = rpn_loss + self.rpn.loss(draw, scores[i], deltas[i], truths[i])
            proposals = self.rpn.proposals(scores[i], deltas[i])
            boxes, box_classes, box_targets = self.roi_samples(draw, proposals, truths[i], labels[i])
            pooled.append(self.pool(features[i : i + 1], boxes))
            classes.append(box_classes)
            positive.append(seen + np.arange(len(box_targets)))
            targets.append(box_targets)
            seen += len(boxes)
        class_scores, box_deltas = self.head(torch.cat(pooled))
        class_loss = F.cross_entropy(class_scores, torch.from_numpy(np.concatenate(classes)))
        positive, targets = torch.from_numpy(np.concatenate(positive)), torch.from_numpy(np.concatenate(targets))
        box_loss = F.smooth_l1_loss(box_deltas[positive], targets)
        return rpn_loss / len(images), class_loss, box_loss

    @torch.no_grad()
    def detect(self, image):
        """(boxes, classes) of one image [1, 3, h, w]."""
        features = self.backbone(image)
        scores, deltas = self.rpn(features)
        boxes = self.rpn.proposals(scores[0], deltas[0])
        class_scores, deltas = self.head(self.pool(features, boxes))
        shares, classes = class_scores.softmax(1).max(1)
        boxes = decode(boxes, deltas.numpy(), self.config["side"])
        shares, classes = shares.numpy(), classes.numpy()
        sure = (classes > 0) & (shares > self.config["score"])
        boxes, shares, classes = boxes[sure], shares[sure], classes[sure]
        kept = nms(boxes, shares, 0.3)
        return boxes[kept], classes[kept] - 1


def load_batch(draw, config, count):
    images, boxes, labels = zip(*(drawn_scene(draw, config["side"], config["classes"]) for _ in range(count)))
    return torch.from_numpy(np.stack(images)), boxes, labels


def evaluate(model, images, truths, labels):
    """The share of objects that are found with the right class, and of finds that are right."""
    model.eval()
    right, finds = 0, 0
    for i in range(len(images)):
        boxes, classes = model.detect(images[i : i + 1])
        finds += len(boxes)
        if len(boxes):
            right += ((box_iou(truths[i], boxes) > 0.5) & (labels[i][:, None] == classes[None])).any(axis=1).sum()
    model.train()
    return right / sum(map(len, truths)), right / max(1, finds)


def main(arguments=None, progress=None):
    options = parse("Trains Faster R-CNN on drawn scenes.", arguments, 300)
    progress = progress or Progress(options)
    draw = np.random.default_rng(options.seed)

    model = FasterRCNN(CONFIG)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9, weight_decay=5e-4)
    scheduler = torch.optim.lr_scheduler.LinearLR(optimizer, start_factor=0.02, total_iters=60)
    for step in range(1, options.steps + 1):
        images, boxes, labels = load_batch(draw, CONFIG, CONFIG["batch"])
        rpn_loss, class_loss, box_loss = model.loss(draw, images, boxes, labels)
        loss = rpn_loss + class_loss + box_loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        scheduler.step()
        progress.step(step, loss)
        if step % options.log_every == 0:
            print(f"RPN {rpn_loss.item():.3f}, classes {class_loss.item():.3f}, boxes {box_loss.item():.3f}")
    found, right = evaluate(model, *load_batch(draw, CONFIG, 32))
    print(f"found {100 * found:.1f} % of the objects of test images; {100 * right:.1f} % of the finds are right")


if __name__ == "__main__":
    main()
