"""Parts of a batch on several devices: there is one device."""

from ..._missing_parts import sentence

scatter = sentence("torch.nn.parallel.scatter_gather.scatter", "Terra has one device")
gather = sentence("torch.nn.parallel.scatter_gather.gather", "Terra has one device")
scatter_kwargs = sentence("torch.nn.parallel.scatter_gather.scatter_kwargs", "Terra has one device")
