from _terra_C import no_grad
from torch.autograd import Function
