# run: --torch
# run: --torch --capture=off
# run: --torch --capture=verify
"""Nodes as programs look at them: their names, the edges to what they were computed from, what hooks of theirs see and what
they keep; edges in the place of tensors in grad() and backward(); hooks on many tensors at once."""

import pathlib
import sys
import warnings

import torch
import torch.autograd.graph as graph
import torch.nn.functional as F

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from _oracle import check  # noqa: E402

warnings.simplefilter("ignore")
torch.manual_seed(0)


def leaf(*size):
    return (torch.rand(*size) + 0.1).requires_grad_()


x, y, w, v, p = leaf(3, 4), leaf(3, 4), leaf(4, 4), leaf(4), leaf(3)
image, line, volume = leaf(2, 3, 8, 8), leaf(2, 3, 4), leaf(1, 2, 4, 4, 4)
t = torch.tensor([0, 1, 2])
targets = torch.zeros(3, 4, dtype=torch.long)

# Results whose node and its edges are compared: the name, and how many there are.
CALLS = """
1/p ; 2/p ; p/2 ; 1.0/p ; p//2 ; 5//p ; p%2 ; 2%p ; p**2 ; 2**p ; p**p ; -p ; 1-p ; p-1 ; p.reciprocal()
torch.einsum('ij,kj->ik',x,y) ; torch.einsum('ij->ji',x) ; torch.einsum('ii->i',w)
torch.einsum('bij,jk->bik',line,w) ; torch.einsum('i,j->ij',v,v) ; torch.einsum('ij,ij->ij',x,y)
torch.einsum('ij,ij->',x,y) ; torch.einsum('i,i->',v,v) ; torch.tensordot(x,y,dims=2)
torch.tensordot(x,y,([1],[1])) ; torch.inner(v,v) ; torch.inner(x,y) ; torch.outer(v,v) ; torch.kron(w,w)
torch.dot(v,v) ; torch.vdot(v,v) ; torch.mv(w,v) ; torch.mm(x,w) ; torch.bmm(line,line.mT) ; torch.matmul(line,w)
torch.matmul(w,v) ; torch.matmul(v,w) ; torch.matmul(v,v) ; torch.matmul(line,v) ; torch.matmul(line,line.mT)
torch.addmm(w,w,w) ; torch.addmv(v,w,v) ; torch.addr(w,v,v) ; torch.baddbmm(torch.zeros(2,3,3),line,line.mT)
torch.addbmm(torch.zeros(3,3),line,line.mT) ; torch.addcmul(x,x,y) ; torch.addcdiv(x,x,y) ; torch.lerp(x,y,0.5)
torch.lerp(x,y,y) ; torch.cdist(x,y) ; F.pairwise_distance(x,y) ; F.cosine_similarity(x,y)
F.bilinear(x,y,leaf(2,4,4)) ; F.linear(x,w) ; F.linear(x,w,v) ; F.layer_norm(x,(4,)) ; F.layer_norm(x,(4,),v,v)
F.group_norm(image,3) ; F.batch_norm(image,None,None,training=True)
F.batch_norm(image,torch.zeros(3),torch.ones(3)) ; F.local_response_norm(image,2) ; F.rms_norm(x,(4,))
F.rms_norm(x,(4,),v) ; F.normalize(x) ; F.conv1d(line,leaf(2,3,2)) ; F.conv2d(image,leaf(2,3,2,2))
F.conv3d(volume,leaf(2,2,2,2,2)) ; F.conv_transpose2d(image,leaf(3,2,2,2)) ; F.conv2d(image[0],leaf(2,3,2,2))
F.unfold(image,2) ; F.fold(leaf(1,12,49),(8,8),2) ; F.max_pool1d(line,2) ; F.max_pool2d(image,2)
F.max_pool3d(volume,2) ; F.avg_pool1d(line,2) ; F.avg_pool2d(image,2) ; F.avg_pool3d(volume,2)
F.adaptive_avg_pool1d(line,2) ; F.adaptive_avg_pool2d(image,2) ; F.adaptive_avg_pool2d(image,1)
F.adaptive_max_pool1d(line,2) ; F.adaptive_max_pool2d(image,2) ; F.adaptive_avg_pool3d(volume,2)
F.adaptive_max_pool3d(volume,2) ; F.lp_pool2d(image,2,2) ; F.lp_pool1d(line,2,2)
F.fractional_max_pool2d(image,2,output_size=3) ; F.max_unpool2d(*F.max_pool2d(image,2,return_indices=True),2)
F.mish(x) ; F.softsign(x) ; F.tanhshrink(x) ; F.hardshrink(x) ; F.softshrink(x) ; F.hardtanh(x) ; F.hardsigmoid(x)
F.hardswish(x) ; F.logsigmoid(x) ; F.threshold(x,0.1,0) ; F.softmax(x,1) ; F.log_softmax(x,1) ; F.softmin(x,1)
F.gumbel_softmax(x) ; F.gumbel_softmax(x,hard=True) ; F.sigmoid(x) ; F.tanh(x) ; F.dropout(x,0.5)
F.alpha_dropout(x,0.5,True) ; F.feature_alpha_dropout(image,0.5,True) ; F.dropout1d(line) ; F.dropout2d(image)
F.dropout3d(volume) ; F.embedding(t,w) ; F.one_hot(t)*x.sum() ; F.pixel_shuffle(leaf(1,4,2,2),2)
F.pixel_unshuffle(image,2) ; F.channel_shuffle(leaf(1,4,2,2),2) ; F.pad(x,(1,1)) ; F.pad(image,(1,1,1,1),'reflect')
F.pad(image,(1,1,1,1),'replicate') ; F.interpolate(image,scale_factor=2,mode='area')
F.affine_grid(leaf(2,2,3),(2,3,4,4)) ; F.mse_loss(x,y) ; F.l1_loss(x,y) ; F.smooth_l1_loss(x,y) ; F.huber_loss(x,y)
F.cross_entropy(x,t) ; F.cross_entropy(x,t,label_smoothing=0.1) ; F.nll_loss(x,t)
F.nll_loss(image,torch.zeros(2,8,8,dtype=torch.long)) ; F.kl_div(x,y) ; F.kl_div(x,y,log_target=True)
F.kl_div(x,y,reduction='batchmean') ; F.gaussian_nll_loss(x,y,y) ; F.hinge_embedding_loss(x,y)
F.margin_ranking_loss(x,y,y) ; F.triplet_margin_loss(x,y,x+1) ; F.triplet_margin_with_distance_loss(x,y,x+1)
F.cosine_embedding_loss(x,y,torch.ones(3))
F.multilabel_soft_margin_loss(x,y)
F.ctc_loss(leaf(5,1,4).log_softmax(2),torch.tensor([[1,2]]),torch.tensor([5]),torch.tensor([2]))
F.mse_loss(x,y,reduction='none') ; F.mse_loss(x,y,reduction='sum')
F.scaled_dot_product_attention(line[None],line[None],line[None])
F.scaled_dot_product_attention(line[None],line[None],line[None],attn_mask=torch.ones(3,3,dtype=torch.bool)) ; x.T
x.mT ; x.t() ; x.view(4,3) ; x.reshape(4,3) ; x.flatten() ; x.unflatten(1,(2,2)) ; x.ravel() ; x.squeeze()
x.unsqueeze(0) ; x.expand(2,3,4) ; x.expand_as(line) ; x.permute(1,0) ; x.transpose(0,1) ; x.swapaxes(0,1)
x.movedim(0,1) ; x.narrow(0,0,2) ; x.select(0,1) ; x[0] ; x[0:2] ; x[:,1] ; x[None] ; x[...,0] ; x[t] ; x[x>0.5]
x[[0,1]] ; x[t,t] ; x[::2] ; x.unbind()[0] ; x.split(1)[0] ; x.split([1,2])[1] ; x.chunk(2)[0]
x.tensor_split(2)[0] ; x.hsplit(2)[0] ; x.diagonal() ; x.diag() ; v.diag() ; v.diag_embed() ; x.tril() ; x.triu()
x.flip(0) ; x.fliplr() ; x.flipud() ; x.roll(1) ; x.roll(1,0) ; x.rot90() ; x.repeat(2,1) ; x.repeat_interleave(2)
x.repeat_interleave(2,0) ; x.tile(2) ; x.clone() ; x.T.contiguous() ; x.double() ; x.to(torch.float64)
x.type(torch.float64) ; x.half() ; x.unfold(1,2,1) ; x.as_strided((2,2),(1,1)) ; x.view_as(y) ; x.reshape_as(y)
x.broadcast_to((2,3,4)) ; x.sum() ; x.sum(0) ; x.sum((0,1)) ; x.mean() ; x.mean(0) ; x.prod() ; x.prod(0) ; x.std()
x.std(0) ; x.var() ; x.var(0) ; torch.std_mean(x)[0] ; torch.std_mean(x)[1] ; torch.var_mean(x,0)[1] ; x.norm()
x.norm(1) ; x.norm(2,1) ; x.norm('fro') ; x.norm('nuc') ; torch.linalg.norm(x) ; torch.linalg.norm(x,2)
torch.linalg.norm(x,'nuc') ; torch.linalg.vector_norm(x,3) ; torch.linalg.matrix_norm(x) ; torch.dist(x,y)
x.max() ; x.min() ; x.max(1)[0] ; x.min(1)[0] ; x.amax() ; x.amin(1) ; torch.aminmax(x)[0] ; x.median()
x.median(1)[0] ; x.nanmedian() ; x.mode()[0] ; x.quantile(0.5) ; x.nanquantile(0.5) ; x.topk(2)[0] ; x.sort()[0]
x.msort() ; x.logsumexp(1) ; x.cumsum(0) ; x.cumprod(0) ; x.cummax(0)[0] ; x.cummin(0)[0] ; x.logcumsumexp(0)
x.diff() ; x.nansum() ; x.nanmean() ; torch.trapezoid(x) ; torch.cumulative_trapezoid(x) ; torch.gradient(v)[0]
x.renorm(2,0,1) ; torch.cov(x) ; torch.corrcoef(x) ; torch.trace(w) ; x.abs() ; x.neg() ; x.sign() ; x.sgn()
x.exp() ; x.exp2() ; x.expm1() ; x.log() ; x.log2() ; x.log10() ; x.log1p() ; x.sqrt() ; x.rsqrt() ; x.square()
x.sin() ; x.cos() ; x.tan() ; x.asin() ; x.acos() ; x.atan() ; x.sinh() ; x.cosh() ; x.tanh() ; x.asinh()
(x+1).acosh() ; x.atanh() ; x.sigmoid() ; x.logit() ; x.erf() ; x.erfc() ; x.lgamma() ; x.digamma()
x.polygamma(1) ; x.mvlgamma(1) ; x.floor() ; x.ceil() ; x.round() ; x.round(decimals=1) ; x.trunc() ; x.frac()
x.fix() ; x.i0() ; x.sinc() ; x.deg2rad() ; x.rad2deg() ; x.nan_to_num() ; x.clamp(0,1) ; x.clamp(min=0)
x.clamp(max=1) ; x.clamp(y,None) ; x.clip(0,1) ; x.clamp_min(0) ; x.clamp_max(1) ; x.pow(2) ; x.pow(0) ; x.pow(0.5)
x.float_power(2) ; x.xlogy(y) ; torch.special.xlog1py(x,y) ; torch.special.entr(x) ; torch.special.zeta(x+2,y)
torch.special.ndtr(x) ; torch.special.ndtri(x) ; torch.special.log_ndtr(x) ; torch.special.i0e(x)
torch.special.i1(x) ; torch.special.i1e(x) ; torch.special.erfcx(x) ; torch.special.expit(x)
torch.special.softmax(x,1) ; torch.special.multigammaln(x+3,2) ; torch.special.logit(x)
torch.special.log_softmax(x,1) ; torch.special.sinc(x) ; x+y ; x-y ; x*y ; x/y ; x.floor_divide(y)
x.div(y,rounding_mode='floor') ; x.div(y,rounding_mode='trunc') ; x.remainder(y) ; x.fmod(y) ; x.maximum(y)
x.minimum(y) ; x.fmax(y) ; x.fmin(y) ; torch.max(x,y) ; x.atan2(y) ; x.hypot(y) ; x.logaddexp(y) ; x.logaddexp2(y)
x.copysign(y) ; x.nextafter(y) ; torch.where(x>0.5,x,y) ; x.masked_fill(x>0.5,0)
x.masked_fill(x>0.5,torch.tensor(1.)) ; x.masked_select(x>0.5) ; x.masked_scatter(x>0.5,y) ; x.index_select(0,t)
x.index_add(0,t,y) ; x.index_copy(0,t,y) ; x.index_fill(0,t,0.) ; x.index_fill(0,t,torch.tensor(0.))
x.index_put((t,),y) ; x.index_put((t,),y,accumulate=True) ; x.gather(1,t[None]) ; x.scatter(1,t[None],y)
x.scatter(1,t[None],0.) ; x.scatter_add(1,t[None],y) ; x.scatter_reduce(1,t[None],y,'sum')
x.scatter_reduce(1,t[None],y,'amax') ; x.index_reduce(0,t,y,'mean') ; x.take(t) ; x.take_along_dim(t[None],1)
x.put(t,p) ; torch.cross(leaf(2,3),leaf(2,3)) ; torch.linalg.cross(leaf(2,3),leaf(2,3)) ; x.__rpow__(2)
x.__rsub__(1) ; x.slice_scatter(y[:1],0,0,1) ; x.select_scatter(v,0,0) ; w.diagonal_scatter(v) ; torch.cat([x,y])
torch.stack([x,y]) ; torch.hstack([x,y]) ; torch.vstack([x,y]) ; torch.dstack([x,y]) ; torch.row_stack([x,y])
torch.cartesian_prod(v,v) ; torch.combinations(v) ; torch.meshgrid(v,v,indexing='ij')[0]
torch.broadcast_tensors(x,v)[1] ; torch.atleast_2d(v) ; torch.vander(v) ; torch.complex(x,y) ; torch.polar(x,y)
torch.view_as_complex(leaf(3,2)) ; torch.linalg.matrix_power(w,3) ; torch.linalg.matrix_power(w,-1)
torch.matrix_exp(w) ; torch.linalg.vander(v) ; torch.linalg.vecdot(x,y) ; torch.normal(x,y) ; torch.normal(x,1.)
(x*1).add_(y) ; (x*1).mul_(y) ; (x*1).sub_(1) ; (x*1).div_(2) ; (x*1).pow_(2) ; (x*1).zero_() ; (x*1).fill_(1.)
(x*1).copy_(y) ; (x*1).clamp_(0,1) ; (x*1).exp_() ; (x*1).sigmoid_() ; (x*1).t_() ; (x*1).squeeze_()
(x*1).unsqueeze_(0) ; (x*1).transpose_(0,1) ; (x*1).masked_fill_(x>0.5,0) ; (x*1).index_add_(0,t,y)
(x*1).scatter_(1,t[None],0.) ; (x*1).addmm_(x,w) ; (x*1).lerp_(y,.5) ; (x*1).abs_() ; (x*1).neg_()
(x*1).view(12).add_(1) ; (x*1).tril_() ; (x*1).cumsum_(0) ; (x*1).put_(t,p) ; (x*1).index_put_((t,),y)
"""


# Those of which the name alone is.
NAMED = """
F.linear(line, w, v) ; F.linear(line, w) ; F.linear(v, w, v) ; F.instance_norm(image) ; F.conv_tbc(line, leaf(2, 4, 3), leaf(3))
F.rrelu(x) ; F.rrelu(x, training=True) ; F.embedding_bag(t, w, torch.tensor([0])) ; F.interpolate(image, scale_factor=2)
F.interpolate(image, scale_factor=2, mode="bilinear") ; F.interpolate(image, scale_factor=2, mode="bicubic")
F.interpolate(line, scale_factor=2, mode="linear") ; F.interpolate(volume, scale_factor=2, mode="trilinear")
F.interpolate(image, size=3, mode="bilinear", antialias=True) ; F.grid_sample(image, leaf(2, 4, 4, 2))
F.affine_grid(leaf(2, 2, 3), (2, 3, 4, 4)) ; F.fractional_max_pool2d(image, 2, output_size=3) ; F.pairwise_distance(x, y)
F.max_unpool2d(*F.max_pool2d(image, 2, return_indices=True), 2) ; F.pad(image, (1, 1, 1, 1), "reflect") ; torch.pdist(x)
F.pad(image, (1, 1, 1, 1), "replicate") ; F.cross_entropy(x, y) ; torch.normal(x, y) ; torch.normal(x, 1.0)
torch.bernoulli(torch.rand(3, requires_grad=True)) ; torch.linalg.multi_dot([w, w, w])
"""


def shown(result):
    node = result.grad_fn
    return f"{node.name()} {len(node.next_functions)}"


items = []
for text in CALLS.replace("\n", " ; ").strip(" ;").split(" ; "):
    items.append((text, shown(eval(text))))

for text in NAMED.replace("\n", " ; ").strip(" ;").split(" ; "):
    items.append((text, eval(text).grad_fn.name()))


# ---- edges in the place of tensors -----------------------------------------------------------------------------------
def outcome(function):
    try:
        return function()
    except Exception as error:
        return f"{type(error).__name__} {error}"


a = torch.tensor([1.0, 2.0], requires_grad=True)
b = a * 3
c = (b**2).sum()
parts = (x * 2).unbind(0)
edge, at_leaf = graph.get_gradient_edge(b), graph.get_gradient_edge(a)
grad, one = torch.autograd.grad, torch.ones(2)
for text in """
edge.output_nr, edge.node.name(), edge._fields
grad(c, edge, retain_graph=True)
grad(c, [edge, a], retain_graph=True)
grad(c, [at_leaf], retain_graph=True)
grad(edge, a, grad_outputs=one, retain_graph=True)
grad(edge, a, retain_graph=True)
grad([edge, c], a, grad_outputs=[one, None], retain_graph=True)
grad(graph.get_gradient_edge(c), a, retain_graph=True)
grad(sum((part * i).sum() for i, part in enumerate(parts)), [graph.get_gradient_edge(parts[1]), parts[2]], retain_graph=True)
graph.get_gradient_edge(parts[2]).output_nr
torch.autograd.backward(edge, one, retain_graph=True), a.grad.clone()
torch.autograd.backward([edge], [one], retain_graph=True, inputs=[at_leaf]), a.grad.clone()
c.backward(inputs=[at_leaf], retain_graph=True), a.grad.clone()
c.backward(inputs=[edge], retain_graph=True), a.grad.clone()
c.backward(inputs=edge, retain_graph=True), a.grad.clone()
graph.get_gradient_edge(one)
grad(c, graph.GradientEdge(b.grad_fn, 0), retain_graph=True)
grad(edge, a, grad_outputs=torch.ones(3), retain_graph=True)
grad(c, graph.get_gradient_edge(torch.ones(1, requires_grad=True)), retain_graph=True)
grad(c, graph.get_gradient_edge(torch.ones(1, requires_grad=True)), retain_graph=True, allow_unused=True)
grad(c, [])
grad(b, a, "a")
grad(c, [a], retain_graph=True, materialize_grads=True, allow_unused=False)
torch.autograd.backward(c, one.sum(), grad_variables=one.sum())
c.grad_fn._saved_result
b.exp().grad_fn._saved_result, (b * b).grad_fn._saved_self, (b * b).grad_fn._saved_other
""".strip().split("\n"):
    value = outcome(lambda: eval(text))
    items.append((text, value if not isinstance(value, str) else value.replace("'SumBackward0' object", "object")))

# ---- hooks on many tensors -------------------------------------------------------------------------------------------
seen = []


def lists(gradients):
    seen.append([None if g is None else g.tolist() for g in gradients])


def told(name):
    items.append((name, str(seen)))
    seen.clear()


a, b, c = (torch.ones(2, requires_grad=True) for _ in range(3))
handle = graph.register_multi_grad_hook((a, b, c), lists)
for text in ("(a * 2).sum()", "(a * b).sum()", "(a * b * c).sum()"):
    for _ in range(3):
        eval(text).backward()
    told("all: " + text)
handle.remove()
(a * b).sum().backward()
told("removed")
handle = graph.register_multi_grad_hook((a, b, c), lambda g: seen.append(g.tolist()), mode="any")
for text in ("(a * 2).sum()", "(a * b).sum()"):
    for _ in range(3):
        eval(text).backward()
    told("any: " + text)
handle.remove()
inner, other = a * 2, b * 3
with graph.register_multi_grad_hook((inner, other), lists):
    total = (inner * other).sum()
    total.backward(retain_graph=True)
    told("not leaves")
    for wanted in ([inner], [a], [a, b]):
        torch.autograd.grad(total, wanted, retain_graph=True)
        told(f"grad of {len(wanted)}")
    inner.sum().backward(retain_graph=True)
    told("one of two")
items.append(("mode", outcome(lambda: graph.register_multi_grad_hook((a,), lists, mode="some"))))
items.append(("no gradient", outcome(lambda: graph.register_multi_grad_hook((a, torch.ones(2)), lists))))

# ---- hooks of nodes --------------------------------------------------------------------------------------------------
for text in ("x * 2", "2 * x", "x - 1", "x / 2", "x[t]", "x.gather(1, targets)", "x.masked_fill(x > 0.5, 0.0)", "x + y", "x.exp()"):
    result = eval(text)
    result.grad_fn.register_hook(lambda inputs, outputs: seen.append([g is not None for g in inputs]))
    result.sum().backward()
    told("hook of " + text)
result = x * 1
result.grad_fn.register_hook(lambda inputs, outputs: (inputs[0] * 5, None))
x.grad = None
result.sum().backward()
items.append(("replaced", x.grad[0]))
result = x * 1
result.grad_fn.register_hook(lambda inputs, outputs: (torch.ones(2),))
items.append(("too few", outcome(lambda: result.sum().backward())))


class Wrong(torch.autograd.Function):
    @staticmethod
    def forward(ctx, value):
        return value * 1

    @staticmethod
    def backward(ctx, gradient):
        return "a"


items.append(("no tensor", outcome(lambda: Wrong.apply(x).sum().backward())))
check(items, __file__)
