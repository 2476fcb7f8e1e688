# run: --torch
"""stft, istft and windows: values, sentences and gradients, as PyTorch's."""

import pathlib
import sys
import warnings

import torch
import torch.signal.windows as W

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from _oracle import check, wave  # noqa: E402

warnings.simplefilter("ignore")


def said(function):
    try:
        return function()
    except Exception as error:  # noqa: BLE001
        return f"{type(error).__name__}: {error}"


def summary(t):
    if not isinstance(t, torch.Tensor) or t.numel() <= 12:
        return t
    parts = torch.view_as_real(t.resolve_conj()).flatten() if t.is_complex() else t.flatten()
    weights = torch.cos(torch.arange(parts.numel(), dtype=torch.float64) * 0.37).to(parts.dtype)
    return [str(t.dtype), list(t.shape), t.flatten()[:3], (parts * weights).sum(), (parts * parts).sum()]


X, XX = wave(40), wave(2, 40)
Z = torch.complex(X, X.flip(0))
HANN = torch.hann_window(8, dtype=torch.float64)

SPECTRA = """torch.stft(X, 8, return_complex=True)|torch.stft(X, 8, 3, window=HANN, return_complex=True)|torch.stft(XX, 8, window=HANN, return_complex=True)
torch.stft(X, 8, win_length=5, return_complex=True)|torch.stft(X, 8, 2, 6, torch.hann_window(6, dtype=torch.float64), return_complex=True)
torch.stft(X, 8, center=False, return_complex=True)|torch.stft(X, 8, pad_mode='constant', return_complex=True)|torch.stft(X, 8, normalized=True, return_complex=True)
torch.stft(X, 8, onesided=False, return_complex=True)|torch.stft(Z, 8)|torch.stft(X, 8, window=HANN.cdouble(), return_complex=True)|torch.stft(X.float(), 7, return_complex=True)
torch.stft(X, 8, return_complex=False)|torch.stft(X, 8, win_length=4, center=False, align_to_window=True, return_complex=True)|X.stft(8, return_complex=True)
torch.stft(X, 8, win_length=4, center=False, align_to_window=False, return_complex=True)|torch.stft(X, 8, align_to_window=True, return_complex=True)
torch.stft(X, 8)|torch.stft(X, 100, return_complex=True)|torch.stft(X, 8, hop_length=0, return_complex=True)|torch.stft(X, 8, win_length=9, return_complex=True)
torch.stft(X, 8, window=torch.ones(3), return_complex=True)|torch.stft(Z, 8, onesided=True)|torch.stft(X.view(1, 2, 20), 8, return_complex=True)
torch.stft(X.long(), 8, return_complex=True)|torch.stft(X, 50, center=False, return_complex=True)"""
BACK = """S(8)|S(8, window=HANN)|S(8, 3, window=HANN)|S(8, 2, 6, torch.hann_window(6, dtype=torch.float64))|S(8, normalized=True)|S(8, onesided=False)
S(8, pad_mode='constant')|S(7, 2)"""
INVERSES = """torch.istft(torch.stft(X, 8, return_complex=True), 8, length=37)|torch.istft(torch.stft(X, 8, return_complex=True), 8, length=45)
torch.istft(torch.stft(Z, 8), 8, onesided=False, return_complex=True)|torch.istft(X.view(5, 8), 8)|torch.istft(Z.view(2, 20), 8)|torch.istft(Z.view(5, 8), 8, hop_length=9)
torch.istft(torch.stft(X, 8, return_complex=True, window=0 * HANN), 8, window=0 * HANN)|torch.istft(Z.view(5, 8), 8, return_complex=True)
torch.istft(torch.zeros(5, 0, dtype=torch.complex64), 8)|torch.istft(torch.stft(XX, 8, window=HANN, return_complex=True), 8, window=HANN)"""
WINDOWS = """torch.hann_window(-1)|torch.hann_window(1)|torch.hann_window(0)|torch.kaiser_window(5)|torch.kaiser_window(6, False, 3.0)|torch.hamming_window(5, False)
torch.hamming_window(6, True, 0.6, 0.4)|torch.blackman_window(5)|torch.blackman_window(6, periodic=False)|torch.bartlett_window(5)|torch.bartlett_window(6, False)
torch.hann_window(5, dtype=torch.float64)|torch.hann_window(5, requires_grad=True).requires_grad|torch.kaiser_window(1)|torch.hamming_window(-3)
W.hann(5)|W.hann(5, sym=False)|W.hamming(6)|W.blackman(6)|W.bartlett(5)|W.cosine(5)|W.cosine(6, sym=False)|W.exponential(5)|W.exponential(5, center=1, tau=2.0, sym=False)
W.gaussian(5)|W.gaussian(6, std=2.0, sym=False)|W.general_cosine(5, a=[0.5, 0.3, 0.2])|W.general_hamming(5, alpha=0.6)|W.kaiser(5)|W.kaiser(6, beta=3.0, sym=False)
W.nuttall(6)|W.gaussian(5, std=0)|W.hann(-1)|W.exponential(5, tau=-1)|W.kaiser(5, beta=-1)|W.general_cosine(5, a=[])|W.exponential(5, center=1, sym=True)
W.hann(3, dtype=torch.int64)|W.general_cosine(5, a=3)|W.kaiser(1, beta=3.0)|W.kaiser(0, beta=3.0)|W.hann(1)|W.bartlett(1)|W.hann(4, dtype=torch.float64)"""


def S(n_fft, hop=None, win_length=None, window=None, **options):
    """There and back."""
    spectrum = torch.stft(X, n_fft, hop, win_length, window, return_complex=True, **options)
    options.pop("pad_mode", None)
    return torch.istft(spectrum, n_fft, hop, win_length, window, length=40, **options)


def evaluated(table):
    for line in table.split("\n"):
        for text in line.split("|"):
            yield text, said(lambda: summary(eval(text)))


def gradients():
    for name, function in (("stft", lambda x: torch.stft(x, 8, 3, window=HANN, return_complex=True)), ("power", lambda x: torch.stft(x, 8, window=HANN, return_complex=True).abs() ** 2),
                           ("there and back", lambda x: torch.istft(torch.stft(x, 8, window=HANN, return_complex=True), 8, window=HANN))):  # fmt: skip
        x = X.clone().requires_grad_()
        result = function(x)
        parts = torch.view_as_real(result) if result.is_complex() else result
        weights = torch.cos(torch.arange(parts.numel(), dtype=torch.float64)).reshape(parts.shape)
        yield f"gradient {name}", summary(torch.autograd.grad((parts * weights).sum(), x)[0])


check([*evaluated(SPECTRA), *evaluated(BACK), *evaluated(INVERSES), *evaluated(WINDOWS), *gradients()], __file__)
