"""Hooks, running statistics, accumulation, an averaged copy, frozen layers, early stopping, saving and loading."""
import torch, torch.nn as nn, torch.nn.functional as F, copy, io
torch.manual_seed(4)


class Net(nn.Module):

    def __init__(s):
        super().__init__()
        s.a = nn.Linear(5, 9)
        s.b = nn.Linear(9, 3)
        s.drop = nn.Dropout(0.3)
        s.step = 0
        s.hist = []
        s.register_buffer('ema', torch.zeros(3))

    def forward(s, x):
        s.step += 1
        h = s.drop(torch.relu(s.a(x)))
        if s.training and s.step % 3 == 0:
            h = h + 0.01 * torch.randn_like(h)
        y = s.b(h)
        if s.training:
            s.ema.mul_(0.9).add_(y.detach().mean(0), alpha=0.1)
        s.hist.append(float(y.detach().abs().max())) if s.step % 4 == 0 else None
        return y


m = Net()
ema = copy.deepcopy(m)
opt = torch.optim.Adam([{'params': m.a.parameters()}, {'params': m.b.parameters(), 'lr': 0.005}], lr=0.001)
sched = torch.optim.lr_scheduler.LambdaLR(opt, lambda e: 0.9 ** e)
acts = {}
hk = m.a.register_forward_hook(lambda mod, i, o: acts.__setitem__('a', o.detach().mean().item()))
best = 1000000000.0
bad = 0
for ep in range(12):
    m.train()
    for k in range(4):
        x = torch.randn(6, 5)
        y = torch.randint(0, 3, (6,))
        loss = F.cross_entropy(m(x), y) / 2
        loss.backward()
        if k % 2 == 1:
            g = torch.nn.utils.clip_grad_value_(m.parameters(), 0.5)
            opt.step()
            opt.zero_grad()
            with torch.no_grad():
                for p, q in zip(ema.parameters(), m.parameters()):
                    p.lerp_(q, 0.1) if hasattr(p, 'lerp_') else p.mul_(0.9).add_(q, alpha=0.1)
    if sched:
        sched.step()
    m.eval()
    with torch.no_grad():
        v = F.cross_entropy(m(torch.ones(4, 5)), torch.tensor([0, 1, 2, 0])).item()
        ve = F.cross_entropy(ema(torch.ones(4, 5)), torch.tensor([0, 1, 2, 0])).item()
    if v < best - 0.001:
        best = v
        bad = 0
        buf = io.BytesIO()
        torch.save(m.state_dict(), buf)
    else:
        bad += 1
    if ep == 6:
        for p in m.a.parameters():
            p.requires_grad_(False)
    if ep == 8:
        hk.remove()
        buf.seek(0)
        m.load_state_dict(torch.load(buf))
    print(ep, f"{v:.4f} {ve:.4f} {best:.4f} {bad} {m.step} {acts.get('a', 0):.4f}", end=' ')
    print(f"{m.ema.sum().item():.4f} {len(m.hist)} {opt.param_groups[0]['lr']:.6f}")
