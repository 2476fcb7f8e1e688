"""A policy gradient with Categorical and a VAE step with kl_divergence print the same numbers with capture and without,
and `import terra` alone loads no distributions."""

import subprocess
import sys
import tempfile

PROGRAM = """
import torch, torch.nn as nn, torch.distributions as D
from torch.distributions import Categorical, Normal, kl_divergence

torch.manual_seed(0)
policy = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 3))
optimizer = torch.optim.Adam(policy.parameters(), lr=0.01)

def act(state):
    choice = Categorical(logits=policy(state))
    action = choice.sample()
    return action, choice.log_prob(action), choice.entropy()

for episode in range(8):
    state, losses = torch.randn(5, 4), []
    for step in range(6):
        action, log_prob, entropy = act(state)
        reward = (action == state.argmax(-1) % 3).float()
        losses.append(-(log_prob * reward).mean() - 0.01 * entropy.mean())
        state = torch.randn(5, 4)
    loss = torch.stack(losses).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"{loss.item():.5f}")

class VAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder, self.decoder = nn.Linear(8, 6), nn.Linear(3, 8)

    def forward(self, x):
        mean, log_scale = self.encoder(x).chunk(2, -1)
        posterior = D.Independent(Normal(mean, log_scale.exp()), 1)
        z = posterior.rsample()
        prior = D.Independent(Normal(torch.zeros_like(mean), torch.ones_like(mean)), 1)
        likelihood = D.Independent(D.Bernoulli(logits=self.decoder(z)), 1)
        return (kl_divergence(posterior, prior) - likelihood.log_prob(x)).mean()

vae, data = VAE(), torch.rand(16, 8).round()
optimizer = torch.optim.SGD(vae.parameters(), lr=0.1)
for step in range(12):
    loss = vae(data)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"{loss.item():.5f}")
"""
# What PyTorch prints for the last line of each part.
PYTORCH = [2.11287, 5.87067]


def run(*options):
    with tempfile.NamedTemporaryFile("w", suffix=".py") as script:
        script.write(PROGRAM)
        script.flush()
        result = subprocess.run([sys.executable, "--torch", *options, script.name], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    return [float(line) for line in result.stdout.split()]


auto, off = run("--capture=auto"), run("--capture=off")
assert len(auto) == 20
for a, b in zip(auto, off):
    assert abs(a - b) <= 2e-5 + 1e-5 * abs(b), (a, b)
for got, want in zip((off[7], off[19]), PYTORCH):
    assert abs(got - want) <= 1e-3, (got, want)
lazy = "import sys, terra; print([m for m in sys.modules if 'distributions' in m or 'special' in m])"
loaded = subprocess.run([sys.executable, "-c", lazy], capture_output=True, text=True, check=True).stdout.strip()
assert loaded == "[]", loaded
print("3 passed")
