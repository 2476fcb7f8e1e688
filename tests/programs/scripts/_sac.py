"""Soft actor-critic on a pendulum: a squashed Gaussian policy, twin critics, a learned temperature, numpy replay."""

import argparse
import copy
import math

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.distributions.normal import Normal

LOG_STD_MIN, LOG_STD_MAX = -5, 2


class Pendulum:
    def __init__(self, seed, horizon=40):
        self.rng, self.horizon = np.random.default_rng(seed), horizon

    def reset(self):
        self.angle, self.speed, self.t = self.rng.uniform(-math.pi, math.pi), self.rng.uniform(-1, 1), 0
        return self.observe()

    def observe(self):
        return np.array([math.cos(self.angle), math.sin(self.angle), self.speed], dtype=np.float32)

    def step(self, action):
        torque = float(np.clip(action[0], -2.0, 2.0))
        wrapped = (self.angle + math.pi) % (2 * math.pi) - math.pi
        cost = wrapped**2 + 0.1 * self.speed**2 + 0.001 * torque**2
        self.speed = float(np.clip(self.speed + (15 * math.sin(self.angle) + 3 * torque) * 0.05, -8, 8))
        self.angle += self.speed * 0.05
        self.t += 1
        return self.observe(), -cost / 10, self.t == self.horizon


class ReplayBuffer:
    """First in, first out; arrays that are allocated once."""

    def __init__(self, obs_dim, act_dim, size):
        zeros = lambda *shape: np.zeros(shape, dtype=np.float32)
        self.obs, self.after, self.act = zeros(size, obs_dim), zeros(size, obs_dim), zeros(size, act_dim)
        self.rew, self.done = zeros(size), zeros(size)
        self.ptr, self.size, self.max_size = 0, 0, size

    def store(self, obs, act, rew, after, done):
        self.obs[self.ptr], self.after[self.ptr], self.act[self.ptr] = obs, after, act
        self.rew[self.ptr], self.done[self.ptr] = rew, done
        self.ptr = (self.ptr + 1) % self.max_size
        self.size = min(self.size + 1, self.max_size)

    def sample_batch(self, batch_size):
        rows = np.random.randint(0, self.size, size=batch_size)
        batch = dict(
            obs=self.obs[rows], after=self.after[rows], act=self.act[rows], rew=self.rew[rows], done=self.done[rows]
        )
        return {k: torch.as_tensor(v, dtype=torch.float32) for k, v in batch.items()}


def mlp(sizes, activation=nn.ReLU, output_activation=nn.Identity):
    layers = []
    for j in range(len(sizes) - 1):
        act = activation if j < len(sizes) - 2 else output_activation
        layers += [nn.Linear(sizes[j], sizes[j + 1]), act()]
    return nn.Sequential(*layers)


class Actor(nn.Module):
    def __init__(self, obs_dim, act_dim, hidden, act_limit):
        super().__init__()
        self.net = mlp([obs_dim, *hidden], output_activation=nn.ReLU)
        self.mu_layer, self.log_std_layer = nn.Linear(hidden[-1], act_dim), nn.Linear(hidden[-1], act_dim)
        self.act_limit = act_limit

    def forward(self, obs, deterministic=False, with_logprob=True):
        out = self.net(obs)
        mu, log_std = self.mu_layer(out), torch.clamp(self.log_std_layer(out), LOG_STD_MIN, LOG_STD_MAX)
        pi = Normal(mu, torch.exp(log_std))
        action = mu if deterministic else pi.rsample()
        logp = None
        if with_logprob:
            logp = pi.log_prob(action).sum(axis=-1)
            logp -= (2 * (np.log(2) - action - F.softplus(-2 * action))).sum(axis=1)
        return self.act_limit * torch.tanh(action), logp


class Critic(nn.Module):
    def __init__(self, obs_dim, act_dim, hidden):
        super().__init__()
        self.q = mlp([obs_dim + act_dim, *hidden, 1])

    def forward(self, obs, act):
        return torch.squeeze(self.q(torch.cat([obs, act], dim=-1)), -1)


class Agent:
    def __init__(self, args):
        self.args = args
        self.actor = Actor(3, 1, args.hidden, 2.0)
        self.critics = nn.ModuleList([Critic(3, 1, args.hidden) for _ in range(2)])
        self.targets = copy.deepcopy(self.critics)
        for p in self.targets.parameters():
            p.requires_grad = False
        self.log_alpha = torch.zeros(1, requires_grad=True)
        self.pi_optimizer = torch.optim.Adam(self.actor.parameters(), lr=args.lr, eps=1e-5)
        self.q_optimizer = torch.optim.Adam(self.critics.parameters(), lr=args.lr, eps=1e-5)
        self.alpha_optimizer = torch.optim.Adam([self.log_alpha], lr=args.lr)

    @property
    def alpha(self):
        return self.log_alpha.detach().exp()

    def update(self, data):
        o, a, r, o2, d = (data[name] for name in ("obs", "act", "rew", "after", "done"))
        with torch.no_grad():
            a2, logp_a2 = self.actor(o2)
            smallest = torch.min(*(q(o2, a2) for q in self.targets))
            backup = r + self.args.gamma * (1 - d) * (smallest - self.alpha * logp_a2)
        loss_q = sum(((q(o, a) - backup) ** 2).mean() for q in self.critics)
        self.q_optimizer.zero_grad()
        loss_q.backward()
        self.q_optimizer.step()

        for p in self.critics.parameters():
            p.requires_grad = False
        pi, logp_pi = self.actor(o)
        loss_pi = (self.alpha * logp_pi - torch.min(*(q(o, pi) for q in self.critics))).mean()
        self.pi_optimizer.zero_grad()
        loss_pi.backward()
        self.pi_optimizer.step()
        for p in self.critics.parameters():
            p.requires_grad = True

        loss_alpha = -(self.log_alpha * (logp_pi.detach() - 1.0)).mean()
        self.alpha_optimizer.zero_grad()
        loss_alpha.backward()
        self.alpha_optimizer.step()
        with torch.no_grad():
            for p, p_targ in zip(self.critics.parameters(), self.targets.parameters()):
                p_targ.data.mul_(self.args.polyak)
                p_targ.data.add_((1 - self.args.polyak) * p.data)
        return loss_q.item(), loss_pi.item(), self.alpha.item()

    def get_action(self, obs, deterministic=False):
        with torch.no_grad():
            return self.actor(torch.as_tensor(obs).unsqueeze(0), deterministic, False)[0][0].numpy()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--hidden", type=int, nargs="+", default=[24, 24])
    parser.add_argument("--episodes", type=int, default=5)
    parser.add_argument("--gamma", type=float, default=0.97)
    parser.add_argument("--polyak", type=float, default=0.98)
    parser.add_argument("--lr", type=float, default=3e-3)
    args = parser.parse_args()
    np.random.seed(0)
    torch.manual_seed(0)
    env, agent, buffer = Pendulum(0), Agent(args), ReplayBuffer(3, 1, 150)
    for episode in range(args.episodes):
        obs, done, total, losses = env.reset(), False, 0.0, []
        while not done:
            action = agent.get_action(obs) if episode > 0 else np.random.uniform(-2, 2, 1)
            after, reward, done = env.step(action)
            buffer.store(obs, action, reward, after, False)
            obs, total = after, total + reward
            if buffer.size >= 32:
                losses.append(agent.update(buffer.sample_batch(32)))
        loss_q, loss_pi, alpha = np.mean(losses, axis=0) if losses else [math.nan] * 3
        numbers = f"q {loss_q:.4f} pi {loss_pi:.4f} alpha {alpha:.4f}"
        print(f"episode {episode} return {total:.3f} {numbers} buffer {buffer.size}")
    print("deterministic", round(float(agent.get_action(np.array([1.0, 0.0, 0.5], np.float32), True)[0]), 2))


if __name__ == "__main__":
    main()
