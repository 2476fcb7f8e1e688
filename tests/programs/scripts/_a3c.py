"""Actor-critic with worker processes: a shared model, gradients sent back through a queue, a shared step counter."""

import argparse
import random

import torch
import torch.multiprocessing as mp
import torch.nn as nn
import torch.nn.functional as F
from torch.distributions import Categorical


class Corridor:
    """Walk to the right end; each step costs."""

    def __init__(self, length, rng):
        self.length, self.rng = length, rng

    def reset(self):
        self.place, self.steps = self.rng.randrange(self.length // 2), 0
        return self.observe()

    def observe(self):
        return F.one_hot(torch.tensor(self.place), self.length).float()

    def step(self, action):
        self.place = max(0, self.place + (1 if action == 1 else -1))
        self.steps += 1
        if self.place == self.length - 1:
            return self.observe(), 1.0, True
        return self.observe(), -0.05, self.steps == 20


class Net(nn.Module):
    def __init__(self, states, actions):
        super().__init__()
        self.pi1, self.pi2 = nn.Linear(states, 16), nn.Linear(16, actions)
        self.v1, self.v2 = nn.Linear(states, 16), nn.Linear(16, 1)
        for layer in (self.pi1, self.pi2, self.v1, self.v2):
            nn.init.normal_(layer.weight, mean=0.0, std=0.1)
            nn.init.constant_(layer.bias, 0.0)

    def forward(self, x):
        return self.pi2(torch.tanh(self.pi1(x))), self.v2(torch.tanh(self.v1(x)))

    def choose_action(self, state):
        self.eval()
        with torch.no_grad():
            logits, _ = self(state)
        return Categorical(F.softmax(logits, dim=-1)).sample().item()

    def loss(self, states, actions, targets):
        self.train()
        logits, values = self(states)
        advantage = targets - values
        policy = Categorical(F.softmax(logits, dim=1))
        actor = -(policy.log_prob(actions) * advantage.detach().squeeze(1)) - 0.01 * policy.entropy()
        return (advantage.pow(2).squeeze(1) + actor).mean()


class SharedAdam(torch.optim.Adam):
    """Adam whose state exists, in shared memory, before the first step."""

    def __init__(self, params, lr=1e-3, betas=(0.9, 0.99), eps=1e-8):
        super().__init__(params, lr=lr, betas=betas, eps=eps)
        for group in self.param_groups:
            for p in group["params"]:
                state = self.state[p]
                state["step"] = torch.tensor(0.0)
                state["exp_avg"] = torch.zeros_like(p.data)
                state["exp_avg_sq"] = torch.zeros_like(p.data)
                for value in state.values():
                    value.share_memory_()


def rollout(net, env, gamma):
    states, actions, rewards = [], [], []
    state, done = env.reset(), False
    while not done:
        action = net.choose_action(state)
        following, reward, done = env.step(action)
        states.append(state)
        actions.append(action)
        rewards.append(reward)
        state = following
    targets, value = [], 0.0
    for reward in reversed(rewards):
        value = reward + gamma * value
        targets.append(value)
    return torch.stack(states), torch.tensor(actions), torch.tensor(targets[::-1]).unsqueeze(1), sum(rewards)


def worker(rank, args, shared, turn, answers, counter):
    """Copies the shared weights, plays an episode, sends what it learned."""
    torch.manual_seed(args.seed + rank)
    torch.set_num_threads(1)
    local = Net(args.length, 2)
    env = Corridor(args.length, random.Random(args.seed + rank))
    while turn.get() is not None:
        local.load_state_dict(shared.state_dict())
        states, actions, targets, total = rollout(local, env, args.gamma)
        local.zero_grad()
        loss = local.loss(states, actions, targets)
        loss.backward()
        with counter.get_lock():
            counter.value += len(states)
        gradients = [p.grad.numpy() for p in local.parameters()]
        answers.put((rank, gradients, loss.item(), total))


@torch.no_grad()
def evaluate(net, length, episodes=20):
    """How many steps the greedy policy needs."""
    net.eval()
    env, steps = Corridor(length, random.Random(0)), 0
    for _ in range(episodes):
        state, done = env.reset(), False
        while not done:
            state, _, done = env.step(net(state)[0].argmax().item())
        steps += env.steps
    return steps / episodes


def main():
    parser = argparse.ArgumentParser(description="A3C, in step")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--episodes", type=int, default=15)
    parser.add_argument("--length", type=int, default=6)
    parser.add_argument("--gamma", type=float, default=0.9)
    parser.add_argument("--lr", type=float, default=0.01)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()

    torch.manual_seed(args.seed)
    context = mp.get_context("fork")
    shared = Net(args.length, 2)
    shared.share_memory()
    print("shared:", all(p.is_shared() for p in shared.parameters()))
    optimizer = SharedAdam(shared.parameters(), lr=args.lr)
    turns, answers, counter = [context.Queue() for _ in range(args.workers)], context.Queue(), context.Value("i", 0)
    workers = [
        context.Process(target=worker, args=(rank, args, shared, turns[rank], answers, counter))
        for rank in range(args.workers)
    ]
    for process in workers:
        process.start()
    smoothed = 0.0
    for episode in range(args.episodes):
        for turn in turns:
            turn.put(episode)
        received = sorted((answers.get(timeout=60) for _ in workers), key=lambda answer: answer[0])
        optimizer.zero_grad()
        for parameter, *gradients in zip(shared.parameters(), *(gradients for _, gradients, _, _ in received)):
            parameter.grad = torch.stack([torch.from_numpy(g) for g in gradients]).mean(0)
        optimizer.step()
        reward = sum(total for *_, total in received) / len(received)
        smoothed = reward if episode == 0 else 0.8 * smoothed + 0.2 * reward
        if episode % 3 == 2:
            losses = " ".join(f"{loss:.4f}" for _, _, loss, _ in received)
            print(f"episode {episode} losses {losses} reward {smoothed:.4f} steps {counter.value}")
    for turn in turns:
        turn.put(None)
    for process in workers:
        process.join()
    print("exit codes", [process.exitcode for process in workers])
    print("greedy steps", evaluate(shared, args.length))
    with torch.no_grad():
        policy = F.softmax(shared(torch.eye(args.length))[0], 1)[:, 1]
    print("right:", [round(p, 3) for p in policy.tolist()])


if __name__ == "__main__":
    main()
