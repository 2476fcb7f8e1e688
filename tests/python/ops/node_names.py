"""The nodes of results are called what PyTorch calls them: print(loss) shows it."""
import terra
import terra.nn.functional as F

x, y = terra.rand(3, 4, requires_grad=True), terra.rand(3, 4, requires_grad=True)
w, v = terra.rand(4, 4, requires_grad=True), terra.rand(4, requires_grad=True)
t, img = terra.tensor([0, 1, 2]), terra.rand(2, 3, 8, 8, requires_grad=True)
b3 = terra.rand(2, 3, 4, requires_grad=True)

NAMES = {
    "AddBackward0": """x+y; x+1; x.add(y,alpha=2); (x*1).add_(1)""",
    "RsubBackward1": """1-x; terra.rsub(x,1)""",
    "MulBackward0": """
        x*2;
        terra.outer(v,v);
        x.mul(y);
        F.dropout(x,0.5);
        F.one_hot(t)*x.sum();
        F.rms_norm(x,(4,));
        (x*1).mul_(2)""",
    "SubBackward0": """x-y; F.tanhshrink(x); x.sub(y)""",
    "DivBackward0": """x/y; x/2; F.softsign(x); x.div(y); F.normalize(x); F.local_response_norm(img,2)""",
    "NegBackward0": """-x; x.neg()""",
    "PowBackward0": """x**2; x.square(); x.pow(3)""",
    "PowBackward2": """2**x""",
    "PowBackward1": """x**y""",
    "ExpBackward0": """x.exp()""",
    "LogBackward0": """x.log()""",
    "SqrtBackward0": """x.sqrt()""",
    "RsqrtBackward0": """x.rsqrt()""",
    "AbsBackward0": """x.abs()""",
    "SinBackward0": """x.sin()""",
    "TanhBackward0": """x.tanh()""",
    "SigmoidBackward0": """x.sigmoid()""",
    "ReluBackward0": """x.relu(); F.relu(x); (x*1).relu_()""",
    "GeluBackward0": """F.gelu(x)""",
    "SiluBackward0": """F.silu(x)""",
    "EluBackward0": """F.elu(x); F.selu(x)""",
    "LeakyReluBackward0": """F.leaky_relu(x)""",
    "SoftplusBackward0": """F.softplus(x)""",
    "HardtanhBackward0": """F.hardtanh(x); F.relu6(x)""",
    "LogSigmoidBackward0": """F.logsigmoid(x)""",
    "CeluBackward0": """F.celu(x)""",
    "HardswishBackward0": """F.hardswish(x)""",
    "HardsigmoidBackward0": """F.hardsigmoid(x)""",
    "MishBackward0": """F.mish(x)""",
    "SoftshrinkBackward0": """F.softshrink(x)""",
    "PreluKernelBackward0": """F.prelu(x,terra.tensor([.2],requires_grad=True))""",
    "GluBackward0": """F.glu(x)""",
    "SumBackward0": """x.sum()""",
    "SumBackward1": """x.sum(0); F.cosine_similarity(x,y)""",
    "MeanBackward0": """
        x.mean();
        F.l1_loss(x,y);
        F.kl_div(x,y);
        F.hinge_embedding_loss(x,y);
        F.margin_ranking_loss(x,y,y);
        F.triplet_margin_loss(x,y,x+1);
        F.poisson_nll_loss(x,y);
        F.gaussian_nll_loss(x,y,y);
        F.cosine_embedding_loss(x,y,terra.ones(3));
        F.multilabel_soft_margin_loss(x,y);
        x.cumsum(1).mean()""",
    "MeanBackward1": """x.mean(1)""",
    "StdBackward0": """x.std()""",
    "VarBackward0": """x.var(); x.var(1)""",
    "ProdBackward0": """x.prod()""",
    "ProdBackward1": """x.prod(1)""",
    "MaxBackward1": """x.max()""",
    "MaxBackward0": """x.max(1)[0]""",
    "MinBackward1": """x.min()""",
    "AmaxBackward0": """x.amax(1)""",
    "AminBackward0": """x.amin()""",
    "LinalgVectorNormBackward0": """x.norm(); x.norm(dim=1); x.norm(1)""",
    "LogsumexpBackward0": """x.logsumexp(1)""",
    "CumsumBackward0": """x.cumsum(0)""",
    "CumprodBackward0": """x.cumprod(0)""",
    "SortBackward0": """x.sort()[0]""",
    "TopkBackward0": """x.topk(2)[0]""",
    "KthvalueBackward0": """x.kthvalue(2)[0]""",
    "MmBackward0": """x@w; x.mm(w); F.linear(x,w)""",
    "MvBackward0": """terra.matmul(x,v); terra.mv(w,v)""",
    "UnsafeViewBackward0": """terra.matmul(b3,w); b3@b3.transpose(1,2); F.linear(b3,w); F.linear(b3,w,v)""",
    "BmmBackward0": """terra.bmm(b3,b3.transpose(1,2))""",
    "DotBackward0": """v.dot(v)""",
    "AddmmBackward0": """terra.addmm(v,x,w); F.linear(x,w,v)""",
    "BaddbmmBackward0": """terra.baddbmm(b3.sum(),b3,b3.transpose(1,2))""",
    "SoftmaxBackward0": """F.softmax(x,1); x.softmax(0)""",
    "LogSoftmaxBackward0": """F.log_softmax(x,1); x.log_softmax(0)""",
    "NllLossBackward0": """
        F.cross_entropy(x,t);
        F.cross_entropy(x,t,reduction='none');
        F.nll_loss(F.log_softmax(x,1),t)""",
    "MseLossBackward0": """F.mse_loss(x,y); F.mse_loss(x,y,reduction='sum')""",
    "SmoothL1LossBackward0": """F.smooth_l1_loss(x,y)""",
    "HuberLossBackward0": """F.huber_loss(x,y)""",
    "BinaryCrossEntropyBackward0": """F.binary_cross_entropy(x,y.detach())""",
    "BinaryCrossEntropyWithLogitsBackward0": """F.binary_cross_entropy_with_logits(x,y.detach())""",
    "ViewBackward0": """
        x.view(4,3);
        x.reshape(2,6);
        x.flatten();
        x.unflatten(1,(2,2));
        x.view_as(y);
        x.ravel();
        F.bilinear(x,x,terra.rand(2,4,4,requires_grad=True))""",
    "TBackward0": """x.t()""",
    "PermuteBackward0": """x.T; b3.permute(2,0,1); x.movedim(0,1)""",
    "TransposeBackward0": """x.transpose(0,1); x.swapaxes(0,1)""",
    "UnsqueezeBackward0": """x.unsqueeze(0)""",
    "SqueezeBackward0": """x.unsqueeze(0).squeeze(); x.squeeze()""",
    "SqueezeBackward1": """x.squeeze(0); F.max_pool1d(b3,2); F.avg_pool1d(b3,2)""",
    "ExpandBackward0": """x.expand(2,3,4); x.expand_as(x)""",
    "SelectBackward0": """x[0]; x[:,1]; x[0,1]; x.select(0,1)""",
    "IndexBackward0": """x[t]; x[x>0.5]""",
    "SliceBackward0": """x[1:]; x.narrow(0,0,2)""",
    "SplitBackward0": """x.chunk(2)[0]; x.split(2)[0]""",
    "UnbindBackward0": """x.unbind()[0]""",
    "CatBackward0": """terra.cat([x,y])""",
    "StackBackward0": """terra.stack([x,y])""",
    "RepeatBackward0": """x.repeat(2,1); x.tile(2)""",
    "CloneBackward0": """x.clone(); x.t().contiguous()""",
    "GatherBackward0": """x.gather(1,t.view(3,1))""",
    "IndexSelectBackward0": """x.index_select(0,t)""",
    "MaskedSelectBackward0": """x.masked_select(x>0.5)""",
    "MaskedFillBackward0": """x.masked_fill(x>0.5,0.)""",
    "WhereBackward0": """terra.where(x>0.5,x,y)""",
    "ScatterAddBackward0": """x.scatter_add(1,t.view(3,1),terra.ones(3,1))""",
    "ClampBackward1": """x.clamp(0.2,0.8); x.clamp(min=0.1); x.clip(0,1); (x*1).clamp_(0,1)""",
    "ClampBackward0": """x.clamp(y-1,y+1)""",
    "ClampMinBackward0": """x.clamp_min(0.1)""",
    "ClampMaxBackward1": """x.clamp_max(y)""",
    "MedianBackward0": """x.median()""",
    "MedianBackward1": """x.median(1)[0]""",
    "FmaxBackward0": """x.fmax(y)""",
    "RoundBackward1": """x.round(decimals=1)""",
    "FlipBackward0": """x.flip(0)""",
    "RollBackward0": """x.roll(1,0)""",
    "TrilBackward0": """x.tril()""",
    "TriuBackward0": """x.triu()""",
    "DiagonalBackward0": """terra.diagonal(w)""",
    "SignBackward0": """x.sign()""",
    "FloorBackward0": """x.floor()""",
    "RoundBackward0": """x.round()""",
    "MaximumBackward0": """x.maximum(y)""",
    "MinimumBackward0": """terra.minimum(x,y)""",
    "ToCopyBackward0": """x.double(); x.to(terra.float64); x.type_as(y.double())""",
    "UnfoldBackward0": """x.view(-1).unfold(0,3,1)""",
    "Atan2Backward0": """x.atan2(y)""",
    "LerpBackward0": """x.lerp(y,0.5)""",
    "AddcmulBackward0": """terra.addcmul(x,x,y)""",
    "AddcdivBackward0": """terra.addcdiv(x,x,y)""",
    "ReciprocalBackward0": """x.reciprocal()""",
    "Log1PBackward0": """x.log1p()""",
    "Expm1Backward0": """x.expm1()""",
    "Log2Backward0": """x.log2()""",
    "ErfBackward0": """x.erf()""",
    "CosBackward0": """x.cos()""",
    "TanBackward0": """x.tan()""",
    "AsinBackward0": """x.asin()""",
    "AcosBackward0": """x.acos()""",
    "AtanBackward0": """x.atan()""",
    "SinhBackward0": """x.sinh()""",
    "CoshBackward0": """x.cosh()""",
    "FmodBackward0": """x.fmod(0.3)""",
    "RemainderBackward0": """x%0.3; x.remainder(0.3)""",
    "TruncBackward0": """x.trunc()""",
    "CeilBackward0": """x.ceil()""",
    "LogaddexpBackward0": """x.logaddexp(y)""",
    "ConvolutionBackward0": """
        F.conv2d(img,terra.rand(4,3,3,3,requires_grad=True));
        F.conv1d(b3,terra.rand(2,3,2,requires_grad=True));
        F.conv_transpose2d(img,terra.rand(3,4,3,3))""",
    "MaxPool2DWithIndicesBackward0": """F.max_pool2d(img,2)""",
    "AvgPool2DBackward0": """F.avg_pool2d(img,2)""",
    "AdaptiveAvgPool2DBackward0": """F.adaptive_avg_pool2d(img,2)""",
    "NativeBatchNormBackward0": """
        F.batch_norm(img,terra.zeros(3),terra.ones(3),training=True);
        F.batch_norm(img,terra.zeros(3),terra.ones(3))""",
    "NativeLayerNormBackward0": """F.layer_norm(x,(4,))""",
    "NativeGroupNormBackward0": """F.group_norm(img,3)""",
    "EmbeddingBackward0": """F.embedding(t,w)""",
    "ConstantPadNdBackward0": """F.pad(x,(1,1))""",
}

wrong = []
for name, expressions in NAMES.items():
    for expression in expressions.split(";"):
        found = eval(expression.strip()).grad_fn.name()
        if found != name:
            wrong.append(f"{expression.strip()}: {found}, not {name}")
assert not wrong, "\n".join(wrong)


def loss_of(x):
    return F.mse_loss(F.linear(x, w, v), y)


for _ in range(8):
    loss = loss_of(x)
assert "MseLossBackward0" in repr(loss), repr(loss)  # captured
print("names: ok")
