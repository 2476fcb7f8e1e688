"""YOLOv3 with a small darknet. Each image has its own number of objects, the targets are scattered to the cells of
three heads by tensors of that many indices, and masks pick what enters the losses."""

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from common import Progress, parse
from images import drawn_scene

CONFIG = {
    "side": 64,
    "classes": 4,
    "batch": 6,
    "anchors": [[(34, 34), (40, 40), (48, 48)], [(20, 20), (24, 24), (28, 28)], [(10, 10), (13, 13), (16, 16)]],
    "strides": [32, 16, 8],
    "ignore": 0.5,
    "no_object_weight": 2.0,
}


def conv(inputs, outputs, size, stride=1):
    return nn.Sequential(
        nn.Conv2d(inputs, outputs, size, stride, padding=size // 2, bias=False),
        nn.BatchNorm2d(outputs),
        nn.LeakyReLU(0.1),
    )


class Residual(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.layers = nn.Sequential(conv(channels, channels // 2, 1), conv(channels // 2, channels, 3))

    def forward(self, x):
        return x + self.layers(x)


class Darknet(nn.Module):
    """Three feature maps, the coarsest first."""

    def __init__(self, width):
        super().__init__()
        self.stem = conv(3, width, 3)
        self.stages = nn.ModuleList()
        for i in range(5):
            inputs, outputs = width * min(2**i, 8), width * min(2 ** (i + 1), 8)
            self.stages.append(nn.Sequential(conv(inputs, outputs, 3, stride=2), Residual(outputs)))

    def forward(self, x):
        x = self.stem(x)
        features = []
        for stage in self.stages:
            x = stage(x)
            features.append(x)
        return features[:1:-1]


class YOLOLayer(nn.Module):
    """Turns the output of a head into boxes, in cells."""

    def __init__(self, anchors, classes, stride):
        super().__init__()
        self.classes, self.stride = classes, stride
        self.register_buffer("anchors", torch.tensor(anchors, dtype=torch.float32) / stride)
        self.grid_size, self.grid = 0, None

    def compute_grid(self, size):
        self.grid_size = size
        y, x = torch.meshgrid(torch.arange(size), torch.arange(size), indexing="ij")
        self.grid = torch.stack((x, y), dim=-1).float()

    def forward(self, x):
        """(offsets in the cell, sizes relative to the anchors, objectness and class logits, boxes)"""
        b, _, size, _ = x.shape
        if size != self.grid_size:
            self.compute_grid(size)
        x = x.view(b, len(self.anchors), self.classes + 5, size, size).permute(0, 1, 3, 4, 2).contiguous()
        xy, wh = torch.sigmoid(x[..., :2]), x[..., 2:4]
        with torch.no_grad():
            boxes = torch.cat((xy + self.grid, torch.exp(wh) * self.anchors[:, None, None, :]), dim=-1)
        return xy, wh, x[..., 4], x[..., 5:], boxes


class YOLOv3(nn.Module):
    def __init__(self, config, width=8):
        super().__init__()
        outputs = 3 * (config["classes"] + 5)
        self.backbone = Darknet(width)
        self.necks, self.heads, self.routes = nn.ModuleList(), nn.ModuleList(), nn.ModuleList()
        routed = 0
        for channels in (8 * width, 8 * width, 8 * width):
            self.necks.append(nn.Sequential(conv(channels + routed, 4 * width, 1), conv(4 * width, 8 * width, 3)))
            self.heads.append(nn.Conv2d(8 * width, outputs, 1))
            self.routes.append(conv(8 * width, 2 * width, 1))
            routed = 2 * width
        self.yolo_layers = nn.ModuleList(
            [YOLOLayer(a, config["classes"], s) for a, s in zip(config["anchors"], config["strides"])]
        )
        for module in self.modules():
            if isinstance(module, nn.Conv2d):
                nn.init.kaiming_normal_(module.weight, a=0.1)
        for head in self.heads:
            nn.init.normal_(head.weight, std=0.01)

    def forward(self, images):
        outputs, route = [], None
        for feature, neck, head, to_next, yolo in zip(
            self.backbone(images), self.necks, self.heads, self.routes, self.yolo_layers
        ):
            if route is not None:
                feature = torch.cat((feature, F.interpolate(route, scale_factor=2, mode="nearest")), dim=1)
            x = neck(feature)
            outputs.append(yolo(head(x)))
            route = to_next(x)
        return outputs


def size_iou(wh, others):
    """IoU of boxes with one middle: [n, 2] and [m, 2] -> [n, m]."""
    common = torch.min(wh[:, None], others[None]).prod(2)
    return common / (wh.prod(1)[:, None] + others.prod(1)[None] - common)


def box_iou(a, b):
    """IoU pair by pair of boxes given by middle and size."""
    low = torch.max(a[:, :2] - a[:, 2:] / 2, b[:, :2] - b[:, 2:] / 2)
    high = torch.min(a[:, :2] + a[:, 2:] / 2, b[:, :2] + b[:, 2:] / 2)
    common = (high - low).clamp(min=0).prod(1)
    return common / (a[:, 2:].prod(1) + b[:, 2:].prod(1) - common + 1e-9)


def build_targets(boxes, targets, anchors, all_anchors, ignore):
    """Where a head has objects and where it has none, and what it should say there. `targets` [n, 6]: image, class
    and box (middle and size, in cells). A head is responsible for the objects whose best of all anchors is one of its
    own."""
    object_mask = torch.zeros(boxes.shape[:4], dtype=torch.bool)
    no_object_mask = torch.ones(boxes.shape[:4], dtype=torch.bool)
    xy, wh = torch.zeros(*boxes.shape[:4], 2), torch.zeros(*boxes.shape[:4], 2)
    classes = torch.zeros(boxes.shape[:4], dtype=torch.long)

    image, label = targets[:, :2].long().t()
    ious = size_iou(targets[:, 4:], anchors)
    cells = targets[:, 2:4].long()
    for i, row in enumerate(ious):
        no_object_mask[image[i], row > ignore, cells[i, 1], cells[i, 0]] = False

    own = ious.max(1).values >= size_iou(targets[:, 4:], all_anchors).max(1).values
    image, label, cells, targets = image[own], label[own], cells[own], targets[own]
    best = ious[own].argmax(1)
    at = (image, best, cells[:, 1], cells[:, 0])
    object_mask[at] = True
    no_object_mask[at] = False
    xy[at] = targets[:, 2:4] - cells
    wh[at] = torch.log(targets[:, 4:] / anchors[best] + 1e-16)
    classes[at] = label
    overlap = box_iou(boxes[at], targets[:, 2:])
    return object_mask, no_object_mask, xy, wh, classes, overlap


def head_loss(output, layer, targets, all_anchors, config):
    """(loss, how many objects the head has, how many boxes of them overlap enough)"""
    xy, wh, objectness, class_logits, boxes = output
    scaled = targets.clone()
    scaled[:, 2:] *= boxes.size(2)
    object_mask, no_object_mask, target_xy, target_wh, classes, overlap = build_targets(
        boxes, scaled, layer.anchors, all_anchors / layer.stride, config["ignore"]
    )
    no_object = objectness[no_object_mask]
    loss = config["no_object_weight"] * F.binary_cross_entropy_with_logits(no_object, torch.zeros_like(no_object))
    if object_mask.any():
        there = objectness[object_mask]
        loss = loss + F.mse_loss(xy[object_mask], target_xy[object_mask])
        loss = loss + F.mse_loss(wh[object_mask], target_wh[object_mask])
        loss = loss + F.binary_cross_entropy_with_logits(there, torch.ones_like(there))
        loss = loss + F.cross_entropy(class_logits[object_mask], classes[object_mask])
    return loss, len(overlap), (overlap > 0.5).sum()


def load_batch(draw, config):
    """(images, targets [n, 6]: image, class, and middle and size of the box as shares of the image's side)"""
    images, targets = [], []
    for i in range(config["batch"]):
        image, boxes, labels = drawn_scene(draw, config["side"], config["classes"])
        images.append(image)
        for (left, top, right, bottom), label in zip(boxes / config["side"], labels):
            targets.append((i, label, (left + right) / 2, (top + bottom) / 2, right - left, bottom - top))
    return torch.from_numpy(np.stack(images)), torch.tensor(np.array(targets, dtype=np.float32))


def main(arguments=None, progress=None):
    options = parse("Trains YOLOv3 on drawn scenes.", arguments, 300)
    progress = progress or Progress(options)
    draw = np.random.default_rng(options.seed)

    model = YOLOv3(CONFIG)
    all_anchors = torch.tensor(CONFIG["anchors"], dtype=torch.float32).view(-1, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9, weight_decay=5e-4)
    scheduler = torch.optim.lr_scheduler.LinearLR(optimizer, start_factor=0.02, total_iters=40)
    losses, found, objects = [], 0, 0
    for step in range(1, options.steps + 1):
        images, targets = load_batch(draw, CONFIG)
        loss = 0
        for output, layer in zip(model(images), model.yolo_layers):
            part, count, right = head_loss(output, layer, targets, all_anchors, CONFIG)
            loss = loss + part
            objects += count
            found = found + right
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        scheduler.step()
        losses.append(loss.detach())
        progress.step(step, loss)
        if step % options.log_every == 0:
            print(f"of the last {objects} objects {100 * found.item() / objects:.1f} % have a box with IoU above 0.5")
            found, objects = 0, 0
    print(f"mean loss of the last steps {torch.stack(losses[-20:]).mean().item():.4f}")


if __name__ == "__main__":
    main()
