"""PyTorch's dispatcher as modes and subclasses of Tensor see it: which ops of torch.ops.aten a call is made of."""

# Whether some mode or subclass has ever been asked: until then ops run as they are.
in_use = False
