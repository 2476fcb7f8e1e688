"""Proximal policy optimisation on a cart and pole: several environments, generalised advantages, clipped updates."""

import argparse
import math
from dataclasses import dataclass, field

import numpy as np
import torch
import torch.nn as nn
from torch.distributions import Categorical


class CartPole:
    """The classic equations of motion, Euler steps of 20 ms."""

    gravity, cart, pole, length, force, dt = 9.8, 1.0, 0.1, 0.5, 10.0, 0.02

    def __init__(self, seed):
        self.random = np.random.RandomState(seed)

    def reset(self):
        self.state = self.random.uniform(-0.05, 0.05, size=4)
        self.steps = 0
        return self.state.astype(np.float32)

    def step(self, action):
        x, v, angle, spin = self.state
        push = self.force if action == 1 else -self.force
        total = self.cart + self.pole
        sine, cosine = math.sin(angle), math.cos(angle)
        temp = (push + self.pole * self.length * spin**2 * sine) / total
        turn = (self.gravity * sine - cosine * temp) / (self.length * (4 / 3 - self.pole * cosine**2 / total))
        pull = temp - self.pole * self.length * turn * cosine / total
        self.state = np.array([x + self.dt * v, v + self.dt * pull, angle + self.dt * spin, spin + self.dt * turn])
        self.steps += 1
        done = bool(abs(self.state[0]) > 2.4 or abs(self.state[2]) > 0.21 or self.steps >= 60)
        return self.state.astype(np.float32), 1.0, done


class ActorCritic(nn.Module):
    def __init__(self, observations, actions, hidden=32):
        super().__init__()
        self.body = nn.Sequential(
            self.orthogonal(nn.Linear(observations, hidden)), nn.Tanh(),
            self.orthogonal(nn.Linear(hidden, hidden)), nn.Tanh(),
        )  # fmt: skip
        self.actor = self.orthogonal(nn.Linear(hidden, actions), std=0.01)
        self.critic = self.orthogonal(nn.Linear(hidden, 1), std=1.0)

    @staticmethod
    def orthogonal(layer, std=math.sqrt(2), bias=0.0):
        nn.init.orthogonal_(layer.weight, std)
        nn.init.constant_(layer.bias, bias)
        return layer

    def value(self, x):
        return self.critic(self.body(x)).squeeze(-1)

    def forward(self, x, action=None):
        hidden = self.body(x)
        policy = Categorical(logits=self.actor(hidden))
        if action is None:
            action = policy.sample()
        return action, policy.log_prob(action), policy.entropy(), self.critic(hidden).squeeze(-1)


@dataclass
class Episodes:
    finished: list = field(default_factory=list)

    def mean(self):
        return float(np.mean(self.finished[-10:])) if self.finished else 0.0


def rollout(envs, agent, observation, done, args, episodes):
    n = len(envs)
    store = {
        "obs": torch.zeros(args.steps, n, 4), "actions": torch.zeros(args.steps, n, dtype=torch.long),
        "logp": torch.zeros(args.steps, n), "rewards": torch.zeros(args.steps, n),
        "dones": torch.zeros(args.steps, n), "values": torch.zeros(args.steps, n),
    }  # fmt: skip
    for t in range(args.steps):
        store["obs"][t], store["dones"][t] = observation, done
        with torch.no_grad():
            action, logp, _, value = agent(observation)
        store["actions"][t], store["logp"][t], store["values"][t] = action, logp, value
        results = []
        for env, a in zip(envs, action.numpy()):
            after, reward, ended = env.step(int(a))
            if ended:
                episodes.finished.append(env.steps)
                after = env.reset()
            results.append((after, reward, ended))
        after, rewards, ends = map(np.array, zip(*results))
        store["rewards"][t] = torch.as_tensor(rewards, dtype=torch.float32)
        observation, done = torch.from_numpy(after), torch.as_tensor(ends, dtype=torch.float32)
    with torch.no_grad():
        following = agent.value(observation)
        advantages = torch.zeros_like(store["rewards"])
        last = 0
        for t in reversed(range(args.steps)):
            alive = 1.0 - (done if t == args.steps - 1 else store["dones"][t + 1])
            after = following if t == args.steps - 1 else store["values"][t + 1]
            delta = store["rewards"][t] + args.gamma * after * alive - store["values"][t]
            advantages[t] = last = delta + args.gamma * args.gae_lambda * alive * last
    return store, advantages, observation, done


def update(agent, optimizer, store, advantages, args):
    flat = {name: value.reshape(-1, *value.shape[2:]) for name, value in store.items()}
    returns = (advantages + store["values"]).reshape(-1)
    advantages = advantages.reshape(-1)
    order = np.arange(len(returns))
    clipped = []
    for _ in range(args.epochs):
        np.random.shuffle(order)
        for start in range(0, len(order), args.minibatch):
            rows = order[start : start + args.minibatch]
            _, logp, entropy, value = agent(flat["obs"][rows], flat["actions"][rows])
            log_ratio = logp - flat["logp"][rows]
            ratio = log_ratio.exp()
            with torch.no_grad():
                clipped.append(((ratio - 1.0).abs() > args.clip).float().mean().item())
            gain = advantages[rows]
            gain = (gain - gain.mean()) / (gain.std() + 1e-8)
            policy_loss = torch.max(-gain * ratio, -gain * torch.clamp(ratio, 1 - args.clip, 1 + args.clip)).mean()
            near = flat["values"][rows] + torch.clamp(value - flat["values"][rows], -args.clip, args.clip)
            value_loss = 0.5 * torch.max((value - returns[rows]) ** 2, (near - returns[rows]) ** 2).mean()
            loss = policy_loss - args.entropy * entropy.mean() + args.value * value_loss
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(agent.parameters(), 0.5)
            optimizer.step()
    return policy_loss.item(), value_loss.item(), entropy.mean().item(), np.mean(clipped)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--envs", type=int, default=4)
    parser.add_argument("--steps", type=int, default=32)
    parser.add_argument("--updates", type=int, default=6)
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--minibatch", type=int, default=32)
    parser.add_argument("--lr", type=float, default=2.5e-3)
    parser.add_argument("--gamma", type=float, default=0.99)
    parser.add_argument("--gae-lambda", type=float, default=0.95)
    parser.add_argument("--clip", type=float, default=0.2)
    parser.add_argument("--entropy", type=float, default=0.01)
    parser.add_argument("--value", type=float, default=0.5)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()

    np.random.seed(args.seed)
    torch.manual_seed(args.seed)
    envs = [CartPole(args.seed + i) for i in range(args.envs)]
    agent = ActorCritic(4, 2)
    optimizer = torch.optim.Adam(agent.parameters(), lr=args.lr, eps=1e-5)
    episodes = Episodes()
    observation, done = torch.from_numpy(np.stack([env.reset() for env in envs])), torch.zeros(args.envs)
    for iteration in range(1, args.updates + 1):
        optimizer.param_groups[0]["lr"] = (1.0 - (iteration - 1.0) / args.updates) * args.lr
        store, advantages, observation, done = rollout(envs, agent, observation, done, args, episodes)
        policy_loss, value_loss, entropy, clipped = update(agent, optimizer, store, advantages, args)
        print(
            f"update {iteration} length {episodes.mean():.2f} policy {policy_loss:.4f} "
            f"value {value_loss:.3f} entropy {entropy:.4f} clipped {clipped:.3f}"
        )


if __name__ == "__main__":
    main()
