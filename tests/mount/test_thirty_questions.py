"""The cost of the thirty questions without companions: each item is read as a file of its own."""

import os
import re
import subprocess

from harness import places, questions

GUIDE = places.REPO / "docs/guides/agents.md"
COMPANION = r"@(count|summary|jsonl|info|csv:.*)$"


def paths_of(line):
    """The listings and records that LINE is about."""
    for name, path in questions.VARIABLES.items():
        line = line.replace(f"${name}", path)
    return [re.sub(COMPANION, "", path) for path in re.findall(r"/(?:prod|staging)/[^\"\s$)]*", line)]


class Bill:
    """What came of questions: requests and units at the proxy, and bytes that somebody has to read."""

    def __init__(self, mount):
        self.mount = mount
        self.requests = self.units = self.bytes = 0

    def question(self, read, line):
        """READ gives the bytes of one path. Nothing is left of the question before."""
        self.mount.refresh()
        self.mount.proxy.clear()
        self.bytes += sum(read(path) for path in paths_of(line))
        self.requests += len(self.mount.proxy.requests)
        self.units += sum(each.units for each in self.mount.proxy.requests)

    def __str__(self):
        return f"{self.requests} requests, {self.units:g} RCU and {self.bytes // 1000} kB"


def test_a_search_through_all_files(mount):
    """`grep -r` reads each listing as a whole, as a companion does; all of it comes out."""
    m = mount()
    bill = Bill(m)

    def read(path):
        folder = m / path.lstrip("/")
        return len(subprocess.run(["grep", "-rsh", "", folder], capture_output=True, check=False).stdout)

    for _, line, *_ in questions.QUESTIONS:
        bill.question(read, line)
    assert f"`grep -r` over the paths of each question: {bill}" in GUIDE.read_text("utf-8")


def test_one_file_after_another(mount, ddbfs):
    """`ddbfs ls`, and each name then read by itself."""
    m = mount()
    bill = Bill(m)

    def read(path):
        listed = ddbfs("ls", path, expect=None)
        names = [name for name in listed.text.splitlines() if not name.endswith("/")]
        if not os.path.isdir(m / path.lstrip("/")):
            return len((m / path.lstrip("/")).read_bytes())
        return len(listed.text) + sum(len((m / path.lstrip("/") / name).read_bytes()) for name in names)

    for _, line, *_ in questions.QUESTIONS:
        bill.question(read, line)
    assert f"`ddbfs ls`, then one read for each item: {bill}" in GUIDE.read_text("utf-8")


def test_the_lines_themselves(ddbfs, home, proxy):
    """The bytes that come out of the thirty lines: what an agent has to read."""
    (home.folder / "bin/ddbfs").symlink_to(ddbfs.binary)
    environment = home.environment(questions.VARIABLES)
    printed = 0
    for _, line, *_ in questions.QUESTIONS:
        printed += len(subprocess.run(["/bin/sh", "-c", line], env=environment, capture_output=True, check=True).stdout)
    requests, units = len(proxy.requests), sum(each.units for each in proxy.requests)
    told = f"the thirty lines: {requests} requests, {units:g} RCU and {printed / 1000:.1f} kB"
    assert told in GUIDE.read_text("utf-8")


def test_the_statements(ddbfs, proxy):
    """The same questions in SQL, beside the lines of those questions."""
    printed = sum(len(ddbfs("sql", questions.statement_of(question)).stdout) for question in questions.SQL)
    requests, units = len(proxy.requests), sum(each.units for each in proxy.requests)
    lines = [each for each in questions.QUESTIONS if each[0] in questions.SQL]
    guide = GUIDE.read_text("utf-8")
    assert f"in SQL: {requests} requests, {units:g} RCU and {printed / 1000:.1f} kB" in guide
    assert f"their lines: {sum(each[2] for each in lines)} requests and {sum(each[3] for each in lines):g} RCU" in guide
