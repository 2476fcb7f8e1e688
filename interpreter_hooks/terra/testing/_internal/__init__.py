"""torch.testing._internal: what tests of libraries take from PyTorch's own."""
