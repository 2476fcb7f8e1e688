"""What functions that are written in Python here are declared to take in PyTorch, where they are built in.

A built-in function looks at its arguments before it computes; a function in Python finds out somewhere inside that it was
given a list for a tensor. So where one fails, its arguments are compared with its declarations, and what is wrong with them is
the error: TypeError, in PyTorch's words. A call that succeeds costs nothing.

    torch.atleast_1d(5)      # atleast_1d(): argument 'input' (position 1) must be Tensor, not int
"""

import numbers

from _terra_C import Generator, Tensor, device, dtype

from ._schemas import Schema, _parts

DECLARED = """adaptive_avg_pool1d(Tensor input, int[1] output_size)
adaptive_max_pool1d(Tensor input, int[1] output_size)
affine_grid_generator(Tensor theta, int[] size, bool align_corners)
alias_copy(Tensor input)
allclose(Tensor input, Tensor other, float rtol=1e-05, float atol=1e-08, bool equal_nan=False)
alpha_dropout_(Tensor input, float p, bool train)
atleast_1d(Tensor input)
atleast_1d(Tensor[] tensors)
atleast_2d(Tensor input)
atleast_2d(Tensor[] tensors)
atleast_3d(Tensor input)
atleast_3d(Tensor[] tensors)
as_strided_copy(Tensor input, int[] size, int[] stride, int? storage_offset=None)
avg_pool1d(Tensor input, int[1] kernel_size, int[1] stride=[], int[1] padding=[0], bool ceil_mode=False, bool count_include_pad=True)
bartlett_window(int window_length, *, ScalarType? dtype=None, Device? device=None)
bartlett_window(int window_length, bool periodic, *, ScalarType? dtype=None, Device? device=None)
bilinear(Tensor input1, Tensor input2, Tensor weight, Tensor? bias=None)
binary_cross_entropy_with_logits(Tensor input, Tensor target, Tensor? weight=None, Tensor? pos_weight=None, int reduction=1)
blackman_window(int window_length, *, ScalarType? dtype=None, Device? device=None)
blackman_window(int window_length, bool periodic, *, ScalarType? dtype=None, Device? device=None)
celu_(Tensor input, Scalar alpha=1.0)
combinations(Tensor input, int r=2, bool with_replacement=False)
constant_pad_nd(Tensor input, int[] pad, Scalar value=0)
conv1d(Tensor input, Tensor weight, Tensor? bias=None, int[1] stride=[1], int[1] padding=[0], int[1] dilation=[1], int groups=1)
conv1d(Tensor input, Tensor weight, Tensor? bias=None, int[1] stride=[1], str padding="valid", int[1] dilation=[1], int groups=1)
conv2d(Tensor input, Tensor weight, Tensor? bias=None, int[2] stride=[1, 1], int[2] padding=[0, 0], int[2] dilation=[1, 1], int groups=1)
conv2d(Tensor input, Tensor weight, Tensor? bias=None, int[2] stride=[1, 1], str padding="valid", int[2] dilation=[1, 1], int groups=1)
conv3d(Tensor input, Tensor weight, Tensor? bias=None, int[3] stride=[1, 1, 1], int[3] padding=[0, 0, 0], int[3] dilation=[1, 1, 1], int groups=1)
conv3d(Tensor input, Tensor weight, Tensor? bias=None, int[3] stride=[1, 1, 1], str padding="valid", int[3] dilation=[1, 1, 1], int groups=1)
conv_tbc(Tensor input, Tensor weight, Tensor bias, int pad=0)
cosine_embedding_loss(Tensor input1, Tensor input2, Tensor target, float margin=0.0, int reduction=1)
ctc_loss(Tensor log_probs, Tensor targets, int[] input_lengths, int[] target_lengths, int blank=0, int reduction=1, bool zero_infinity=False)
ctc_loss(Tensor log_probs, Tensor targets, Tensor input_lengths, Tensor target_lengths, int blank=0, int reduction=1, bool zero_infinity=False)
detach_(Tensor input)
detach_copy(Tensor input)
diagonal_copy(Tensor input, int offset=0, int dim1=0, int dim2=1)
elu_(Tensor input, Scalar alpha=1, Scalar scale=1, Scalar input_scale=1)
embedding_bag(Tensor weight, Tensor indices, Tensor offsets, bool scale_grad_by_freq=False, int mode=0, bool sparse=False, Tensor? per_sample_weights=None, bool include_last_offset=False)
embedding_bag(Tensor weight, Tensor indices, Tensor offsets, bool scale_grad_by_freq, int mode, bool sparse, Tensor? per_sample_weights, bool include_last_offset, int? padding_idx)
embedding_renorm_(Tensor input, Tensor indices, float max_norm, float norm_type)
equal(Tensor input, Tensor other)
expand_copy(Tensor input, int[] size, *, bool implicit=False)
fake_quantize_per_channel_affine(Tensor input, Tensor scale, Tensor zero_point, int axis, int quant_min, int quant_max)
fake_quantize_per_tensor_affine(Tensor input, float scale, int zero_point, int quant_min, int quant_max)
fake_quantize_per_tensor_affine(Tensor input, Tensor scale, Tensor zero_point, int quant_min, int quant_max)
feature_alpha_dropout_(Tensor input, float p, bool train)
feature_dropout_(Tensor input, float p, bool train)
fft_fft(Tensor input, int? n=None, int dim=-1, str? norm=None)
fft_fft2(Tensor input, int[1]? s=None, int[1] dim=[-2, -1], str? norm=None)
fft_fftfreq(int n, float d=1.0, *, ScalarType? dtype=None, Device? device=None)
fft_fftn(Tensor input, int[1]? s=None, int[1]? dim=None, str? norm=None)
fft_fftshift(Tensor input, int[1]? dim=None)
fft_hfft(Tensor input, int? n=None, int dim=-1, str? norm=None)
fft_hfft2(Tensor input, int[1]? s=None, int[1] dim=[-2, -1], str? norm=None)
fft_hfftn(Tensor input, int[1]? s=None, int[1]? dim=None, str? norm=None)
fft_ifft(Tensor input, int? n=None, int dim=-1, str? norm=None)
fft_ifft2(Tensor input, int[1]? s=None, int[1] dim=[-2, -1], str? norm=None)
fft_ifftn(Tensor input, int[1]? s=None, int[1]? dim=None, str? norm=None)
fft_ifftshift(Tensor input, int[1]? dim=None)
fft_ihfft(Tensor input, int? n=None, int dim=-1, str? norm=None)
fft_ihfft2(Tensor input, int[1]? s=None, int[1] dim=[-2, -1], str? norm=None)
fft_ihfftn(Tensor input, int[1]? s=None, int[1]? dim=None, str? norm=None)
fft_irfft(Tensor input, int? n=None, int dim=-1, str? norm=None)
fft_irfft2(Tensor input, int[1]? s=None, int[1] dim=[-2, -1], str? norm=None)
fft_irfftn(Tensor input, int[1]? s=None, int[1]? dim=None, str? norm=None)
fft_rfft(Tensor input, int? n=None, int dim=-1, str? norm=None)
fft_rfft2(Tensor input, int[1]? s=None, int[1] dim=[-2, -1], str? norm=None)
fft_rfftfreq(int n, float d=1.0, *, ScalarType? dtype=None, Device? device=None)
fft_rfftn(Tensor input, int[1]? s=None, int[1]? dim=None, str? norm=None)
frobenius_norm(Tensor input, int[1] dim, bool keepdim=False)
gradient(Tensor input, *, Scalar? spacing=None, int? dim=None, int edge_order=1)
gradient(Tensor input, *, Scalar spacing, int[] dim, int edge_order=1)
gradient(Tensor input, *, int[] dim, int edge_order=1)
gradient(Tensor input, *, Scalar[] spacing, int? dim=None, int edge_order=1)
gradient(Tensor input, *, Scalar[] spacing, int[] dim, int edge_order=1)
gradient(Tensor input, *, Tensor[] spacing, int? dim=None, int edge_order=1)
gradient(Tensor input, *, Tensor[] spacing, int[] dim, int edge_order=1)
group_norm(Tensor input, int num_groups, Tensor? weight=None, Tensor? bias=None, float eps=1e-05, bool cudnn_enabled=True)
gru_cell(Tensor input, Tensor hx, Tensor w_ih, Tensor w_hh, Tensor? b_ih=None, Tensor? b_hh=None)
hamming_window(int window_length, *, ScalarType? dtype=None, Device? device=None)
hamming_window(int window_length, bool periodic, *, ScalarType? dtype=None, Device? device=None)
hamming_window(int window_length, bool periodic, float alpha, *, ScalarType? dtype=None, Device? device=None)
hamming_window(int window_length, bool periodic, float alpha, float beta, *, ScalarType? dtype=None, Device? device=None)
hann_window(int window_length, *, ScalarType? dtype=None, Device? device=None)
hann_window(int window_length, bool periodic, *, ScalarType? dtype=None, Device? device=None)
hardtanh_(Tensor input, Scalar min_val=-1, Scalar max_val=1)
hinge_embedding_loss(Tensor input, Tensor target, float margin=1.0, int reduction=1)
histogram(Tensor input, Tensor bins, *, Tensor? weight=None, bool density=False)
histogram(Tensor input, int bins=100, *, float[]? range=None, Tensor? weight=None, bool density=False)
histogramdd(Tensor input, int[] bins, float[]? range=None, Tensor? weight=None, bool density=False)
histogramdd(Tensor input, int bins, float[]? range=None, Tensor? weight=None, bool density=False)
histogramdd(Tensor input, Tensor[] bins, float[]? range=None, Tensor? weight=None, bool density=False)
hspmm(Tensor mat1, Tensor mat2)
is_complex(Tensor input)
is_conj(Tensor input)
is_floating_point(Tensor input)
is_inference(Tensor input)
is_neg(Tensor input)
is_nonzero(Tensor input)
is_signed(Tensor input)
isin(Tensor elements, Tensor test_elements, *, bool assume_unique=False, bool invert=False)
isin(Tensor elements, Scalar test_element, *, bool assume_unique=False, bool invert=False)
isin(Scalar element, Tensor test_elements, *, bool assume_unique=False, bool invert=False)
istft(Tensor input, int n_fft, int? hop_length=None, int? win_length=None, Tensor? window=None, bool center=True, bool normalized=False, bool? onesided=None, int? length=None, bool return_complex=False)
kaiser_window(int window_length, *, ScalarType? dtype=None, Device? device=None)
kaiser_window(int window_length, bool periodic, *, ScalarType? dtype=None, Device? device=None)
kaiser_window(int window_length, bool periodic, float beta, *, ScalarType? dtype=None, Device? device=None)
kl_div(Tensor input, Tensor target, int reduction=1, *, bool log_target=False)
layer_norm(Tensor input, int[] normalized_shape, Tensor? weight=None, Tensor? bias=None, float eps=1e-05, bool cudnn_enable=True)
leaky_relu_(Tensor input, Scalar negative_slope=0.01)
lstm_cell(Tensor input, Tensor[] hx, Tensor w_ih, Tensor w_hh, Tensor? b_ih=None, Tensor? b_hh=None)
margin_ranking_loss(Tensor input1, Tensor input2, Tensor target, float margin=0.0, int reduction=1)
nan_to_num(Tensor input, float? nan=None, float? posinf=None, float? neginf=None)
nan_to_num_(Tensor input, float? nan=None, float? posinf=None, float? neginf=None)
narrow_copy(Tensor input, int dim, int start, int length)
nonzero_static(Tensor input, *, int size, int fill_value=-1)
norm_except_dim(Tensor v, int pow=2, int dim=0)
nuclear_norm(Tensor input, bool keepdim=False)
nuclear_norm(Tensor input, int[2] dim, bool keepdim=False)
numel(Tensor input)
one_hot(Tensor input, int num_classes=-1)
pairwise_distance(Tensor x1, Tensor x2, float p=2.0, float eps=1e-06, bool keepdim=False)
pdist(Tensor input, float p=2.0)
permute_copy(Tensor input, int[] dims)
poisson_nll_loss(Tensor input, Tensor target, bool log_input, bool full, float eps, int reduction)
range(Scalar start, Scalar end, Scalar step=1, *, ScalarType? dtype=None, Device? device=None)
range(Scalar start, Scalar end, *, ScalarType? dtype=None, Device? device=None)
relu_(Tensor input)
rnn_relu_cell(Tensor input, Tensor hx, Tensor w_ih, Tensor w_hh, Tensor? b_ih=None, Tensor? b_hh=None)
rnn_tanh_cell(Tensor input, Tensor hx, Tensor w_ih, Tensor w_hh, Tensor? b_ih=None, Tensor? b_hh=None)
scalar_tensor(Scalar s, *, ScalarType? dtype=None, Device? device=None)
select_copy(Tensor input, int dim, int index)
selu_(Tensor input)
slice_copy(Tensor input, int dim=0, int? start=None, int? end=None, int step=1)
smm(Tensor input, Tensor mat2)
split_copy(Tensor input, int split_size, int dim=0)
split_with_sizes(Tensor input, int[] split_sizes, int dim=0)
split_with_sizes_copy(Tensor input, int[] split_sizes, int dim=0)
squeeze_copy(Tensor input)
squeeze_copy(Tensor input, int dim)
squeeze_copy(Tensor input, int[] dim)
sspaddmm(Tensor input, Tensor mat1, Tensor mat2, *, Scalar beta=1, Scalar alpha=1)
t_copy(Tensor input)
threshold(Tensor input, Scalar threshold, Scalar value)
threshold_(Tensor input, Scalar threshold, Scalar value)
transpose_copy(Tensor input, int dim0, int dim1)
triplet_margin_loss(Tensor anchor, Tensor positive, Tensor negative, float margin=1.0, float p=2.0, float eps=1e-06, bool swap=False, int reduction=1)
unbind_copy(Tensor input, int dim=0)
unfold_copy(Tensor input, int dimension, int size, int step)
unsafe_chunk(Tensor input, int chunks, int dim=0)
unsafe_split(Tensor input, int split_size, int dim=0)
unsafe_split_with_sizes(Tensor input, int[] split_sizes, int dim=0)
unsqueeze_copy(Tensor input, int dim)
view_as_complex_copy(Tensor input)
view_as_real_copy(Tensor input)
zero_(Tensor input)"""

# The functions of nn.functional among them. Others of these names are functions in Python in PyTorch as well.
BUILT_IN_FUNCTIONAL = frozenset((
    "adaptive_avg_pool1d", "avg_pool1d", "bilinear", "celu_", "conv1d", "conv2d", "conv3d", "conv_tbc", "elu_", "hardtanh_", "leaky_relu_",
    "one_hot", "pairwise_distance", "pdist", "relu_", "selu_", "threshold_",
))  # fmt: skip
OTHER_NAMES = {"axis": "dim", "keepdims": "keepdim"}


def _is_whole(value):
    return isinstance(value, numbers.Integral) and not isinstance(value, bool) or _is_one(value, lambda t: not t.is_floating_point() and t.dtype.itemsize > 1)


def _is_one(value, of=lambda t: True):
    return isinstance(value, Tensor) and value.dim() == 0 and not value.requires_grad and of(value)


def _is_real(value):
    return isinstance(value, numbers.Real) or _is_one(value)


def _is_list_of(is_element):
    return lambda value: isinstance(value, (list, tuple)) and all(map(is_element, value))


def _is_tensor(value):
    return isinstance(value, Tensor)


# By word of the declarations: what messages call it, and what it is.
_TYPES = {
    "Tensor": ("Tensor", _is_tensor), "Tensor[]": ("tuple of Tensors", _is_list_of(_is_tensor)),
    "int": ("int", _is_whole), "int[]": ("tuple of ints", _is_list_of(_is_whole)),
    "float": ("float", _is_real), "float[]": ("tuple of floats", _is_list_of(_is_real)),
    "Scalar": ("Number", lambda value: isinstance(value, numbers.Number) or _is_one(value)),
    "Scalar[]": ("tuple of Scalars", _is_list_of(lambda value: isinstance(value, numbers.Number))),
    "bool": ("bool", lambda value: isinstance(value, bool)), "str": ("str", lambda value: isinstance(value, str)),
    "ScalarType": ("torch.dtype", lambda value: isinstance(value, dtype) or value in (bool, int, float, complex)),
    "Device": ("torch.device", lambda value: isinstance(value, (device, str, int))),
    "Generator": ("torch.Generator", lambda value: isinstance(value, Generator)),
}  # fmt: skip
_HEAP_TYPE = 1 << 9


def _called(kind):
    """A class as messages call it: built-in ones of modules with their module."""
    qualified = kind.__module__ != "builtins" and (not kind.__flags__ & _HEAP_TYPE or kind is dtype)
    return f"torch.{kind.__name__}" if kind is dtype else f"{kind.__module__}.{kind.__name__}" if qualified else kind.__name__


class _Declaration(Schema):
    def __init__(self, text):
        name, _, taken = text.partition("(")
        super().__init__(name, f"({taken} -> ()")

    def refusal(self, args, kwargs):
        """What is wrong with the arguments, or None."""
        most, least = len(self._positional), sum(not a.has_default_value() for a in self._positional)
        if len(args) > most:
            takes = f"from {least} to {most}" if least < most else str(most)
            were = "was" if len(args) == 1 else "were"
            return f"takes {takes} positional argument{'s' if most != 1 or least < most else ''} but {len(args)} {were} given"
        missing = []
        for i, argument in enumerate(self.arguments):
            if i < len(args) and not argument.kwarg_only:
                value, where = args[i], f" (position {i + 1})"
            elif argument.name in kwargs:
                value, where = kwargs[argument.name], ""
            else:
                missing += [] if argument.has_default_value() else [f'"{argument.name}"']
                continue
            wanted = self._unlike(argument, value)
            if wanted and not missing:
                return f": argument '{argument.name}'{where} must be {wanted}, not {_called(type(value))}"
        if missing:
            return f"missing {len(missing)} required positional argument{'s' if len(missing) == 1 else ''}: {', '.join(missing)}"
        for name in kwargs:
            if name not in self._known:
                return f"got an unexpected keyword argument '{name}'"
            if name in [a.name for a in self._positional[: len(args)]]:
                return f"got multiple values for argument '{name}'"
        return None

    @staticmethod
    def _unlike(argument, value):
        """What the argument has to be, where the value isn't that."""
        kind, optional = argument.type.removesuffix("?"), argument.type.endswith("?")
        if value is None and (optional or argument.has_default_value() and argument.default_value is None):
            return None
        base, bracket, size = kind.partition("[")
        said, fits = _TYPES[base + "[]" if bracket else base]
        single = bracket and size != "]" and _TYPES[base][1](value)
        return None if single or fits(value) else said

    def shown(self):
        """As messages list it."""
        shown = []
        for part in _parts(self._text.partition("(")[2].rpartition(") ->")[0]):
            kind, space, name = part.partition(" ")
            base, bracket, _ = kind.removesuffix("?").partition("[")
            shown.append(f"{_TYPES[base + '[]' if bracket else base][0]} {name}" if space else part)
        return f" * ({', '.join(shown)})"


_declarations = {}


def _declarations_of(name):
    if not _declarations:
        for line in DECLARED.split("\n"):
            _declarations.setdefault(line.partition("(")[0], []).append(line)
    return [_Declaration(line) for line in _declarations.get(name, ())]


def complain(function, args, kwargs):
    """Raises TypeError where a call of the function, which has failed, was given what it isn't declared to take."""
    name = ("fft_" if function.__module__.endswith(".fft") else "") + function.__name__
    if function.__module__.endswith(".functional") and name not in BUILT_IN_FUNCTIONAL:
        return
    kwargs = {OTHER_NAMES.get(key, key): value for key, value in kwargs.items() if key != "out"}
    declarations = _declarations_of(name)
    refusals = [d.refusal(args, kwargs) for d in declarations]
    if not refusals or None in refusals:
        return
    if len(refusals) == 1:
        raise TypeError(f"{name}(){'' if refusals[0][0] == ':' else ' '}{refusals[0]}")
    given = ", ".join([_called(type(a)) for a in args] + [f"{key}={_called(type(a))}" for key, a in kwargs.items()])
    expected = "\n".join(d.shown() for d in declarations)
    raise TypeError(f"{name}() received an invalid combination of arguments - got ({given}), but expected one of:\n{expected}\n")
