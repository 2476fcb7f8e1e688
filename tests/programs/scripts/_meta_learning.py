"""Few-shot classification: MAML by functional_call with learned rates, first order for comparison, prototypes."""

import argparse
from collections import OrderedDict
from contextlib import nullcontext

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.func import functional_call, grad, vmap


class TaskSampler:
    """Each task: `ways` classes, points around class centres in a plane that is turned per task."""

    def __init__(self, ways, shots, queries, dim=6, seed=0):
        self.ways, self.shots, self.queries, self.dim = ways, shots, queries, dim
        self.generator = torch.Generator().manual_seed(seed)

    def __call__(self, tasks):
        return [self.task() for _ in range(tasks)]

    def task(self):
        draw = lambda *shape: torch.randn(*shape, generator=self.generator)
        centres = 1.5 * draw(self.ways, self.dim)
        points = centres[:, None] + 0.8 * draw(self.ways, self.shots + self.queries, self.dim)
        labels = torch.arange(self.ways)
        support, query = points.split([self.shots, self.queries], dim=1)
        return (support.flatten(0, 1), labels.repeat_interleave(self.shots),
                query.flatten(0, 1), labels.repeat_interleave(self.queries))  # fmt: skip


def classifier(dim, ways, hidden=24):
    return nn.Sequential(
        OrderedDict(
            fc1=nn.Linear(dim, hidden),
            norm=nn.LayerNorm(hidden),
            act=nn.Tanh(),
            fc2=nn.Linear(hidden, ways),
        )  # fmt: skip
    )


class MAML(nn.Module):
    def __init__(self, net, steps=3, inner_lr=0.3, first_order=False):
        super().__init__()
        self.net, self.steps, self.first_order = net, steps, first_order
        rates = {name.replace(".", "_"): torch.tensor(inner_lr) for name, _ in net.named_parameters()}
        self.rates = nn.ParameterDict({name: nn.Parameter(rate) for name, rate in rates.items()})

    def adapt(self, x, y):
        fast = dict(self.net.named_parameters())
        for _ in range(self.steps):
            loss = F.cross_entropy(functional_call(self.net, fast, (x,)), y)
            grads = torch.autograd.grad(loss, list(fast.values()), create_graph=not self.first_order)
            fast = {
                name: p - self.rates[name.replace(".", "_")] * g for (name, p), g in zip(fast.items(), grads)
            }  # fmt: skip
        return fast

    def forward(self, task):
        support_x, support_y, query_x, query_y = task
        fast = self.adapt(support_x, support_y)
        logits = functional_call(self.net, fast, query_x)
        return F.cross_entropy(logits, query_y), (logits.argmax(1) == query_y).float().mean()


class Prototypes(nn.Module):
    def __init__(self, embed):
        super().__init__()
        self.embed = embed

    def forward(self, task):
        support_x, support_y, query_x, query_y = task
        features = self.embed(support_x)
        centres = torch.stack([features[support_y == label].mean(0) for label in support_y.unique()])
        logits = -(torch.cdist(self.embed(query_x), centres) ** 2)
        return F.cross_entropy(logits, query_y), (logits.argmax(1) == query_y).float().mean()


def train(name, learner, sampler, args):
    optimizer = torch.optim.Adam(learner.parameters(), lr=args.meta_lr, eps=1e-5)
    for iteration in range(args.iterations):
        optimizer.zero_grad()
        losses, accuracies = zip(*(learner(task) for task in sampler(args.tasks)))
        torch.stack(losses).mean().backward()
        optimizer.step()
        if iteration % 6 == 5:
            loss, accuracy = torch.stack(losses).mean(), torch.stack(accuracies).mean()
            print(f"{name} {iteration} loss {loss:.4f} accuracy {accuracy:.4f}")


def evaluate(learner, sampler, needs_grad):
    scores = []
    with nullcontext() if needs_grad else torch.no_grad():
        for task in sampler(6):
            scores.append(learner(task)[1].item())
    return sum(scores) / len(scores)


def per_sample(net, task):
    """Gradient norms per sample, by vmap over grad."""
    parameters = {name: p.detach() for name, p in net.named_parameters()}

    def loss(parameters, x, y):
        return F.cross_entropy(functional_call(net, parameters, (x.unsqueeze(0),)), y.unsqueeze(0))

    gradients = vmap(grad(loss), in_dims=(None, 0, 0))(parameters, task[0], task[1])
    return torch.stack([g.flatten(1).norm(dim=1) for g in gradients.values()]).norm(dim=0)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--ways", type=int, default=3)
    parser.add_argument("--shots", type=int, default=2)
    parser.add_argument("--tasks", type=int, default=4)
    parser.add_argument("--iterations", type=int, default=18)
    parser.add_argument("--meta-lr", type=float, default=1e-2)
    args = parser.parse_args()
    torch.manual_seed(3)
    learners = {
        "maml": MAML(classifier(6, args.ways)),
        "fomaml": MAML(classifier(6, args.ways), first_order=True),
        "prototypes": Prototypes(classifier(6, 8)),
    }
    for name, learner in learners.items():
        train(name, learner, TaskSampler(args.ways, args.shots, 5), args)
        score = evaluate(learner, TaskSampler(args.ways, args.shots, 5, seed=99), needs_grad=name != "prototypes")
        print(f"{name} on new tasks {score:.4f}")
    print("rates", {name: round(rate.item(), 3) for name, rate in learners["maml"].rates.items()})
    norms = per_sample(learners["maml"].net, TaskSampler(3, 2, 1, seed=5).task())
    print("norms", [f"{v:.3f}" for v in norms.tolist()])


if __name__ == "__main__":
    main()
