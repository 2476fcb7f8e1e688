"""Deep Q-learning: replay memory of named tuples, a target network that follows softly."""
import copy, random, torch, torch.nn as nn, torch.nn.functional as F
from collections import namedtuple, deque
torch.manual_seed(1)
random.seed(1)
T = namedtuple('T', ('s', 'a', 'n', 'r'))


class Mem:

    def __init__(s, c):
        s.m = deque([], maxlen=c)

    def push(s, *a):
        s.m.append(T(*a))

    def sample(s, b):
        return random.sample(s.m, b)

    def __len__(s):
        return len(s.m)


net = nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 2))
tgt = copy.deepcopy(net)
tgt.load_state_dict(net.state_dict())
tgt.eval()
opt = torch.optim.AdamW(net.parameters(), lr=0.001, amsgrad=False)
mem = Mem(50)
steps = 0


def act(s):
    global steps
    eps = 0.05 + 0.85 * 0.97 ** steps
    steps += 1
    if random.random() > eps:
        with torch.no_grad():
            return net(s).max(1)[1].view(1, 1)
    return torch.tensor([[random.randrange(2)]], dtype=torch.long)


def optimize():
    if len(mem) < 8:
        return None
    tr = mem.sample(8)
    b = T(*zip(*tr))
    mask = torch.tensor(tuple(map(lambda s: s is not None, b.n)), dtype=torch.bool)
    nn_ = [s for s in b.n if s is not None]
    sb = torch.cat(b.s)
    ab = torch.cat(b.a)
    rb = torch.cat(b.r)
    q = net(sb).gather(1, ab)
    nv = torch.zeros(8)
    with torch.no_grad():
        if nn_:
            nv[mask] = tgt(torch.cat(nn_)).max(1)[0]
    exp = nv * 0.9 + rb
    l = F.smooth_l1_loss(q, exp.unsqueeze(1))
    opt.zero_grad()
    l.backward()
    for p in net.parameters():
        p.grad.data.clamp_(-1, 1)
    opt.step()
    return l.item()


for ep in range(8):
    s = torch.randn(1, 3)
    tot = 0
    for t in range(10):
        a = act(s)
        r = torch.tensor([float(s[0, a.item()])])
        n = None if t == 9 else s * 0.9 + 0.1 * torch.randn(1, 3)
        mem.push(s, a, n, r)
        s = n
        l = optimize()
        tot += l or 0
        td, nd = (tgt.state_dict(), net.state_dict())
        for k in nd:
            td[k] = nd[k] * 0.05 + td[k] * 0.95
        tgt.load_state_dict(td)
    print(ep, f'{tot:.4f}', steps)
