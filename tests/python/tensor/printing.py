"""Printed forms. The lines were taken from PyTorch."""
import terra

expected = [
    (terra.tensor([1.0, 2.5, -3.0]), "tensor([ 1.0000,  2.5000, -3.0000])"),
    (terra.tensor([1.0, 2.0]), "tensor([1., 2.])"),
    (terra.tensor([0.1, 100.25]), "tensor([1.0000e-01, 1.0025e+02])"),
    (terra.tensor(3.14159), "tensor(3.1416)"),
    (terra.tensor(7), "tensor(7)"),
    (terra.tensor([True, False]), "tensor([ True, False])"),
    (terra.tensor([]), "tensor([])"),
    (terra.zeros(2, 0, 3), "tensor([], size=(2, 0, 3))"),
    (terra.tensor([1.5], dtype=terra.float64), "tensor([1.5000], dtype=torch.float64)"),
    (terra.tensor([float("nan"), 1.0, float("inf")]), "tensor([nan, 1., inf])"),
    (terra.tensor([1.0, 2.0], requires_grad=True), "tensor([1., 2.], requires_grad=True)"),
    (terra.tensor([1.0], requires_grad=True) * 2, "tensor([2.], grad_fn=<MulBackward0>)"),
    (terra.arange(2000.0), "tensor([0.0000e+00, 1.0000e+00, 2.0000e+00,  ..., 1.9970e+03, 1.9980e+03,\n        1.9990e+03])"),
    (terra.arange(8).reshape(2, 2, 2), "tensor([[[0, 1],\n         [2, 3]],\n\n        [[4, 5],\n         [6, 7]]])"),
]
for tensor, text in expected:
    assert repr(tensor) == text, f"\n{repr(tensor)}\n{text}"
assert repr(terra.nn.Parameter(terra.ones(1))) == "Parameter containing:\ntensor([1.], requires_grad=True)"
assert f"{terra.tensor(2.5):.3f}" == "2.500" and "%d" % terra.tensor(4) == "4"
assert str(terra.Size([2, 3])) == "torch.Size([2, 3])"
assert str(terra.float32) == "torch.float32" and str(terra.device("cpu")) == "cpu"
assert repr(terra.device("cpu")) == "device(type='cpu')"
terra.set_printoptions(precision=2)
assert repr(terra.tensor([1.23456])) == "tensor([1.23])"
terra.set_printoptions(profile="default")
assert repr(terra.tensor([1.23456])) == "tensor([1.2346])"
