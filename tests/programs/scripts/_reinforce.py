"""Policy gradients: an episode of lists and a deque, sampled actions, returns normalised."""
import math, random, torch, torch.nn as nn, torch.nn.functional as F
from collections import deque
torch.manual_seed(4)
random.seed(4)


class Env:

    def reset(s):
        s.x = random.uniform(-1, 1)
        s.t = 0
        return [s.x, 0.0]

    def step(s, a):
        s.x += 0.2 if a == 1 else -0.2
        s.t += 1
        r = -abs(s.x)
        return ([s.x, s.t / 10], r, s.t >= 10 or abs(s.x) > 2)


class P(nn.Module):

    def __init__(s):
        super().__init__()
        s.a1 = nn.Linear(2, 16)
        s.d = nn.Dropout(p=0.1)
        s.a2 = nn.Linear(16, 2)
        s.saved = []
        s.rew = []

    def forward(s, x):
        return F.softmax(s.a2(F.relu(s.d(s.a1(x)))), dim=1)


pi = P()
opt = torch.optim.RMSprop(pi.parameters(), lr=0.01)
env = Env()


def select(st):
    st = torch.tensor(st).float().unsqueeze(0)
    p = pi(st)
    a = torch.multinomial(p, 1)
    pi.saved.append(torch.log(p[0, a[0, 0]]))
    return a.item()


def finish():
    R = 0
    ret = deque()
    for r in pi.rew[::-1]:
        R = r + 0.9 * R
        ret.appendleft(R)
    ret = torch.tensor(list(ret))
    ret = (ret - ret.mean()) / (ret.std() + 1e-06)
    l = []
    for lp, R in zip(pi.saved, ret):
        l.append(-lp * R)
    opt.zero_grad()
    loss = torch.stack(l).sum()
    loss.backward()
    opt.step()
    del pi.rew[:]
    del pi.saved[:]
    return loss.item()


run = 0
for ep in range(40):
    st, er = (env.reset(), 0)
    while True:
        a = select(st)
        st, r, done = env.step(a)
        pi.rew.append(r)
        er += r
        if done:
            break
    run = 0.05 * er + 0.95 * run
    l = finish()
    if ep % 8 == 0:
        print(ep, f'{run:.4f} {l:.4f}')
