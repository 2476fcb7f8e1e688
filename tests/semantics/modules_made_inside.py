# run: TERRA_EXACT=1
# run: TERRA_EXACT=1 TERRA_CHAOS=guard=*@3
# run: TERRA_EXACT=1 TERRA_SELF_CHECK=all
"""Modules that a function makes and calls, `nn.Softmax(dim=1)(x)`, are made in each run; what shows of them is as without
capture: where they go, what their classes turn into, what their dicts say."""
import abc
import collections
import weakref

import terra
from _harness import main, program
from terra import nn

X = terra.arange(12.0).view(3, 4) / 7 - 0.6
TARGET = terra.tensor([1, 3, 0])


def xs(i):
    return (X * (i + 1) - i / 3,)


def simple(make, captures=4):
    """A program of one function of x, without state."""
    def program_of():
        return make, xs, None
    program_of.__name__ = make.__name__
    program(calls=8, captures=captures)(program_of)
    return make


def refused(make):
    """Nothing of it needs to be served: it is done as without capture."""
    return simple(make, 0)


class Scaled(nn.Module):
    def __init__(self, k, *children, bias=None):
        super().__init__()
        self.k = k
        self.act = nn.Tanh()
        self.all = nn.ModuleList(children)
        self.register_buffer("bias", bias)
        self.register_buffer("shift", terra.ones(4) * k, persistent=False)

    def forward(self, x):
        for child in self.all:
            x = child(x)
        x = self.act(x) * self.k + self.shift
        return x if self.bias is None else x + self.bias


@simple
def layers_without_state(x):
    return nn.Softmax(dim=1)(x) + nn.ReLU()(x) * nn.LeakyReLU(0.3)(x) - nn.GELU()(x)


@simple
def losses(x):
    return nn.CrossEntropyLoss()(x, TARGET) + nn.MSELoss(reduction="sum")(x, X), nn.BCEWithLogitsLoss()(x, (X > 0).float())


@simple
def loss_with_weights(x):
    return nn.CrossEntropyLoss(weight=x[0].abs() + 1, label_smoothing=0.1)(x, TARGET)


@simple
def containers(x):
    net = nn.Sequential(nn.ReLU(), nn.Softplus(beta=2), nn.Sequential(nn.Tanh()))
    named = nn.Sequential(collections.OrderedDict(a=nn.Sigmoid(), b=nn.ELU()))
    table = nn.ModuleDict({"clamped": nn.Hardtanh(-0.5, 0.5)})
    return named(net(x)) + table["clamped"](x), len(net), [name for name, child in net.named_children()]


@simple
def own_class(x):
    return Scaled(3, nn.ReLU(), nn.Softplus())(x) + Scaled(2, bias=x[0])(x)


@program(calls=8, captures=4)
def dropout_draws():
    def args(i):
        terra.manual_seed(i)
        return xs(i)

    def f(x):
        return nn.Dropout(0.4)(x), nn.Dropout(0.4).eval()(x)

    return f, args, None


@simple
def what_a_module_is_asked(x):
    m = Scaled(2, nn.ReLU())
    m.train(False)
    kinds = isinstance(m, nn.Module), hasattr(m, "shift"), hasattr(m, "missing"), getattr(m, "missing", 5), m.training
    names = [n for n, _ in m.named_modules()], [n for n, _ in m.named_buffers()], len(list(m.parameters()))
    return m(x), kinds, names, sorted(m.state_dict()), list(vars(m)), m.act.training


@simple
def number_from_the_call(x):
    y = x
    for k in range(3):
        y = nn.LeakyReLU(0.1 * k)(y) + nn.Threshold(0.1, k)(x)
    return y


@simple
def forward_of_its_own(x):
    m = nn.ReLU()
    m.forward = lambda x: x * 5
    return m(x)


class Early(nn.Module):
    def __init__(self, *more):
        super().__init__()
        self.j = 5
        super().__init__()
        self.k = 4

    def forward(self, x):
        return x * self.k + self.j


@simple
def initialised_twice(x):
    m = Early()
    return m(x), list(m.__dict__)


class Plus(nn.Module):
    def forward(self, x):
        return x + 1


class More(Plus):
    pass


@simple
def no_init(x):
    return Plus()(x) * More()(x)


@simple
def attributes_that_change(x):
    m = Scaled(2)
    m.k = 5
    m.k += 1
    m.bias = x[1]
    m.all.append(nn.Tanh())
    m.note = "a"
    del m.note
    return m(x), m.k, list(m.__dict__), list(m._modules), list(m._buffers)


@refused
def child_that_goes(x):
    m = Scaled(2)
    del m.act
    m.act = nn.ReLU()
    return m(x), list(m._modules)


@refused
def attribute_that_becomes_a_child(x):
    m = Scaled(2)
    m.late = 3
    m.late = nn.Tanh()
    m.shift = nn.ReLU()
    return m.late(x), list(m.__dict__), list(m._modules), list(m._buffers)


@refused
def parameters_made_inside(x):
    terra.manual_seed(1)
    m = nn.Linear(4, 2)
    return m(x), [n for n, _ in m.named_parameters()], m.weight.requires_grad


@simple
def dicts_replaced(x):
    m = Scaled(2, nn.ReLU())
    m._modules = collections.OrderedDict(reversed(list(m._modules.items())))
    return m(x), list(m._modules)


@refused
def hooks_inside(x):
    m = nn.ReLU()
    handle = m.register_forward_hook(lambda m, args, out: out * 3)
    y = m(x)
    handle.remove()
    return y, m(x)


@refused
def wrong_use(x):
    texts = []
    for call in (lambda: nn.ReLU(1, 2, 3), lambda: nn.Module(4), lambda: nn.Softmax(dim=7)(x), lambda: Scaled(1).missing):
        try:
            call()
        except Exception as error:
            texts.append((type(error).__name__, str(error)))
    return x * 2, texts


class Hasty(nn.Module):
    def __init__(self):
        self.k = 3
        self.act = nn.ReLU()


@refused
def child_without_init(x):
    try:
        Hasty()
    except AttributeError as error:
        return x * 3, str(error)


@simple
def printed(x):
    return x + 1, repr(nn.Sequential(nn.LeakyReLU(0.25), nn.Dropout(0.1)))


class Base(nn.Module, abc.ABC):
    @abc.abstractmethod
    def body(self, x):
        ...

    def forward(self, x):
        return self.body(x) + 1


class Real(Base):
    def body(self, x):
        return x * 3


@simple
def abstract_base(x):
    return Real()(x)


@program(calls=8, captures=4)
def mixins_and_properties():
    class Mixin:
        gain = 3

        @property
        def doubled(self):
            return self.k * 2

    class M(Mixin, nn.Module):
        def __init__(self, k):
            super().__init__()
            self.k = k

        def forward(self, x):
            return x * self.gain + self.doubled

    def f(x):
        m = M(4)
        m.gain = 7
        return m(x), M(2)(x)

    return f, xs, None


@program(calls=8, captures=4)
def returned():
    def f(x):
        m = Scaled(2, nn.ReLU(), bias=x[0] * 2)
        m.seen = x
        return m, m(x)

    return f, xs, None


@program(calls=8, captures=4)
def kept_outside():
    kept, holder = [], nn.Module()

    def f(x):
        m = nn.Sequential(nn.LeakyReLU(0.5), Scaled(3))
        kept.append(m)
        holder.__dict__  # looked at, not changed
        return m(x)

    return f, xs, kept


@program(calls=8, captures=3)
def called_by_the_next_call():
    kept = {}

    def f(x):
        y = kept["last"](x) if "last" in kept else x
        kept["last"] = Scaled(2, nn.Tanh())
        return y

    return f, xs, kept


@program(calls=8, captures=0)
def child_of_an_outer_module():
    net = nn.Module()

    def f(x):
        net.act = nn.ReLU()
        return net.act(x)

    return f, xs, net


@program(calls=8, captures=3, cut=True)
def alive_at_a_cut():
    def f(x):
        m = Early()
        m.act = nn.ReLU()
        m.register_buffer("scale", x[0] * 2)
        y = m(x) * m.scale
        open("/dev/null").close()
        return m(m.act(y)), m.k, list(vars(m)), list(m.state_dict())

    return f, xs, None


@program(calls=8, captures=0)
def seen_by_a_weak_reference():
    def f(x):
        m = Scaled(2)
        ref = weakref.ref(m)
        y = ref()(x)
        return y, ref() is m

    return f, xs, None


def changing(change, calls=14, captures=5):
    """A class, or all modules, change before call 8; `undo` before call 11."""
    def register(make_class):
        def program_of():
            cls = make_class()
            undo = []

            def args(i):
                if i == 8:
                    undo.append(change(cls))
                if i == 11 and undo[0]:
                    undo[0]()
                return xs(i)

            def f(x):
                m = cls(2)
                return m(x) + 1, type(m) is cls, m.training

            f.__code__ = f.__code__.replace()
            return f, args, None
        program_of.__name__ = make_class.__name__
        program(calls=calls, captures=captures)(program_of)
    return register


def plain_class():
    class M(nn.Module):
        def __init__(self, k, j=1):
            super().__init__()
            self.k = k + j

        def forward(self, x):
            return x * self.k
    return M


def set_on(name, value):
    def change(cls):
        old = cls.__dict__.get(name)
        setattr(cls, name, value(cls))
        return lambda: setattr(cls, name, old) if old is not None else delattr(cls, name)
    return change


def other_init(cls):
    def __init__(self, k):
        nn.Module.__init__(self)
        self.k = k * 10
    return __init__


def attribute_hook(cls):
    def __getattr__(self, name):
        return nn.Module.__getattr__(self, name)
    return __getattr__


def attribute_setter(cls):
    def __setattr__(self, name, value):
        nn.Module.__setattr__(self, name, value * 3 if name == "k" else value)
    return __setattr__


def new(cls):
    def __new__(cls, *args):
        m = nn.Module.__new__(cls)
        object.__setattr__(m, "made", 1)
        return m
    return staticmethod(__new__)


deaths = []
for name, change in dict(
    init_replaced=set_on("__init__", other_init),
    forward_replaced=set_on("forward", lambda cls: lambda self, x: x - self.k),
    defaults_replaced=lambda cls: setattr(cls.__init__, "__defaults__", (5,)),
    call_added=set_on("__call__", lambda cls: lambda self, x: self.forward(x) * 2),
    getattr_added=set_on("__getattr__", attribute_hook),
    setattr_added=set_on("__setattr__", attribute_setter),
    new_added=set_on("__new__", new),
    del_added=set_on("__del__", lambda cls: lambda self: deaths.append(self.k)),
    class_attribute_hides=set_on("training", lambda cls: property(lambda self: "hidden")),
    hook_for_all=lambda cls: nn.modules.module.register_module_forward_hook(lambda m, args, out: out * 7).remove,
    hook_before_for_all=lambda cls: nn.modules.module.register_module_forward_pre_hook(lambda m, args: (args[0] * 7,)).remove,
).items():
    make = lambda: plain_class()
    make.__name__ = name
    changing(change, captures=5)(make)


@program(calls=14, captures=5)
def metaclass_that_gets_a_call():
    class Meta(type):
        pass

    class M(nn.Module, metaclass=Meta):
        def forward(self, x):
            return x * 2

    class Other(nn.Module):
        def forward(self, x):
            return x * 9

    def args(i):
        if i == 8:
            Meta.__call__ = lambda cls, *args: Other()
        if i == 11:
            del Meta.__call__
        return xs(i)

    return lambda x: M()(x), args, None


@program(calls=12, captures=6)
def dict_of_an_outer_module():
    net = Scaled(2, nn.ReLU())
    net.note = 1

    def args(i):
        if i == 4:
            net.note = 2
        if i == 6:
            del net.note
        if i == 8:
            net.__dict__["note"] = 9
        return xs(i)

    def f(x):
        own = net.__dict__
        return net(x) * own.get("note", 5) + own["k"], "note" in vars(net), own["training"]

    return f, args, None


@program(calls=12, captures=5)
def names_in_the_dict_of_an_outer_module():
    net = Scaled(2)

    def args(i):
        if i == 6:
            net.more = 1
        return xs(i)

    def f(x):
        return net(x) + len(net.__dict__), [k for k in net.__dict__ if k[0] != "_"]

    return f, args, None


@program(calls=10, captures=0)
def writes_to_the_dict_of_an_outer_module():
    net = Scaled(2)

    def f(x):
        net.__dict__["k"] = net.__dict__["k"] + 1
        net.__dict__["shift"] = x[0]  # hides the buffer
        y = net(x)
        del net.__dict__["shift"]
        return y

    return f, xs, net


main()
