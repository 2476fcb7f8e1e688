"""Instance normalization layers."""

from .. import functional as F
from .batchnorm import _NormBase

__all__ = ["InstanceNorm1d", "InstanceNorm2d", "InstanceNorm3d"]


class _InstanceNorm(_NormBase):
    def __init__(
        self, num_features, eps=1e-5, momentum=0.1, affine=False, track_running_stats=False, device=None,
        dtype=None, *, bias=True,
    ):  # fmt: skip
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias)

    def forward(self, input):
        self._check_input_dim(input)
        channel_dim = input.dim() - self._spatial - 1
        if input.size(channel_dim) != self.num_features and self.affine:
            raise ValueError(
                f"expected input's size at dim={channel_dim} to match num_features ({self.num_features}), "
                f"but got: {input.size(channel_dim)}."
            )
        if channel_dim == 0:
            return self._normalize(input.unsqueeze(0)).squeeze(0)
        return self._normalize(input)

    def _normalize(self, input):
        momentum = self.momentum if self.momentum is not None else 0.0
        use_input = self.training or not self.track_running_stats
        return F.instance_norm(
            input, self.running_mean, self.running_var, self.weight, self.bias, use_input, momentum, self.eps
        )

    def _check_input_dim(self, input):
        allowed = (self._spatial + 1, self._spatial + 2)
        if input.dim() not in allowed:
            raise ValueError(f"expected {allowed[0]}D or {allowed[1]}D input (got {input.dim()}D input)")


class InstanceNorm1d(_InstanceNorm):
    _spatial = 1


class InstanceNorm2d(_InstanceNorm):
    _spatial = 2


class InstanceNorm3d(_InstanceNorm):
    _spatial = 3
