"""Rows of the table of benchmarks: their samples, the goal, the verdict; and the run's JSON."""

import json
import os
import pathlib
import platform
import statistics
import subprocess
import time

from harness import places

SCENARIOS = []
NOISE = 1.05


class Row:
    """COMMAND is ours, PEER and PEER_COMMAND are compared with it; SERVER is the one that both use. The goal is
    RATIO, ours relative to the peer's; NO_WORSE, a ratio that was measured before, which may differ by 5 %; or MOST, a
    value of ours. Samples are appended to `ours` and `theirs`."""

    def __init__(self, name, command, peer="", peer_command="", server="", unit="ms", ratio=None,
                 no_worse=None, most=None, percentile=50):  # fmt: skip
        self.name = name
        self.command = command
        self.peer = peer
        self.peer_command = peer_command
        self.server = server
        self.unit = unit
        self.goal_ratio = NOISE * no_worse if no_worse else ratio
        self.no_worse = no_worse
        self.goal_most = most
        self.percentile = percentile
        self.ours = []
        self.theirs = []
        self.group = ""
        self.note = ""
        self.failed = ""

    def value(self, samples):
        if not samples:
            return None
        if self.percentile == 50 or len(samples) < 2:
            return statistics.median(samples)
        return statistics.quantiles(samples, n=100)[self.percentile - 1]

    def summary(self, samples):
        """The value with the quartiles; None without samples."""
        if not samples:
            return None
        low, _, high = statistics.quantiles(samples, n=4) if len(samples) > 2 else (min(samples), 0, max(samples))
        return {"value": rounded(self.value(samples)), "low": rounded(low), "high": rounded(high), "samples": len(samples)}

    def ratio(self):
        ours, theirs = self.value(self.ours), self.value(self.theirs)
        return ours / theirs if ours is not None and theirs else None

    def met(self):
        """None if the row has no goal, or no samples."""
        if self.failed or not self.ours:
            return None
        if self.goal_most is not None:
            return self.value(self.ours) <= self.goal_most
        if self.goal_ratio is not None and self.ratio() is not None:
            return self.ratio() <= self.goal_ratio
        return None

    def goal(self):
        if self.goal_most is not None:
            return f"≤ {self.goal_most:g} {self.unit}"
        if self.no_worse:
            return f"no worse than {self.no_worse:g} ×"
        return f"≤ {self.goal_ratio:g} ×" if self.goal_ratio is not None else ""

    def as_json(self):
        ratio = self.ratio()
        return {
            "group": self.group,
            "name": self.name,
            "server": self.server,
            "command": self.command,
            "peer": self.peer,
            "peer_command": self.peer_command,
            "unit": self.unit,
            "statistic": "median" if self.percentile == 50 else f"p{self.percentile}",
            "ours": self.summary(self.ours),
            "theirs": self.summary(self.theirs),
            "ratio": None if ratio is None else rounded(ratio),
            "goal": self.goal(),
            "met": self.met(),
            "note": self.note,
            "failed": self.failed,
        }


class Scenario:
    """Measures its rows together, because they share a server or take turns."""

    def __init__(self, run, rows, full):
        self.run = run
        self.rows = rows
        self.full = full  # not part of a quick run
        for row in rows:
            row.group = run.__module__.rpartition(".")[2]

    def has(self, word):
        return word in self.run.__name__ or any(word in row.name for row in self.rows)


def scenario(*rows, full=False):
    """Makes a function of (stand, curves, *rows) a scenario. Without a row, it measures curves only."""

    def register(run):
        SCENARIOS.append(Scenario(run, rows, full))
        return run

    return register


class Curves:
    """Points of the plots: curves.add("items", "ddbfs cat LIST@jsonl", 10_000, 0.06)."""

    def __init__(self):
        self.points = {}

    def add(self, plot, series, x, y):
        self.points.setdefault(plot, {}).setdefault(series, {}).setdefault(x, []).append(y)

    def as_json(self):
        return {
            plot: {name: [[x, rounded(statistics.median(ys))] for x, ys in sorted(points.items())]
                   for name, points in series.items()}
            for plot, series in self.points.items()
        }  # fmt: skip


def rounded(value):
    return float(f"{value:.4g}")


def first_line(command, pattern):
    done = subprocess.run(command, cwd=places.REPO, capture_output=True, text=True)
    return next((line.partition(":")[2].strip() for line in done.stdout.splitlines() if pattern in line), "")


def machine():
    head = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=places.REPO, capture_output=True, text=True)
    memory_kb = int(pathlib.Path("/proc/meminfo").read_text("ascii").split()[1])
    compiler = subprocess.run(["cc", "--version"], capture_output=True, text=True).stdout.splitlines()
    return {
        "processor": first_line(["lscpu"], "Model name"),
        "processors": os.cpu_count(),
        "memory_gb": round(memory_kb / 1e6),
        "kernel": platform.release(),
        "compiler": compiler[0] if compiler else "",
        "commit": head.stdout.strip(),
        "date": time.strftime("%Y-%m-%d", time.gmtime()),
    }


def write_json(path, quick, took_s, rows, counts, curves):
    document = {
        "machine": machine(),
        "quick": quick,
        "took_s": round(took_s),
        "load": rounded(os.getloadavg()[0]),
        "rows": [row.as_json() for row in rows],
        "counts": counts,
        "curves": curves.as_json(),
    }
    path.write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n", "utf-8")
    return document
