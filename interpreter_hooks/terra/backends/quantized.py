"""torch.backends.quantized: no quantized tensors, so no engines."""

engine = "none"
supported_engines = ["none"]
