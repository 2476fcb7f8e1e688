"""Capsules with dynamic routing: squashed vectors, agreement by einsum, margin loss, masked reconstruction."""

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

NUM_CLASSES, NUM_ROUTING_ITERATIONS = 3, 3


def softmax(input, dim=1):
    transposed = input.transpose(dim, len(input.size()) - 1)
    flat = F.softmax(transposed.contiguous().view(-1, transposed.size(-1)), dim=-1)
    return flat.view(*transposed.size()).transpose(dim, len(input.size()) - 1)


def squash(tensor, dim=-1):
    squared_norm = (tensor**2).sum(dim=dim, keepdim=True)
    return squared_norm / (1 + squared_norm) * tensor / torch.sqrt(squared_norm + 1e-8)


class PrimaryCapsules(nn.Module):
    def __init__(self, in_channels, capsules, dim, kernel_size, stride):
        super().__init__()
        self.capsules = nn.ModuleList(
            [nn.Conv2d(in_channels, dim, kernel_size=kernel_size, stride=stride) for _ in range(capsules)]
        )

    def forward(self, x):
        outputs = [capsule(x).flatten(2).transpose(1, 2) for capsule in self.capsules]
        return squash(torch.cat(outputs, dim=1))


class RoutedCapsules(nn.Module):
    def __init__(self, nodes, in_dim, classes, out_dim):
        super().__init__()
        self.route_weights = nn.Parameter(0.2 * torch.randn(classes, nodes, in_dim, out_dim))

    def forward(self, x):
        priors = torch.einsum("bni,cnio->cbno", x, self.route_weights)
        logits = torch.zeros(*priors.shape[:3], 1)
        for i in range(NUM_ROUTING_ITERATIONS):
            probs = softmax(logits, dim=0)
            outputs = squash((probs * priors).sum(dim=2, keepdim=True))
            if i != NUM_ROUTING_ITERATIONS - 1:
                logits = logits + (priors * outputs).sum(dim=-1, keepdim=True)
        return outputs.squeeze(2).transpose(0, 1)


class CapsuleNet(nn.Module):
    def __init__(self):
        super(CapsuleNet, self).__init__()
        self.conv1 = nn.Conv2d(1, 12, kernel_size=4)
        self.primary = PrimaryCapsules(12, capsules=3, dim=4, kernel_size=3, stride=2)
        self.classes = RoutedCapsules(3 * 3 * 3, 4, NUM_CLASSES, 6)
        self.decoder = nn.Sequential(
            nn.Linear(6 * NUM_CLASSES, 32), nn.ReLU(inplace=True), nn.Linear(32, 100), nn.Sigmoid(),
        )  # fmt: skip

    def forward(self, x, y=None):
        x = F.relu(self.conv1(x), inplace=True)
        x = self.classes(self.primary(x))
        classes = (x**2).sum(dim=-1) ** 0.5
        if y is None:
            _, max_length_indices = classes.max(dim=1)
            y = torch.eye(NUM_CLASSES).index_select(dim=0, index=max_length_indices)
        reconstructions = self.decoder((x * y[:, :, None]).reshape(x.size(0), -1))
        return F.softmax(classes, dim=-1), classes, reconstructions


class CapsuleLoss(nn.Module):
    def __init__(self):
        super().__init__()
        self.reconstruction_loss = nn.MSELoss(reduction="sum")

    def forward(self, images, labels, lengths, reconstructions):
        left = F.relu(0.9 - lengths, inplace=True) ** 2
        right = F.relu(lengths - 0.1, inplace=True) ** 2
        margin = (labels * left + 0.5 * (1.0 - labels) * right).sum()
        reconstruction = self.reconstruction_loss(reconstructions, images.view(reconstructions.size()[0], -1))
        return (margin + 0.0005 * reconstruction) / images.size(0)


def shapes(count):
    """Bars, corners and squares at random places."""
    labels = torch.arange(count) % NUM_CLASSES
    images = torch.zeros(count, 1, 10, 10)
    for image, label in zip(images, labels):
        y, x = torch.randint(0, 5, (2,)).tolist()
        image[0, y : y + 5, x] = 1
        if label >= 1:
            image[0, y + 4, x : x + 5] = 1
        if label == 2:
            image[0, y, x : x + 5] = image[0, y : y + 5, x + 4] = 1
    return TensorDataset(images, labels)


def augmentation(x, max_shift=1):
    _, _, height, width = x.size()
    h_shift, w_shift = torch.randint(-max_shift, max_shift + 1, (2,)).tolist()
    source_h = slice(max(0, h_shift), h_shift + height)
    source_w = slice(max(0, w_shift), w_shift + width)
    target_h = slice(max(0, -h_shift), -h_shift + height)
    target_w = slice(max(0, -w_shift), -w_shift + width)
    shifted = torch.zeros(*x.size())
    shifted[:, :, source_h, source_w] = x[:, :, target_h, target_w]
    return shifted.float()


if __name__ == "__main__":
    torch.manual_seed(14)
    model, capsule_loss = CapsuleNet(), CapsuleLoss()
    print("# parameters:", sum(param.numel() for param in model.parameters()))
    optimizer = torch.optim.Adam(model.parameters(), lr=4e-3, eps=1e-5)
    train_loader, test_loader = DataLoader(shapes(120), 24, shuffle=True), DataLoader(shapes(48), 24)
    for epoch in range(4):
        model.train()
        running = 0.0
        for images, labels in train_loader:
            images, labels = augmentation(images), torch.eye(NUM_CLASSES).index_select(dim=0, index=labels)
            _, lengths, reconstructions = model(images, labels)
            loss = capsule_loss(images, labels, lengths, reconstructions)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            running += loss.item()
        model.eval()
        with torch.no_grad():
            hits = sum((model(images)[0].argmax(1) == labels).sum().item() for images, labels in test_loader)
        print(f"epoch {epoch} loss {running / len(train_loader):.4f} hits {hits}")
    with torch.no_grad():
        _, lengths, _ = model(next(iter(test_loader))[0][:3])
    print([[round(v, 2) for v in row] for row in lengths.tolist()])
