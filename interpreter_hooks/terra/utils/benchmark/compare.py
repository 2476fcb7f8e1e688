"""Compare: measurements as a table, descriptions as columns, sub-labels and threads as rows."""

from .measurement import select_unit


class Compare:
    def __init__(self, results):
        self._results = list(results)

    def extend_results(self, results):
        self._results.extend(results)

    def trim_significant_figures(self):
        """Two decimals are shown anyway."""

    def colorize(self, rowwise=False):
        """The table has no colors."""

    def highlight_warnings(self):
        """The table has no colors."""

    def __str__(self):
        unit, scale = select_unit(min(result.median for result in self._results))
        tables = []
        for label in dict.fromkeys(result.task_spec.label or result.task_spec.stmt for result in self._results):
            own = [r for r in self._results if (r.task_spec.label or r.task_spec.stmt) == label]
            columns = list(dict.fromkeys(r.task_spec.description or "" for r in own))
            rows = {}
            for r in own:
                key = (r.task_spec.num_threads, r.task_spec.sub_label or r.task_spec.stmt)
                rows.setdefault(key, {})[r.task_spec.description or ""] = r.median / scale
            lines = [["", *columns]]
            for threads in dict.fromkeys(key[0] for key in rows):
                lines.append([f"{threads} threads:", *[""] * len(columns)])
                for (count, name), cells in rows.items():
                    if count == threads:
                        lines.append([f"  {name}", *(f"{cells[c]:.2f}" if c in cells else "" for c in columns)])
            widths = [max(len(line[i]) for line in lines) for i in range(len(columns) + 1)]
            body = ["  |  ".join([line[0].ljust(widths[0]), *(c.rjust(w) for c, w in zip(line[1:], widths[1:]))]) for line in lines]
            tables.append("\n".join([f"[{label}]", *body, "", f"Times are in {unit}."]))
        return "\n\n".join(tables) + "\n"

    def print(self):
        print(self)
