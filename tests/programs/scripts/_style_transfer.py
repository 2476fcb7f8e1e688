"""Neural style: Gram matrices and content from the layers of a frozen net, the picture itself as the parameter."""

import copy

import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim


def gram_matrix(input):
    a, b, c, d = input.size()
    features = input.view(a * b, c * d)
    return torch.mm(features, features.t()).div(a * b * c * d)


class ContentLoss(nn.Module):
    def __init__(self, target):
        super(ContentLoss, self).__init__()
        self.target = target.detach()

    def forward(self, input):
        self.loss = F.mse_loss(input, self.target)
        return input


class StyleLoss(nn.Module):
    def __init__(self, target_feature):
        super(StyleLoss, self).__init__()
        self.target = gram_matrix(target_feature).detach()

    def forward(self, input):
        self.loss = F.mse_loss(gram_matrix(input), self.target)
        return input


class Normalization(nn.Module):
    def __init__(self, mean, std):
        super(Normalization, self).__init__()
        self.mean = mean.clone().detach().view(-1, 1, 1)
        self.std = std.clone().detach().view(-1, 1, 1)

    def forward(self, img):
        return (img - self.mean) / self.std


def features(widths=(8, 8, 12), seed=1):
    """Random filters stand in for a pretrained net; total variation of random nets is enough to tell textures apart."""
    torch.manual_seed(seed)
    layers, inputs = [], 3
    for i, width in enumerate(widths):
        layers += [nn.Conv2d(inputs, width, 3, padding=1, padding_mode="reflect"), nn.ReLU(inplace=True)]
        if i < len(widths) - 1:
            layers.append(nn.AvgPool2d(2))
        inputs = width
    return nn.Sequential(*layers).eval()


def get_style_model_and_losses(
    cnn, style_img, content_img, content_layers=("conv_3",), style_layers=("conv_1", "conv_2", "conv_3")
):
    normalization = Normalization(torch.tensor([0.485, 0.456, 0.406]), torch.tensor([0.229, 0.224, 0.225]))
    content_losses, style_losses = [], []
    model = nn.Sequential(normalization)
    i = 0
    for layer in cnn.children():
        if isinstance(layer, nn.Conv2d):
            i += 1
            name = "conv_{}".format(i)
        elif isinstance(layer, nn.ReLU):
            name = "relu_{}".format(i)
            layer = nn.ReLU(inplace=False)
        elif isinstance(layer, nn.AvgPool2d):
            name = "pool_{}".format(i)
        else:
            raise RuntimeError("Unrecognized layer: {}".format(layer.__class__.__name__))
        model.add_module(name, layer)
        if name in content_layers:
            content_loss = ContentLoss(model(content_img).detach())
            model.add_module("content_loss_{}".format(i), content_loss)
            content_losses.append(content_loss)
        if name in style_layers:
            style_loss = StyleLoss(model(style_img).detach())
            model.add_module("style_loss_{}".format(i), style_loss)
            style_losses.append(style_loss)
    for i in range(len(model) - 1, -1, -1):
        if isinstance(model[i], ContentLoss) or isinstance(model[i], StyleLoss):
            break
    return model[: (i + 1)], style_losses, content_losses


def total_variation(img):
    return (img[:, :, 1:] - img[:, :, :-1]).abs().mean() + (img[..., 1:] - img[..., :-1]).abs().mean()


def run_style_transfer(
    cnn, content_img, style_img, input_img, make_optimizer, num_steps, style_weight=1e3, content_weight=1
):
    model, style_losses, content_losses = get_style_model_and_losses(cnn, style_img, content_img)
    input_img.requires_grad_(True)
    model.requires_grad_(False)
    optimizer = make_optimizer([input_img])
    run = [0]
    while run[0] < num_steps:

        def closure():
            with torch.no_grad():
                input_img.clamp_(0, 1)
            optimizer.zero_grad()
            model(input_img)
            style_score, content_score = 0, 0
            for sl in style_losses:
                style_score += sl.loss
            for cl in content_losses:
                content_score += cl.loss
            style_score *= style_weight
            content_score *= content_weight
            loss = style_score + content_score + 0.05 * total_variation(input_img)
            loss.backward()
            run[0] += 1
            if run[0] % 6 == 0:
                scores = style_score.item(), content_score.item()
                print("run {}: Style Loss: {:.4f} Content Loss: {:.4f}".format(run[0], *scores))
            return style_score + content_score

        optimizer.step(closure)
    with torch.no_grad():
        input_img.clamp_(0, 1)
    return input_img


def pictures(size=16):
    grid = torch.linspace(0, 1, size)
    content = torch.stack([grid.expand(size, size), grid[:, None].expand(size, size), 1 - grid.expand(size, size)])
    content[:, 4:10, 4:10] = 0.9
    style = 0.5 + 0.5 * torch.sin(torch.stack([grid[:, None] * k + grid * (12 - k) for k in (20, 9, 15)]))
    return content.unsqueeze(0), style.unsqueeze(0)


if __name__ == "__main__":
    cnn = features()
    content, style = pictures()
    for label, make, steps in (
        ("adam", lambda p: optim.Adam(p, lr=0.02, eps=1e-4), 24),
        ("lbfgs", lambda p: optim.LBFGS(p, lr=0.3, max_iter=6), 12),
    ):
        print(label)
        output = run_style_transfer(copy.deepcopy(cnn), content, style, content.clone(), make, steps)
        print(f"moved by {(output - content).abs().mean().item():.4f}, leaf {output.is_leaf}")
