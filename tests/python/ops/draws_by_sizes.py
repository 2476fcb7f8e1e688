# run: --capture=off
"""What the records of ops that draw say about their operands: an op that draws by sizes draws the same whatever its
operands hold, another one does not."""

import sys

import _terra_C as C
import terra
from _samples import numbers_of, samples, tensors_in

failures, told = [], {}


def drawn(call, change):
    """The results, with operands that hold something else if `change`."""
    args, kwargs = call.arguments()
    if change:
        for t in tensors_in(args):
            t.copy_((t.flip(-1) if t.dim() else t) * 0.5)
    terra.manual_seed(7)
    return [numbers_of(t) for t in tensors_in(call.run(args, kwargs))]


for call in samples():
    record = call.record
    if not record["random"] or record["composite"]:
        continue
    same = drawn(call, False) == drawn(call, True)
    told.setdefault(record["name"], []).append(same)
    if record["draws_by_sizes"] and not same:
        failures.append(f"{call}: draws by sizes, and depends on what its operands hold")

by_name = {record["name"]: record for record in C.op_records()}
for name, same in told.items():
    if all(same) and not by_name[name]["draws_by_sizes"]:
        failures.append(f"{name}: draws the same whatever its operands hold, and doesn't say so")

print("\n".join(failures))
print(f"{len(told)} ops, {len(failures)} failures")
sys.exit(bool(failures) or len(told) < 15)
