"""stft and istft: the spectrum of a signal piece by piece, and a signal from such pieces."""

import _terra_C as C

from . import fft as _fft


def _shown(window):
    return "None" if window is None else f"torch.{window.type().rpartition('.')[2]}{{[{window.size(0)}]}}"


def _told(option):
    return "None" if option is None else str(int(option))


class _Frames:
    """What the two have in common: lengths that follow from others, and the window in the middle of n_fft points."""

    def __init__(self, n_fft, hop_length, win_length, window):
        self.n_fft, self.window = n_fft, window
        self.hop = n_fft // 4 if hop_length is None else hop_length
        self.win_length = n_fft if win_length is None else win_length

    def numbers(self):
        return f"n_fft={self.n_fft}, hop_length={self.hop}, win_length={self.win_length}, window={_shown(self.window)}"

    def check(self, call):
        if self.hop <= 0:
            raise RuntimeError(f"{call} : expected hop_length > 0, but got hop_length={self.hop}")
        if not 0 < self.win_length <= self.n_fft:
            raise RuntimeError(f"{call} : expected 0 < win_length <= n_fft, but got win_length={self.win_length}")
        window = self.window
        if window is not None and (window.dim() != 1 or window.size(0) != self.win_length):
            raise RuntimeError(
                f"{call} : expected a 1D window tensor of size equal to win_length={self.win_length}, "
                f"but got window with size {list(window.shape)}"
            )

    def whole_window(self, dtype):
        """The window with zeros around it where it is shorter than a frame; None: all ones."""
        if self.win_length == self.n_fft:
            return self.window
        window = C.ones(self.win_length, dtype=dtype) if self.window is None else self.window
        left = (self.n_fft - self.win_length) // 2
        return C._ops.constant_pad(window, [left, self.n_fft - self.win_length - left])


def stft(
    input, n_fft, hop_length=None, win_length=None, window=None, center=True, pad_mode="reflect", normalized=False,
    onesided=None, return_complex=None, align_to_window=None,
):  # fmt: skip
    """The Fourier transforms of frames of n_fft points, hop_length apart, as [.., frequencies, frames]."""
    input, window = C._in_single(input, window)
    frames = _Frames(n_fft, hop_length, win_length, window)
    is_complex = input.is_complex() or (window is not None and window.is_complex())
    if center:
        if align_to_window is not None:
            raise RuntimeError("stft align_to_window should only be set when center = false")
        from .nn.functional import pad

        shape, half = input.shape, n_fft // 2
        input = pad(input.reshape([1] * (3 - input.dim()) + list(shape)), [half, half], pad_mode)
        input = input.reshape([*shape[:-1], input.size(-1)])
    call = (
        f"stft({input.type()}{list(input.shape)}, {frames.numbers()}, normalized={int(normalized)}, "
        f"onesided={_told(onesided)}, return_complex={_told(return_complex)}, align_to_window={_told(align_to_window)})"
    )
    if return_complex is None:
        if not is_complex:
            raise RuntimeError(
                "stft requires the return_complex parameter be given for real inputs, and will further require that "
                "return_complex=True in a future PyTorch release."
            )
        return_complex = True
    if not (input.is_floating_point() or input.is_complex()):
        raise NotImplementedError(f"{call} : expected a tensor of floating point or complex values")
    if input.dim() not in (1, 2):
        raise RuntimeError(f"{call} : expected a 1D or 2D tensor")
    align = bool(align_to_window)
    reach = frames.win_length if align else n_fft
    if not 0 < reach <= input.size(-1):
        limit = f"{'win_length' if align else 'n_fft'}"
        raise RuntimeError(f"{call} : expected 0 < {limit} < {input.size(-1)}, but got {limit}={reach}")
    frames.check(call)
    if onesided is None:
        onesided = not is_complex
    elif onesided and is_complex:
        raise RuntimeError("Cannot have onesided output if window or input is complex")
    if align:  # a frame begins where its window does
        left = (n_fft - frames.win_length) // 2
        input = C._ops.constant_pad(input, [left, n_fft - frames.win_length - left])
    pieces = input.unfold(-1, n_fft, frames.hop)
    whole = frames.whole_window(input.dtype)
    if whole is not None:
        pieces = pieces * whole
    transform = _fft.rfft if onesided else _fft.fft
    result = transform(pieces, norm="ortho" if normalized else None).transpose(-2, -1)
    return result if return_complex else C.view_as_real(result)


def _overlapped(pieces, hop):
    """The sum of pieces [.., frames, n], each hop behind the one before."""
    count, n = pieces.shape[-2:]
    places = (C.arange(count).mul(hop).unsqueeze(1) + C.arange(n)).flatten()
    total = C.zeros([*pieces.shape[:-2], (count - 1) * hop + n], dtype=pieces.dtype)
    return total.index_add(-1, places, pieces.flatten(-2))


def istft(
    input, n_fft, hop_length=None, win_length=None, window=None, center=True, normalized=False, onesided=None,
    length=None, return_complex=False,
):  # fmt: skip
    """The signal whose stft is nearest to these frames: their sum, over the sum of the squared windows."""
    frames = _Frames(n_fft, hop_length, win_length, window)
    if not input.is_complex():
        raise TypeError(
            "istft requires a complex-valued input tensor matching the output from stft with return_complex=True."
        )
    kind = "ComplexFloat" if input.dtype == C.complex64 else "ComplexDouble"
    call = (
        f"istft(CPU{kind}Type{list(input.shape)}, {frames.numbers()}, "
        f"center={int(center)}, normalized={int(normalized)}, onesided={_told(onesided)}, length={_told(length)}, "
        f"return_complex={int(return_complex)})"
    )
    if input.numel() == 0:
        raise RuntimeError(f"{call} : input tensor cannot be empty.")
    if input.dim() not in (2, 3):
        raise RuntimeError(f"{call} : expected a tensor with 2 or 3 dimensions, but got {input.dim()}")
    complex_window = window is not None and window.is_complex()
    given, points = onesided, input.size(-2)
    onesided = points != n_fft if given is None else given
    if onesided and points != n_fft // 2 + 1:
        raise RuntimeError(
            f"{call} : expected the frequency dimension (3rd to the last) of the input tensor to match n_fft / 2 + 1 "
            f"when onesided=True, but got {points}"
        )
    if not onesided and points != n_fft:
        raise RuntimeError(
            f"{call} : expected the frequency dimension (3rd to the last) of the input tensor to match n_fft when "
            f"onesided=False, but got {points}"
        )
    if not 0 < frames.hop <= frames.win_length:
        raise RuntimeError(f"{call} : expected 0 < hop_length <= win_length")
    frames.check(call)
    if return_complex and onesided:
        raise RuntimeError("Cannot have onesided output if window or input is complex")
    if complex_window and not return_complex:
        raise RuntimeError("Complex windows are incompatible with return_complex=False")
    norm = "ortho" if normalized else None
    spectra = input.transpose(-2, -1)
    pieces = _fft.irfft(spectra, n_fft, norm=norm) if onesided else _fft.ifft(spectra, norm=norm)
    pieces = pieces if return_complex or onesided else pieces.real
    whole = frames.whole_window(pieces.dtype if window is None else window.dtype)
    if whole is None:
        whole = C.ones(n_fft, dtype=pieces.dtype)
    signal = _overlapped(pieces * whole, frames.hop)
    weight = _overlapped((whole * whole).expand(pieces.size(-2), n_fft), frames.hop)
    reach = signal.size(-1)
    begin = n_fft // 2 if center else 0
    end = begin + length if length is not None else reach - n_fft // 2 if center else reach
    kept = slice(begin, min(end, reach))
    signal, weight = signal[..., kept], weight[kept]
    if not bool((weight.abs() > 1e-11).all()):
        raise RuntimeError(f"{call} window overlap add min: 1\n[ CPUBoolType{{}} ]")
    signal = signal / weight
    return signal if end <= reach else C._ops.constant_pad(signal, [0, end - reach])
