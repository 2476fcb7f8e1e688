# run: TERRA_CAPTURE=stress
"""Code whose file has a name that is no valid text is recorded and reported like any other."""
import json

import _terra_C as C
import terra

name = "half\udcff.py"
space = {}
exec(compile("def f(x):\n  return x * 2\n", name, "exec"), space)
for _ in range(6):
    assert space["f"](terra.ones(2)).tolist() == [2.0, 2.0]
assert C.capture_frame(space["f"])["hits"] >= 3
frames = [frame for frame in json.loads(C.capture_report())["frames"] if frame["name"] == "f"]
assert [frame["file"] for frame in frames] == ["half\\udcff.py"], frames
