# run: --torch
# run: --torch --capture=off
# timeout: 300
"""Training steps of small models: losses as PyTorch's, captured and not."""

import torch
import torch.nn.functional as F
from _tables import check, elements
from torchvision import models
from torchvision.models.resnet import BasicBlock
from torchvision.ops import sigmoid_focal_loss

MODELS = {
    "resnet": lambda: models.ResNet(BasicBlock, [1, 1, 1, 1], num_classes=4),
    "mobilenet_v3": lambda: models.mobilenet_v3_small(num_classes=4, dropout=0.0),
    "densenet": lambda: models.DenseNet(8, (2, 2), 16, num_classes=4),
    "vit": lambda: models.VisionTransformer(32, 8, 2, 2, 16, 32, num_classes=4),
    "convnext": lambda: models.ConvNeXt(
        [models.convnext.CNBlockConfig(8, 16, 1), models.convnext.CNBlockConfig(16, None, 2)], num_classes=4
    ),
}


def step(model, optimizer, images, labels):
    optimizer.zero_grad()
    scores = model(images)
    loss = F.cross_entropy(scores, labels) + 0.1 * sigmoid_focal_loss(
        scores, F.one_hot(labels, 4).float(), reduction="mean"
    )
    loss.backward()
    optimizer.step()
    return loss.item()


items = []
for name, build in MODELS.items():
    torch.manual_seed(1)
    model = build().train()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    images, labels = elements(8, 3, 32, 32) - 0.5, torch.arange(8) % 4
    items.append((name, [step(model, optimizer, images, labels) for _ in range(8)]))
check(items, __file__)
