"""U-Net segmentation: skip connections that are padded to fit, Dice loss, augmentation, workers, accumulation."""

import argparse
import logging
import sys

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset


class DoubleConv(nn.Module):
    """(convolution => [BN] => ReLU) * 2"""

    def __init__(self, in_channels, out_channels, mid_channels=None):
        super().__init__()
        if not mid_channels:
            mid_channels = out_channels
        self.double_conv = nn.Sequential(
            nn.Conv2d(in_channels, mid_channels, kernel_size=3, padding=1, bias=False), nn.BatchNorm2d(mid_channels),
            nn.ReLU(inplace=True),
            nn.Conv2d(mid_channels, out_channels, kernel_size=3, padding=1, bias=False), nn.BatchNorm2d(out_channels),
            nn.ReLU(inplace=True),
        )  # fmt: skip

    def forward(self, x):
        return self.double_conv(x)


class Down(nn.Module):
    def __init__(self, in_channels, out_channels):
        super().__init__()
        self.maxpool_conv = nn.Sequential(nn.MaxPool2d(2), DoubleConv(in_channels, out_channels))

    def forward(self, x):
        return self.maxpool_conv(x)


class Up(nn.Module):
    def __init__(self, in_channels, out_channels, bilinear=True):
        super().__init__()
        if bilinear:
            self.up = nn.Upsample(scale_factor=2, mode="bilinear", align_corners=True)
            self.conv = DoubleConv(in_channels, out_channels, in_channels // 2)
        else:
            self.up = nn.ConvTranspose2d(in_channels, in_channels // 2, kernel_size=2, stride=2)
            self.conv = DoubleConv(in_channels, out_channels)

    def forward(self, x1, x2):
        x1 = self.up(x1)
        diffY = x2.size()[2] - x1.size()[2]
        diffX = x2.size()[3] - x1.size()[3]
        x1 = F.pad(x1, [diffX // 2, diffX - diffX // 2, diffY // 2, diffY - diffY // 2])
        return self.conv(torch.cat([x2, x1], dim=1))


class UNet(nn.Module):
    def __init__(self, n_channels, n_classes, bilinear=True, width=6):
        super().__init__()
        self.n_channels, self.n_classes, self.bilinear = n_channels, n_classes, bilinear
        factor = 2 if bilinear else 1
        self.inc = DoubleConv(n_channels, width)
        self.down1 = Down(width, 2 * width)
        self.down2 = Down(2 * width, 4 * width // factor)
        self.up1 = Up(4 * width, 2 * width // factor, bilinear)
        self.up2 = Up(2 * width, width, bilinear)
        self.outc = nn.Conv2d(width, n_classes, kernel_size=1)

    def forward(self, x):
        x1 = self.inc(x)
        x2 = self.down1(x1)
        x3 = self.down2(x2)
        return self.outc(self.up2(self.up1(x3, x2), x1))


class Ellipses(Dataset):
    """The masks are drawn with numpy; odd sizes, so that nothing halves evenly."""

    def __init__(self, count, augment=False, shape=(19, 22)):
        self.augment, (height, width) = augment, shape
        rng = np.random.RandomState(count)
        y, x = np.mgrid[:height, :width]
        self.images, self.masks = [], []
        for _ in range(count):
            cy, cx, a, b = rng.uniform([5, 5, 2, 2], [height - 5, width - 5, 6, 6])
            mask = ((y - cy) / a) ** 2 + ((x - cx) / b) ** 2 < 1
            image = rng.normal(0.3, 0.2, (3, height, width)) + mask * rng.uniform(0.2, 0.6, (3, 1, 1))
            self.images.append(image)
            self.masks.append(mask.astype(np.int64))

    def __len__(self):
        return len(self.images)

    def __getitem__(self, idx):
        image, mask = self.images[idx], self.masks[idx]
        if self.augment and idx % 2:
            image, mask = image[..., ::-1].copy(), mask[..., ::-1].copy()
        return {"image": torch.as_tensor(image).float().contiguous(), "mask": torch.as_tensor(mask).long().contiguous()}


def dice_coeff(input, target, reduce_batch_first=False, epsilon=1e-6):
    assert input.size() == target.size()
    sum_dim = (-1, -2) if input.dim() == 2 or not reduce_batch_first else (-1, -2, -3)
    inter = 2 * (input * target).sum(dim=sum_dim)
    sets_sum = input.sum(dim=sum_dim) + target.sum(dim=sum_dim)
    sets_sum = torch.where(sets_sum == 0, inter, sets_sum)
    return ((inter + epsilon) / (sets_sum + epsilon)).mean()


def dice_loss(input, target):
    return 1 - dice_coeff(input.flatten(0, 1), target.flatten(0, 1), reduce_batch_first=True)


@torch.inference_mode()
def evaluate(net, dataloader):
    net.eval()
    score = 0
    for batch in dataloader:
        predicted = net(batch["image"]).argmax(dim=1)
        one_hot = F.one_hot(predicted, net.n_classes).permute(0, 3, 1, 2).float()
        wanted = F.one_hot(batch["mask"], net.n_classes).permute(0, 3, 1, 2).float()
        score += dice_coeff(one_hot[:, 1:].flatten(0, 1), wanted[:, 1:].flatten(0, 1))
    net.train()
    return score / max(len(dataloader), 1)


def get_args():
    parser = argparse.ArgumentParser(description="Train the UNet on images and target masks")
    parser.add_argument("--epochs", "-e", metavar="E", type=int, default=3, help="Number of epochs")
    parser.add_argument("--batch-size", "-b", dest="batch_size", metavar="B", type=int, default=4)
    parser.add_argument("--accumulate", type=int, default=2, help="Batches per step")
    parser.add_argument("--learning-rate", "-l", metavar="LR", type=float, default=0.1, dest="lr")
    return parser.parse_args()


if __name__ == "__main__":
    args = get_args()
    logging.basicConfig(level=logging.INFO, format="%(levelname)s: %(message)s", stream=sys.stdout)
    for bilinear in (True, False):
        torch.manual_seed(2)
        model = UNet(n_channels=3, n_classes=2, bilinear=bilinear)
        logging.info(f"Network: {'Bilinear' if model.bilinear else 'Transposed conv'} upscaling")
        train = DataLoader(Ellipses(40, augment=True), shuffle=True, batch_size=args.batch_size, num_workers=2)
        test = DataLoader(Ellipses(8), batch_size=4)
        optimizer = torch.optim.SGD(model.parameters(), lr=args.lr, weight_decay=1e-8, momentum=0.9, nesterov=True)
        criterion = nn.CrossEntropyLoss()
        for epoch in range(1, args.epochs + 1):
            epoch_loss = 0
            for i, batch in enumerate(train):
                masks_pred = model(batch["image"])
                loss = criterion(masks_pred, batch["mask"])
                wanted = F.one_hot(batch["mask"], model.n_classes).permute(0, 3, 1, 2).float()
                loss += dice_loss(F.softmax(masks_pred, dim=1).float(), wanted)
                (loss / args.accumulate).backward()
                if (i + 1) % args.accumulate == 0:
                    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
                    optimizer.step()
                    optimizer.zero_grad(set_to_none=True)
                epoch_loss += loss.item()
            logging.info(f"Epoch {epoch}: loss {epoch_loss / len(train):.4f}, Dice {evaluate(model, test):.4f}")
