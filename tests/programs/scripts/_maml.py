"""Meta-learning: gradients of gradients through two inner steps."""
import torch, torch.nn.functional as F
torch.manual_seed(0)
w = [torch.randn(1, 8), torch.zeros(8), torch.randn(8, 1), torch.zeros(1)]
for p in w:
    p.requires_grad_()


def net(x, w):
    return torch.tanh(x @ w[0] + w[1]) @ w[2] + w[3]


opt = torch.optim.Adam(w, lr=0.01)
for it in range(20):
    opt.zero_grad()
    meta = 0
    for task in range(3):
        amp, ph = (torch.rand(1).item() * 2 + 0.5, torch.rand(1).item() * 3)
        x = torch.rand(10, 1) * 4 - 2
        y = amp * torch.sin(x + ph)
        fast = w
        for k in range(2):
            l = F.mse_loss(net(x, fast), y)
            g = torch.autograd.grad(l, fast, create_graph=True)
            fast = [p - 0.05 * gg for p, gg in zip(fast, g)]
        xq = torch.rand(10, 1) * 4 - 2
        meta = meta + F.mse_loss(net(xq, fast), amp * torch.sin(xq + ph))
    meta.backward()
    opt.step()
    if it % 3 == 0:
        print(it, f'{meta.item():.4f}', f'{w[0].grad.norm().item():.4f}')
