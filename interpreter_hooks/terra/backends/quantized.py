"""torch.backends.quantized: which engine programs ask for. All are one here."""

engine = "x86"
supported_engines = ["qnnpack", "onednn", "x86", "fbgemm"]
