"""Moving values between channels and space."""

import _terra_C as C

__all__ = ["channel_shuffle", "native_channel_shuffle", "pixel_shuffle", "pixel_unshuffle"]


channel_shuffle = C._functional.channel_shuffle
native_channel_shuffle = channel_shuffle
pixel_shuffle = C._functional.pixel_shuffle
pixel_unshuffle = C._functional.pixel_unshuffle
