# run: TERRA_EXACT=1
# run: TERRA_EXACT=1 TERRA_CHAOS=guard=*@3
# run: TERRA_EXACT=1 TERRA_SELF_CHECK=all
"""Captured training steps with every optimizer, with settings that change between calls."""
import terra
from _gradients import Net, Seen, t
from _harness import main, program
from terra import nn
from terra.optim import lr_scheduler


class Trained(Seen):
    """Shows an optimizer's state as well."""
    def __init__(self, optimizer, *models):
        super().__init__(*models)
        self.optimizer = optimizer

    @property
    def __dict__(self):
        packed = self.optimizer.state_dict()
        return {"models": super().__dict__, "state": packed["state"], "groups": packed["param_groups"]}


def batch(i):
    return t(i, 8).view(2, 4), t(i + 7, 6).view(2, 3)


def step_of(net, optimizer):
    def f(x, y):
        optimizer.zero_grad()
        loss = (net(x) - y).pow(2).mean()
        loss.backward()
        optimizer.step()
        return loss.item()
    return f


def trains(name, make, captures=8, calls=12, before=None):
    """A program that trains with what make(parameters) gives; before(i, optimizer) may change settings between calls."""
    def program_of():
        net = Net()
        optimizer = make(net.parameters())
        def args(i):
            if before:
                before(i, optimizer)
            return batch(i)
        return step_of(net, optimizer), args, Trained(optimizer, net)
    program_of.__name__ = name
    program(calls=calls, captures=captures)(program_of)


optim = terra.optim
trains("sgd", lambda p: optim.SGD(p, lr=0.1))
trains("sgd_momentum", lambda p: optim.SGD(p, lr=0.1, momentum=0.9, weight_decay=0.01))
trains("sgd_nesterov", lambda p: optim.SGD(p, lr=0.1, momentum=0.9, nesterov=True))
trains("sgd_dampening", lambda p: optim.SGD(p, lr=0.1, momentum=0.9, dampening=0.1, maximize=True))
trains("adam", lambda p: optim.Adam(p, lr=0.01))
trains("adam_decay", lambda p: optim.Adam(p, lr=0.01, betas=(0.8, 0.9), weight_decay=0.1))
trains("adam_amsgrad", lambda p: optim.Adam(p, lr=0.01, amsgrad=True))
trains("adamw", lambda p: optim.AdamW(p, lr=0.01))
trains("rmsprop", lambda p: optim.RMSprop(p, lr=0.01))
trains("rmsprop_centered", lambda p: optim.RMSprop(p, lr=0.01, momentum=0.5, centered=True, weight_decay=0.1))
trains("adagrad", lambda p: optim.Adagrad(p, lr=0.05))
trains("adagrad_decay", lambda p: optim.Adagrad(p, lr=0.05, lr_decay=0.1))
trains("adadelta", lambda p: optim.Adadelta(p, lr=0.5, weight_decay=0.01))


trains("adamax", lambda p: optim.Adamax(p, lr=0.05, weight_decay=0.1), captures=6)
trains("nadam", lambda p: optim.NAdam(p, lr=0.05), captures=6)
trains("radam", lambda p: optim.RAdam(p, lr=0.05), captures=4)
trains("rprop", lambda p: optim.Rprop(p), captures=6)
trains("asgd", lambda p: optim.ASGD(p, lr=0.05, t0=4), captures=4)


def change_lr(i, optimizer):
    optimizer.param_groups[0]["lr"] = 0.1 / (i + 1)


trains("sgd_lr_changes", lambda p: optim.SGD(p, lr=0.1, momentum=0.5), captures=7, before=change_lr)
trains("adam_lr_changes", lambda p: optim.Adam(p, lr=0.1), captures=6, before=change_lr)
trains("rmsprop_lr_changes", lambda p: optim.RMSprop(p, lr=0.1), captures=6, before=change_lr)


def change_all(i, optimizer):
    group = optimizer.param_groups[0]
    group["lr"], group["weight_decay"] = 0.1 / (i + 1), 0.01 * (i + 1)
    group["betas"] = (0.9 - 0.01 * i, 0.99)


trains("adam_everything_changes", lambda p: optim.Adam(p, lr=0.1), captures=3, calls=14, before=change_all)


@program(calls=12, captures=7)
def groups_with_their_own_rates():
    net = Net()
    opt = optim.SGD([{"params": net.a.parameters()}, {"params": net.b.parameters(), "lr": 0.01}], lr=0.1, momentum=0.9)
    def args(i):
        opt.param_groups[1]["lr"] *= 0.9
        return batch(i)
    return step_of(net, opt), args, Trained(opt, net)


def scheduled(name, make, captures=6, calls=14):
    """A frame that steps optimizer and scheduler."""
    def program_of():
        net = Net()
        optimizer = optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
        scheduler = make(optimizer)
        train = step_of(net, optimizer)
        def args(i):
            if i:
                scheduler.step()
            return batch(i)
        return train, args, Trained(optimizer, net)
    program_of.__name__ = name
    program(calls=calls, captures=captures)(program_of)


scheduled("step_lr", lambda o: lr_scheduler.StepLR(o, 3, 0.5))
scheduled("multi_step_lr", lambda o: lr_scheduler.MultiStepLR(o, [2, 5, 9], 0.5))
scheduled("exponential_lr", lambda o: lr_scheduler.ExponentialLR(o, 0.9))
scheduled("cosine_lr", lambda o: lr_scheduler.CosineAnnealingLR(o, 10))
scheduled("lambda_lr", lambda o: lr_scheduler.LambdaLR(o, lambda epoch: 1 / (epoch + 1)))
scheduled("one_cycle_lr", lambda o: lr_scheduler.OneCycleLR(o, 0.5, total_steps=20), captures=3)
scheduled("linear_lr", lambda o: lr_scheduler.LinearLR(o, total_iters=6))


@program(calls=12, captures=6)
def gradients_zeroed_in_place():
    net = Net()
    opt = optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
    def f(x, y):
        opt.zero_grad(set_to_none=False)
        (net(x) - y).pow(2).mean().backward()
        opt.step()
    return f, batch, Trained(opt, net)


@program(calls=12, captures=6)
def step_alone():
    net = Net()
    opt = optim.Adam(net.parameters(), lr=0.05)
    def f():
        opt.step()
    def args(i):
        x, y = batch(i)
        opt.zero_grad()
        (net(x) - y).pow(2).mean().backward()
        return ()
    return f, args, Trained(opt, net)


@program(calls=12, captures=6)
def parameter_without_gradient_sometimes():
    net = Net()
    opt = optim.Adam(net.parameters(), lr=0.05)
    def f(x, y, both):
        opt.zero_grad()
        h = net.a(x) if both else net.a(x).detach()
        (net.b(h) - y).pow(2).mean().backward()
        opt.step()
    return f, lambda i: (*batch(i), i % 3 != 2), Trained(opt, net)


@program(calls=12, captures=4)
def state_loaded_in_between():
    net = Net()
    opt = optim.Adam(net.parameters(), lr=0.05)
    saved = []
    def args(i):
        if i == 3:
            saved.append(opt.state_dict())
        if i == 7:
            opt.load_state_dict(saved[0])
        return batch(i)
    return step_of(net, opt), args, Trained(opt, net)


@program(calls=12, captures=4)
def group_added_in_between():
    net, more = Net(), Net(2)
    opt = optim.SGD(net.parameters(), lr=0.1, momentum=0.5)
    def f(x, y):
        opt.zero_grad()
        (net(x) + more(x) - y).pow(2).mean().backward()
        opt.step()
    def args(i):
        if i == 6:
            opt.add_param_group({"params": list(more.parameters()), "lr": 0.01})
        return batch(i)
    return f, args, Trained(opt, net, more)


@program(calls=12, captures=6)
def step_with_closure():
    net = Net()
    opt = optim.SGD(net.parameters(), lr=0.1)
    def f(x, y):
        def closure():
            opt.zero_grad()
            loss = (net(x) - y).pow(2).mean()
            loss.backward()
            return loss
        return opt.step(closure).item()
    return f, batch, Trained(opt, net)


@program(calls=12, captures=6)
def two_optimizers():
    g, d = Net(1), nn.Linear(3, 1)
    og, od = optim.Adam(g.parameters(), lr=0.01), optim.SGD(d.parameters(), lr=0.1)
    def f(x, y):
        od.zero_grad()
        real, fake = d(y).mean(), d(g(x).detach()).mean()
        (fake - real).backward()
        od.step()
        og.zero_grad()
        d(g(x)).mean().neg().backward()
        og.step()
        return real.item(), fake.item()
    return f, batch, Trained(og, g, d)


@program(calls=12, captures=0)
def state_that_is_shared():
    p, q = nn.Parameter(terra.ones(3)), nn.Parameter(terra.ones(3) * 2)
    o = optim.SGD([p, q], lr=0.1, momentum=0.9)
    def f(x):
        o.zero_grad()
        ((p * x).sum() + (q * x * 2).sum()).backward()
        o.step()
        return p.detach().clone(), q.detach().clone()
    def args(i):
        if i == 3:
            o.state[q]["momentum_buffer"] = o.state[p]["momentum_buffer"]
        if i == 9:
            o.state[q]["momentum_buffer"] = terra.ones(3)
        return terra.arange(3.0) + i,
    return f, args, (p, q)


if __name__ == "__main__":
    main()
