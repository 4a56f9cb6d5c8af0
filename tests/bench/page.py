"""docs/benchmarks.md and its plots, from the JSON of a run."""

from bench import plot

HEAD = """\
# Benchmarks

`tests/bench/run` measures all of this in one run, and writes this page, the plots and [the data](benchmarks.json).
Our turn and the peer's alternate, so that other load meets both. Compare times only within one run.

| | |
|---|---|
"""
METHOD = """\

Two servers: `zero_server` (`tests/bench/peers/zero_server.c`) sends prepared pages, each after a fixed delay. Its own work is
close to nothing, so the rest of a time is the client's. `dynoxide` is a database, which finds, checks and encodes. The items have about
1 KB. 100,000 of them are 63 pages.

The peers do the least that a correct program can do: they sign each request, reuse one connection, and request the next page after the last. The loop
"that parses and prints" writes the same lines as `LIST@jsonl`. `MNT` is a fresh mount, `NAME` an item that no process has read before.
A goal "no worse than" is a ratio that was measured before; 5 % more are noise.
"""

# The modules that measure the rows, in the order of the page.
GROUPS = {"reads": "Single items", "listings": "Listings", "memory": "Memory", "starts": "From the start of a program",
          "troubles": "A service that refuses", "imports": "Imports", "snapshots": "Snapshots", "sql": "SQL",
          "lives": "Results that follow streams"}  # fmt: skip


def number(value, unit):
    if value is None:
        return ""
    digits = f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
    return f"{digits} {unit}"


def ratio_of(row):
    if row["ratio"] is None:
        return ""
    return f"{row['ratio']:.2f}" if row["ratio"] >= 0.1 else f"{row['ratio']:.2g}"


def code(text):
    return f"`{text}`" if text else ""


def verdict(row):
    if row["failed"]:
        return f"failed: {row['failed']}"
    return {True: "met", False: "**missed**", None: ""}[row["met"]]


def result_line(row):
    cells = [row["name"]]
    for side in ("ours", "theirs"):
        cells.append(number(row[side]["value"], row["unit"]) if row[side] else "")
    cells.append(ratio_of(row))
    return "| " + " | ".join([*cells, row["goal"], verdict(row)]).replace("\n", " ") + " |"


def results(rows):
    lines = ["## Results"]
    for group, title in GROUPS.items():
        own = [row for row in rows if row["group"] == group]
        if own:
            lines += ["", f"### {title}", "", "| | ddbfs | peer | ratio | goal | |", "|---|---|---|---|---|---|"]
            lines += [result_line(row) for row in own]
    met = sum(row["met"] is True for row in rows)
    with_goal = sum(bool(row["goal"]) for row in rows)
    lost = [row["name"] for row in rows if row["ratio"] is not None and row["ratio"] > 1.05 and not row["goal"]]
    lines += ["", f"{met} of {with_goal} goals are met."]
    if lost:
        lines += ["", "Slower or larger than the peer, without a goal:", "", *(f"- {name}" for name in lost)]
    return lines


def command_line(row):
    spread = []
    for side, name in (("ours", "ddbfs"), ("theirs", "peer")):
        if row[side] and row[side]["samples"] > 1:
            low, high = (number(row[side][end], row["unit"]) for end in ("low", "high"))
            spread.append(f"{name} {low} to {high}")
    how = f"{row['statistic']} of {row['ours']['samples']}" if row["ours"] else ""
    peer = row["peer"] + (f": {code(row['peer_command'])}" if row["peer_command"] else "")
    cells = [row["name"], code(row["server"]), code(row["command"]), peer, "; ".join(filter(None, [how, *spread, row["note"]]))]
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def commands(rows):
    lines = ["## Commands", "", "`tests/bench/run --only WORD` repeats the rows whose names have the word. The last column has the"]
    lines += ["quartiles of the samples.", "", "| | server | ddbfs | peer | samples |", "|---|---|---|---|---|"]
    return lines + [command_line(row) for row in rows]


def requests(counts):
    lines = ["## Requests", "", "Counted by a recording proxy and by the kernel's tracepoint. Those to the service are the same in each run.", ""]
    lines += ["| | to the service | to the mount |", "|---|---|---|"]
    for each in counts:
        wrong = "" if each["right"] else " **wrong**"
        lines.append(f"| {each['what']}{wrong} | {each['service']} | {each['daemon']} |")
    return lines


def plots(curves):
    lines = ["## Plots", ""]
    for name in plot.PLOTS:
        if name in curves:
            lines += [f"![{plot.PLOTS[name].title}]({plot.file_of(name)})", ""]
    return lines[:-1]


def facts(document):
    machine = document["machine"]
    yield "machine", f"{machine['processor']}, {machine['processors']} processors, {machine['memory_gb']} GB, Linux {machine['kernel']}"
    yield "built by", f"{machine['compiler']}, release"
    yield "commit, date", f"{machine['commit']}, {machine['date']}"
    yield "run", f"{'--quick, ' if document['quick'] else ''}{document['took_s']} s, load {document['load']} at its end"


def text(document):
    head = HEAD + "".join(f"| {name} | {value} |\n" for name, value in facts(document))
    sections = [results(document["rows"]), plots(document["curves"]), requests(document["counts"]), commands(document["rows"])]
    return head + METHOD + "".join("\n" + "\n".join(lines) + "\n" for lines in sections)


def files(document):
    """(name, text) of all that a run writes beside its JSON."""
    yield "benchmarks.md", text(document)
    for name in plot.PLOTS:
        if name in document["curves"]:
            yield plot.file_of(name), plot.draw(name, document["curves"][name])
