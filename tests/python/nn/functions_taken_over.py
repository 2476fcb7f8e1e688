# run: --torch
# run: --torch --capture=off
# run: --torch --capture=coexec TERRA_RUNNER=turns
# run: --torch --capture=verify
# run: --torch --capture=stress
"""What __torch_function__ of a class that is no tensor gets from the functions of torch.nn.functional, torch.nn.init, and those of
torch that PyTorch has in Python: the very function, required arguments by position, the others by name."""

import copy
import inspect
import pathlib
import pickle
import sys

import torch
import torch.nn.functional as F

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from _oracle import check  # noqa: E402

LAYERS = """
adaptive_avg_pool2d 2 | adaptive_avg_pool3d 2 | adaptive_max_pool1d 2 | adaptive_max_pool1d_with_indices 2 | adaptive_max_pool2d 2
adaptive_max_pool2d_with_indices 2 | adaptive_max_pool3d 2 | adaptive_max_pool3d_with_indices 2 | affine_grid 2 | alpha_dropout 1
avg_pool1d 2 | avg_pool2d 2 | avg_pool3d 2 | batch_norm 3 | bilinear 3 | binary_cross_entropy 2 | binary_cross_entropy_with_logits 2
celu 1 | celu_ 1 | channel_shuffle 2 | conv1d 2 | conv2d 2 | conv3d 2 | conv_tbc 3 | conv_transpose2d 2 | cosine_embedding_loss 3
cosine_similarity 2 | cross_entropy 2 | ctc_loss 4 | dropout 1 | dropout1d 1 | dropout2d 1 | dropout3d 1 | elu 1 | elu_ 1 | embedding 2
embedding_bag 2 | feature_alpha_dropout 1 | fold 3 | fractional_max_pool2d 2 | fractional_max_pool2d_with_indices 2
fractional_max_pool3d 2 | fractional_max_pool3d_with_indices 2 | gaussian_nll_loss 3 | gelu 1 | glu 1 | grid_sample 2 | group_norm 2
gumbel_softmax 1 | hardshrink 1 | hardsigmoid 1 | hardswish 1 | hardtanh 1 | hardtanh_ 1 | hinge_embedding_loss 2 | huber_loss 2
instance_norm 1 | interpolate 1 | kl_div 2 | layer_norm 2 | leaky_relu 1 | leaky_relu_ 1 | linear 2 | linear_cross_entropy 3
local_response_norm 2 | log_softmax 1 | lp_pool1d 3 | lp_pool2d 3 | lp_pool3d 3 | margin_ranking_loss 3 | max_pool1d 2
max_pool1d_with_indices 2 | max_pool2d 2 | max_pool2d_with_indices 2 | max_pool3d 2 | max_pool3d_with_indices 2 | max_unpool1d 3
max_unpool2d 3 | max_unpool3d 3 | mish 1 | mse_loss 2 | multi_margin_loss 2 | multilabel_margin_loss 2 | multilabel_soft_margin_loss 2
nll_loss 2 | normalize 1 | one_hot 1 | pad 2 | pairwise_distance 2 | pdist 1 | pixel_shuffle 2 | pixel_unshuffle 2 | poisson_nll_loss 2
prelu 2 | relu 1 | relu6 1 | relu_ 1 | rms_norm 2 | rrelu 1 | rrelu_ 1 | scaled_dot_product_attention 3 | selu 1 | selu_ 1 | silu 1
smooth_l1_loss 2 | soft_margin_loss 2 | softmax 1 | softmin 1 | softplus 1 | softshrink 1 | softsign 1 | tanhshrink 1 | threshold 3
threshold_ 3 | triplet_margin_loss 3 | triplet_margin_with_distance_loss 3 | unfold 2
"""
OF_TENSORS = """
atleast_1d 1 | atleast_2d 2 | atleast_3d 1 | block_diag 2 | broadcast_tensors 2 | cartesian_prod 2 | cdist 2 | chain_matmul 2 | einsum 2
lu 1 | pca_lowrank 1 | split 2 | stft 2 | svd_lowrank 1 | tensordot 2 | unique 1 | unique_consecutive 1 | equal 2 | allclose 2 | isin 2
"""
INITIALISERS = "constant_ 2 | kaiming_uniform_ 1 | normal_ 1 | uniform_ 1"


class Foreign:
    def __init__(self, name):
        self.name = name

    def __repr__(self):
        return self.name

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return func, args, None if kwargs is None else sorted(kwargs.items(), key=lambda entry: entry[0])


def names(text):
    return (part.split() for line in text.strip().split("\n") for part in line.split(" | "))


results = []
for module, text in ((F, LAYERS), (torch, OF_TENSORS), (torch.nn.init, INITIALISERS)):
    for name, count in names(text):
        function = getattr(module, name)
        for _ in range(14):
            func, *rest = function(*(Foreign(f"argument {i}") for i in range(int(count))))
        results.append((name, [func is function, func.__name__, rest]))

a = Foreign("a")
calls = {
    "options by position": lambda: F.dropout(a, 0.3, False),
    "options by name": lambda: F.dropout(a, inplace=True),
    "a list of operands": lambda: torch.einsum("ij,jk", [a, a]),
    "a condition": lambda: torch._assert(a, "text"),
    "required by name": lambda: F.mse_loss(target=a, input=1),
    "the second alone": lambda: F.cross_entropy(torch.ones(1), a),
    "an option alone": lambda: F.cross_entropy(torch.ones(1), torch.ones(1), weight=a),
    "upsample": lambda: F.upsample(a, 2),
    "upsample_nearest": lambda: F.upsample_nearest(a, scale_factor=2),
    "old names": lambda: torch.nn.init.constant(a, 1),
    "too many": lambda: F.softsign(a, 1, 2, 3),
}
for name, call in calls.items():
    try:
        value = call()
    except TypeError as error:
        value = type(error).__name__
    results.append((name, value[1:] if isinstance(value, tuple) else value))
kept = pickle.loads(pickle.dumps(F.dropout)) is F.dropout is copy.deepcopy(F.dropout)
results.append(("as functions of Python", [inspect.isfunction(F.dropout), inspect.signature(F.dropout).bind(1).args, kept]))


class Layer:
    activation = F.silu


results.append(("in a class", Layer().activation.__self__.__class__.__name__))
check(results, __file__)
