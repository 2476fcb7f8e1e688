"""Lottery tickets: global magnitude pruning in rounds, rewound weights, structured pruning, masks in checkpoints."""

import copy
import io
from collections import OrderedDict

import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.nn.utils.prune as prune


class ConvNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            OrderedDict(
                conv1=nn.Conv2d(1, 8, 3, padding=1),
                relu1=nn.ReLU(),
                pool1=nn.MaxPool2d(2),
                conv2=nn.Conv2d(8, 12, 3, padding=1),
                relu2=nn.ReLU(),
                pool2=nn.MaxPool2d(2),
            )  # fmt: skip
        )
        self.classifier = nn.Sequential(nn.Flatten(), nn.Linear(12 * 4, 24), nn.ReLU(), nn.Linear(24, 3))

    def forward(self, x):
        return self.classifier(self.features(x))


class CheckeredPruning(prune.BasePruningMethod):
    """Prunes every other entry."""

    PRUNING_TYPE = "unstructured"

    def compute_mask(self, t, default_mask):
        mask = default_mask.clone()
        mask.view(-1)[::2] = 0
        return mask


def prunable(model):
    return [(m, "weight") for m in model.modules() if isinstance(m, (nn.Conv2d, nn.Linear))]


def sparsity(model):
    zeros = sum(int((m.weight == 0).sum()) for m, _ in prunable(model))
    return zeros / sum(m.weight.nelement() for m, _ in prunable(model))


def blobs(count):
    labels = torch.randint(3, (count,))
    images = 0.4 * torch.randn(count, 1, 8, 8)
    images[labels == 0, :, :4] += 0.8
    images[labels == 1, :, :, :4] += 0.8
    images[labels == 2, :, 2:6, 2:6] += 0.8
    return images, labels


def train(model, data, epochs, lr=0.05):
    optimizer = torch.optim.SGD(model.parameters(), lr=lr, momentum=0.9)
    model.train()
    for _ in range(epochs):
        for x, y in zip(data[0].split(32), data[1].split(32)):
            optimizer.zero_grad()
            loss = F.cross_entropy(model(x), y)
            loss.backward()
            optimizer.step()
    return loss.item()


@torch.no_grad()
def accuracy(model, data):
    model.eval()
    return (model(data[0]).argmax(1) == data[1]).float().mean().item()


def rewind(model, start):
    """Weights as they were at the beginning, masks as they are now."""
    state = model.state_dict()
    for name, value in start.items():
        state[name + "_orig" if name + "_orig" in state else name] = value
    model.load_state_dict(state)


def main():
    torch.manual_seed(55)
    data, test = blobs(128), blobs(60)
    model = ConvNet()
    start = copy.deepcopy(model.state_dict())
    for cycle in range(3):
        loss = train(model, data, 3)
        print(f"round {cycle} loss {loss:.4f} accuracy {accuracy(model, test):.3f} sparsity {sparsity(model):.3f}")
        prune.global_unstructured(prunable(model), pruning_method=prune.L1Unstructured, amount=0.3)
        rewind(model, start)
    loss = train(model, data, 3)
    print(f"ticket loss {loss:.4f} accuracy {accuracy(model, test):.3f} sparsity {sparsity(model):.3f}")
    first = model.features.conv1
    print([name for name, _ in first.named_parameters()], [name for name, _ in first.named_buffers()])
    print("history", [type(method).__name__ for method in first._forward_pre_hooks.values()])

    prune.ln_structured(model.features.conv2, name="weight", amount=4, n=2, dim=0)
    alive = model.features.conv2.weight.flatten(1).abs().sum(1) > 0
    print("channels alive", alive.sum().item(), prune.is_pruned(model))
    CheckeredPruning.apply(model.classifier[3], "bias")
    print("bias mask", model.classifier[3].bias_mask.tolist())
    prune.random_unstructured(model.classifier[1], "weight", amount=0.25)
    print(f"retrained {train(model, data, 2, lr=0.02):.4f}")

    file = io.BytesIO()
    torch.save(model.state_dict(), file)
    file.seek(0)
    fresh = ConvNet()
    for (module, name), (other, _) in zip(prunable(fresh), prunable(model)):
        prune.custom_from_mask(module, name, mask=torch.ones_like(other.weight))
    prune.identity(fresh.classifier[3], "bias")
    print(fresh.load_state_dict(torch.load(file)))
    for module, name in prunable(fresh):
        prune.remove(module, name)
    prune.remove(fresh.classifier[3], "bias")
    print("same after removal:", torch.allclose(fresh.eval()(test[0]), model.eval()(test[0]), atol=1e-6))
    print(sorted(fresh.state_dict())[:3], prune.is_pruned(fresh), f"{sparsity(fresh):.3f} {accuracy(fresh, test):.3f}")


if __name__ == "__main__":
    main()
