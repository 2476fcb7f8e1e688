"""Rows as a table and as JSON."""

import json

HEAD = ("benchmark", "variant", "threads", "ours", "peer", "", "ratio", "spread", "goal", "")


def number(value, unit):
    if value is None:
        return "-"
    digits = 3 if value < 10 else 2 if value < 100 else 1
    return f"{value:.{digits}f} {unit}"


def cells(row):
    return (
        row["benchmark"], row["variant"], str(row["threads"]), number(row["ours"], row["unit"]),
        number(row["peer"], row["unit"]), row["peer_kind"], "-" if row["ratio"] is None else f"{row['ratio']:.2f}x",
        f"{100 * row['spread']:.0f} %", row["goal"],
        "; ".join(filter(None, [row.get("note"), "void: the second core was busy" if row["void"] else ""])),
    )  # fmt: skip


def table(rows, facts):
    lines = [HEAD, *map(cells, rows)]
    widths = [max(len(line[i]) for line in lines) for i in range(len(HEAD))]
    text = ["  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip() for line in lines]
    text.insert(1, "  ".join("-" * width for width in widths).rstrip())
    versions = {v for row in rows for k, v in row.get("versions", {}).items() if k == "peer"}
    text += ["", *facts["terra"], f"{facts['processor']}, {facts['cores']} cores, two-core scaling {facts['two_core_scaling']}"]
    text += [f"peer: {version}" for version in sorted(versions)]
    text += [f"unset for the workers: {', '.join(facts['unset'])}"] if facts["unset"] else []
    return "\n".join(text)


def write_json(path, rows, facts):
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"version": 1, "machine": facts, "rows": rows}, file, indent=1)
        file.write("\n")
