"""The version of Terra, and that of PyTorch, whose API it gives.

`torch` is what torch.__version__ says under --torch: programs compare it with the version that first had what they want to
use. Behind the plus sign is the builder, as in '2.15.0+cpu'."""

terra = __version__ = "0.1.0"
torch = "2.15.0+terra"
cuda = hip = xpu = None
debug = False
git_version = "Unknown"
