"""An image classifier that logs to TensorBoard: scalars, histograms, images, hyperparameters; resumed half-way."""

import argparse
import pathlib
import struct
import tempfile
import types

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset, random_split

try:
    from torch.utils.tensorboard import SummaryWriter
except ImportError:  # runs without the package, and writes nothing

    class SummaryWriter(types.SimpleNamespace):
        def __getattr__(self, name):
            return lambda *args, **kwargs: None


class AverageMeter:
    """Computes and stores the average and current value"""

    def __init__(self, name, fmt=":f"):
        self.name, self.fmt = name, fmt
        self.reset()

    def reset(self):
        self.val = self.avg = self.sum = self.count = 0

    def update(self, val, n=1):
        self.val = val
        self.sum += val * n
        self.count += n
        self.avg = self.sum / self.count

    def __str__(self):
        return ("{name} {val" + self.fmt + "} ({avg" + self.fmt + "})").format(**self.__dict__)


class Crosses(Dataset):
    """A bright row and a bright column; the class is the quadrant in which they meet."""

    def __init__(self, count, transform=None):
        self.places, self.transform = torch.randint(0, 12, (count, 2)), transform

    def __len__(self):
        return len(self.places)

    def __getitem__(self, index):
        row, column = self.places[index].tolist()
        image = torch.zeros(1, 12, 12)
        image[:, row] += 0.5
        image[:, :, column] += 0.5
        if self.transform is not None:
            image = self.transform(image)
        return image, 2 * (row >= 6) + (column >= 6)


class LeNet(nn.Module):
    def __init__(self, channels=6):
        super().__init__()
        self.conv1, self.conv2 = nn.Conv2d(1, channels, 3, padding=1), nn.Conv2d(channels, 12, 3)
        self.bn = nn.BatchNorm2d(12)
        self.fc1, self.fc2 = nn.Linear(12 * 4, 24), nn.Linear(24, 4)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.conv1(x)), 2)
        x = F.max_pool2d(F.relu(self.bn(self.conv2(x))), 2)
        return self.fc2(F.dropout(F.relu(self.fc1(x.flatten(1))), 0.2, self.training))


def accuracy(output, target, topk=(1,)):
    """The k best guesses, in percent"""
    with torch.no_grad():
        _, pred = output.topk(max(topk), 1, True, True)
        correct = pred.t().eq(target.view(1, -1).expand_as(pred.t()))
        return [correct[:k].reshape(-1).float().sum(0).mul_(100.0 / target.size(0)) for k in topk]


def train(loader, model, criterion, optimizer, epoch, writer):
    losses, top1, top2 = AverageMeter("Loss", ":.4f"), AverageMeter("Acc@1", ":6.2f"), AverageMeter("Acc@2", ":6.2f")
    model.train()
    for i, (images, target) in enumerate(loader):
        output = model(images)
        loss = criterion(output, target)
        acc1, acc2 = accuracy(output, target, topk=(1, 2))
        losses.update(loss.item(), images.size(0))
        top1.update(acc1.item(), images.size(0))
        top2.update(acc2.item(), images.size(0))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        writer.add_scalar("train/loss", loss.item(), epoch * len(loader) + i)
    print("\t".join([f"Epoch: [{epoch}]", *map(str, (losses, top1, top2))]))
    for name, parameter in model.named_parameters():
        writer.add_histogram(name.replace(".", "/"), parameter.detach(), epoch)
        writer.add_scalar("norm/" + name, parameter.grad.norm(), epoch)


def validate(loader, model, criterion, epoch, writer):
    losses, top1 = AverageMeter("Loss", ":.4f"), AverageMeter("Acc", ":6.2f")
    model.eval()
    with torch.no_grad():
        for images, target in loader:
            output = model(images)
            losses.update(criterion(output, target).item(), len(images))
            top1.update(accuracy(output, target)[0].item(), len(images))
    writer.add_scalars("validation", {"loss": losses.avg, "accuracy": top1.avg}, epoch)
    writer.add_images("input", images[:4], epoch)
    print(f" * {losses} {top1}")
    return top1.avg


def records(path):
    """How many records an event file holds: length, checksum, bytes, checksum."""
    data, count = path.read_bytes(), 0
    while data:
        (length,) = struct.unpack("<Q", data[:8])
        data, count = data[16 + length :], count + 1
    return count


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--batch-size", type=int, default=16)
    parser.add_argument("--lr", type=float, default=0.1)
    args = parser.parse_args()
    torch.manual_seed(31)
    noisy = lambda image: image + 0.05 * torch.randn_like(image)
    train_set, valid_set = random_split(Crosses(160, noisy), [128, 32])
    train_loader = DataLoader(train_set, args.batch_size, shuffle=True)
    valid_loader = DataLoader(valid_set, args.batch_size)
    criterion = nn.CrossEntropyLoss(label_smoothing=0.05)
    with tempfile.TemporaryDirectory() as folder:
        log_dir, checkpoint = pathlib.Path(folder, "runs"), pathlib.Path(folder) / "checkpoint.pth.tar"
        writer = SummaryWriter(log_dir=str(log_dir), comment="lenet")
        for start, stop in ((0, args.epochs // 2), (args.epochs // 2, args.epochs)):
            model = LeNet()
            optimizer = torch.optim.SGD(model.parameters(), args.lr, momentum=0.9, weight_decay=1e-4)
            scheduler = torch.optim.lr_scheduler.MultiStepLR(optimizer, milestones=[1, 3], gamma=0.5)
            if checkpoint.is_file():
                saved = torch.load(checkpoint, weights_only=False)
                model.load_state_dict(saved["state_dict"])
                optimizer.load_state_dict(saved["optimizer"])
                scheduler.load_state_dict(saved["scheduler"])
                print(f"=> loaded checkpoint (epoch {saved['epoch']}) best {saved['best']:.2f} {saved['arguments']}")
            best = 0.0
            for epoch in range(start, stop):
                train(train_loader, model, criterion, optimizer, epoch, writer)
                best = max(best, validate(valid_loader, model, criterion, epoch, writer))
                scheduler.step()
                writer.add_scalar("lr", optimizer.param_groups[0]["lr"], epoch)
            state = {"epoch": epoch + 1, "state_dict": model.state_dict(), "best": best, "arguments": args,
                     "optimizer": optimizer.state_dict(), "scheduler": scheduler.state_dict()}  # fmt: skip
            torch.save(state, checkpoint)
        writer.add_text("config", str(vars(args)))
        writer.add_hparams({"lr": args.lr, "batch": args.batch_size}, {"hparam/accuracy": best})
        writer.flush()
        writer.close()
        files = list(log_dir.glob("events.out.tfevents.*")) if log_dir.exists() else []
        print("event files have records:", all(records(file) > 32 + args.epochs * 20 for file in files))


if __name__ == "__main__":
    main()
