"""--max-rcu and --max-rcu-per-process: what is read beyond them is refused to who asks, before it is
sent, and others read on. Units are summed up at the proxy, as the service tells them."""

import errno
import json
import os
import subprocess
import sys
import time

import pytest

from harness import mounts, tables
from harness.rows import rows

SHOP = "prod/shops/cool-store.myshopify.com"
JOB = "prod/jobs/by-id/1f3c9a52-7b1e-4c57-9d0a-2e6f4b8c1d90"
MANY = 10_000


def units(proxy):
    return sum(record.units for record in proxy.requests)


class Session:
    """A shell of a process group of its own: what is run in it are its children."""

    def __init__(self):
        self.shell = subprocess.Popen(
            ["sh"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            env={**os.environ, "LC_ALL": "C"}, start_new_session=True, text=True,
        )  # fmt: skip

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.shell.stdin.close()
        self.shell.wait(60)
        self.shell.stdout.close()

    @property
    def pid(self):
        return self.shell.pid

    def run(self, line):
        """What LINE prints, and its exit status."""
        self.shell.stdin.write(f"{line}\nstatus=$?; echo; echo '#' $status\n")
        self.shell.stdin.flush()
        text = ""
        for each in self.shell.stdout:
            if each.startswith("# "):
                return text.rstrip("\n"), int(each.split()[1])
            text += each
        raise AssertionError(text)


def alone(*words):
    """A program of a process group of its own, whose budget is its own."""
    return subprocess.run([str(word) for word in words], capture_output=True, text=True,
                          env={**os.environ, "LC_ALL": "C"}, start_new_session=True)  # fmt: skip


def miss(m, number):
    """The path of a record that is not there: to know that takes half a unit."""
    return m / SHOP / f"NOBODY-{number}"


@pytest.fixture
def partition(branch):
    """A partition of 10,000 jobs of some 320 bytes."""
    path, names = branch.put_jobs(MANY, padding=100)
    return path, names


# A program and what it starts.


def test_who_has_spent_its_budget_is_refused_and_others_read_on(mount, proxy):
    m = mount("--max-rcu-per-process", "2")
    with Session() as one, Session() as other:
        for number in range(4):
            assert "No such file" in one.run(f"cat {miss(m, number)}")[0]
        text, status = one.run(f"cat {miss(m, 4)}")
        assert "Disk quota exceeded" in text and status == 1
        assert "No such file" in other.run(f"cat {miss(m, 5)}")[0]
        assert other.run(f"cat {m / SHOP}/SETTINGS")[1] == 0
        assert "Disk quota exceeded" in one.run(f"cat {miss(m, 6)}")[0]
    assert sum(record.units for record in proxy.requests if "NOBODY-6" in str(record.body)) == 0


def test_children_share_the_budget_of_their_parent(mount, proxy):
    m = mount("--max-rcu-per-process", "2")
    paths = " ".join(str(miss(m, number)) for number in range(8))
    with Session() as one:
        text, _ = one.run(f"for path in {paths}; do sh -c \"cat $path; true\"; done")
    assert text.count("No such file") == 4 and text.count("Disk quota exceeded") == 4
    assert units(proxy) == 2


def test_a_process_group_of_its_own_has_a_budget_of_its_own(mount, proxy):
    m = mount("--max-rcu-per-process", "1")
    for number in range(6):
        assert "No such file" in alone("cat", miss(m, number)).stderr
    assert units(proxy) == 3


def test_a_pipeline_whose_first_program_has_ended_keeps_its_budget(mount, proxy):
    """The leader of the group has gone; who is of it is known all the same."""
    m = mount("--max-rcu-per-process", "1")
    rest = "; ".join(f"cat {miss(m, number)}" for number in range(4))
    script = f"({{ cat {miss(m, 9)}; {rest}; }} 2>&1; true) & exit 0"
    done = alone("sh", "-c", script)
    assert done.stdout.count("No such file") == 2 and done.stdout.count("Disk quota exceeded") == 3
    assert units(proxy) == 1


def test_who_reads_what_another_has_read_pays_nothing(mount, proxy):
    m = mount("--max-rcu-per-process", "3")
    assert alone("cat", m / SHOP / "SETTINGS").returncode == 0
    before = units(proxy)
    with Session() as one:
        for number in range(20):
            one.run(f"cat {miss(m, number)}")
        assert "quota" in one.run(f"cat {miss(m, 99)}")[0]
        text, status = one.run(f"cat {m / SHOP}/SETTINGS {m / SHOP}/SETTINGS@typed")
        assert status == 0 and '"S"' in text
        assert one.run(f"ls {m.root} {m.root}/prod {m.root}/prod/jobs")[1] == 0
        assert one.run(f"cat {m.root}/prod/jobs/README")[1] == 0
    assert units(proxy) - before == 3


def test_who_joins_a_question_that_is_refused_to_another_asks_himself(mount, proxy):
    """Of two who wait for the same record the one pays who may."""
    m = mount("--max-rcu-per-process", "0.5")
    with Session() as poor:
        poor.run(f"cat {miss(m, 0)}")
        path = m / SHOP / "SETTINGS"
        readers = f"for i in 1 2 3; do cat {path} > /dev/null & done; wait"
        poor.run(readers + " 2>/dev/null")
        assert alone("cat", path).returncode == 0
    assert units(proxy) <= 1.5


def test_who_queued_for_a_name_behind_one_that_is_refused_asks_himself(mount, proxy):
    """The index answers slowly, and then the record can't be paid: that is the first one's affair."""
    m = mount("--max-rcu-per-process", "2.5")
    proxy.fault("delay", op="Query", times=1, seconds=1)
    with Session() as poor:
        for number in range(3):
            poor.run(f"cat {miss(m, number)}")
        poor.shell.stdin.write(f"cat {m / JOB} > /dev/null &\n")
        poor.shell.stdin.flush()
        mounts.wait_until(lambda: proxy.ops[-1:] == ["Query"], "the query")
        assert alone("cat", m / JOB).returncode == 0
        assert "Disk quota exceeded" in poor.run("wait")[0]


# A grep -r in the wrong place.


@pytest.mark.parametrize("budget", [20, *[pytest.param(each, marks=pytest.mark.long) for each in (3, 100)]])
def test_a_grep_over_10_000_records_costs_no_more_than_its_budget(mount, proxy, partition, budget):
    path, _ = partition
    m = mount("--max-rcu-per-process", str(budget))
    done = alone("grep", "-r", "no such text", m / path)
    assert done.returncode == 2 and "Disk quota exceeded" in done.stderr
    assert budget - 0.5 <= units(proxy) <= budget
    assert len(proxy.requests) <= 16


def test_a_grep_whose_budget_suffices_sees_all(mount, proxy, partition):
    path, names = partition
    m = mount("--max-rcu-per-process", "2000")
    done = alone("grep", "-rl", "FAILED", m / path)
    assert done.returncode == 0 and len(done.stdout.splitlines()) == MANY
    assert all("Limit" not in str(record.body) for record in proxy.requests)


def test_large_records_behind_small_ones_cost_no_more_than_they_have_to(mount, proxy, branch):
    """How large the next records are nobody knows: those before were small."""
    path, _ = branch.put_jobs(200, padding=0)
    large, _ = branch.put_jobs(100, shop="acct-index2", padding=20_000)
    m = mount("--max-rcu-per-process", "30")
    with Session() as one:
        one.run(f"ls {m / path} >/dev/null")
        text, _ = one.run(f"ls {m / large}")
    assert "Disk quota exceeded" in text
    assert units(proxy) <= 30 + 2.5  # of the last record


def test_many_who_read_large_records_at_once_go_beyond_by_one_at_the_most(mount, proxy, table, tmp_path):
    """40 readers of one group: small records first, so that nothing says how large the others are."""
    sizes = [50] * 10 + [390_000] * 20 + [5_000] * 10
    table(tables.plain(), [{"pk": {"S": "box"}, "sk": {"S": f"{at:02}"}, "blob": {"S": "x" * size}}
                           for at, size in enumerate(sizes)])  # fmt: skip
    map_file = tmp_path / "map.json"
    map_file.write_text(json.dumps(tables.plain_map()))
    m = mount("--max-rcu-per-process", "20", map_file=map_file)
    proxy.clear()
    paths = " ".join(str(m / f"any/things/box/{each:02}") for each in range(len(sizes)))
    done = alone("sh", "-c", f"for each in {paths}; do cat $each > /dev/null & done; wait")
    assert "Disk quota exceeded" in done.stderr
    assert 19.5 < units(proxy) <= 20 + 50


@pytest.mark.long
def test_a_listing_goes_on_for_others_where_it_stopped(mount, proxy, partition):
    path, names = partition
    m = mount("--max-rcu-per-process", "400")
    with Session() as poor:
        for number in range(700):
            poor.run(f"cat {miss(m, number)} 2>/dev/null")
        proxy.clear()
        assert "quota" in poor.run(f"ls -f {m / path}")[0]
        assert 45 <= units(proxy) <= 50
        rich = alone("ls", "-f", m / path)
    assert rich.returncode == 0 and len(set(rich.stdout.split())) == MANY + 2
    assert "quota" not in rich.stderr


@pytest.mark.long
def test_two_who_read_one_directory_pay_each_for_himself(mount, proxy, partition):
    """The directory is open in both; the one is refused, and the other reads on in the same listing."""
    path, names = partition
    m = mount("--max-rcu-per-process", "700")
    script = (
        "import os, sys\n"
        "seen = 0\n"
        "try:\n"
        "    with os.scandir(sys.argv[1]) as entries:\n"
        "        for entry in entries: seen += 1\n"
        "except OSError as error: print(error.errno, seen)\n"
        "else: print(0, seen)\n"
    )
    with Session() as poor:
        for number in range(1380):
            poor.run(f"cat {miss(m, number)} 2>/dev/null")
        told = [f"{sys.executable} -c '{script}' {m / path}" for _ in range(2)]
        first = poor.run(told[0])[0].split()
        second = alone(sys.executable, "-c", script, m / path).stdout.split()
    assert first[0] == str(errno.EDQUOT) and int(first[1]) < MANY
    assert second == ["0", str(MANY)]


# A second's worth.


class Seconds:
    """How many there have been at the most since it was made."""

    def __init__(self):
        self.since = time.monotonic()

    def __float__(self):
        return 2 + time.monotonic() - self.since


def test_the_mount_reads_no_more_in_a_second_and_more_in_the_next(mount, proxy, clock):
    m = mount("--max-rcu", "0.5", env=clock.env)
    seconds = Seconds()
    paths = " ".join(str(miss(m, number)) for number in range(40))
    told = alone("cat", *paths.split()).stderr
    assert "No such file" in told and "Disk quota exceeded" in told
    assert 0.5 <= units(proxy) <= 0.5 * float(seconds)
    clock.passes(10)
    assert "No such file" in alone("cat", miss(m, 41)).stderr


def test_a_listing_that_takes_more_than_a_second_may_is_read_by_trying_again(
    mount, proxy, partition, clock, make_map
):
    path, _ = partition
    assert len(os.listdir(mount() / path)) == MANY
    whole = units(proxy)
    slow = make_map(lambda text: text.replace('"mtime"', '"ttl": 86400, "mtime"'))
    m = mount("--max-rcu", "50", env=clock.env, map_file=slow)
    tries, seconds = 0, Seconds()
    while (done := alone("ls", m / path)).returncode:
        assert "Disk quota exceeded" in done.stderr
        tries += 1
        assert units(proxy) <= 50 * (float(seconds) + tries)
        clock.passes(1)
    assert tries > 0 and len(done.stdout.split()) == MANY
    assert whole <= units(proxy) <= 1.1 * whole


def test_what_the_kernel_and_the_map_answer_is_not_limited(mount, proxy):
    m = mount("--max-rcu", "0.5")
    alone("cat", miss(m, 0))
    for _ in range(3):
        assert alone("ls", m / "prod").returncode == 0
        assert alone("cat", m / "prod/shops/README").returncode == 0


# What is told.


def test_a_refusal_is_told_with_who_and_how_much_and_what_to_do(mount, proxy):
    m = mount("--max-rcu-per-process", "1")
    with Session() as one:
        for number in range(3):
            one.run(f"cat {miss(m, number)}")
        line = m.errors().splitlines()[-1]
        assert f"path=/{SHOP}/NOBODY-2" in line and "errno=EDQUOT" in line
        assert f"sh (process group {one.pid}) has read 1 RCU of its limit of 1" in line
        assert "--max-rcu-per-process" in line and "this request takes at least 0.5" in line
        assert "fixable_by=caller" in line and "hint: start the program anew" in line
        assert "--max-rcu-per-process" in m.lines()
        stats = m.stats()
        assert stats["budgets"] == [
            {"group": one.pid, "program": "sh", "units": 1, "left": 0, "refused": 1}
        ]
        assert stats["refused_by_max_rcu_per_process"] == 1 and stats["max_rcu_per_process"] == 1
        assert "ddbfs_refused_by_max_rcu_per_process_total 1\n" in m.metrics()
        last = m.ledger()[-1]
        assert last["errno"] == "EDQUOT" and last["requests"] == 0 and last["units"] == 0


def test_a_refusal_by_the_second_is_told_too(mount):
    m = mount("--max-rcu", "0.5")
    alone("cat", miss(m, 0))
    alone("cat", miss(m, 1))
    refused = m.stats()["refused_by_max_rcu"]
    if refused:  # else a busy machine took a second for it
        line = m.errors().splitlines()[-1]
        assert "errno=EDQUOT" in line and "fixable_by=retry" in line and "--max-rcu" in line
        assert f"ddbfs_refused_by_max_rcu_total {refused}\n" in m.metrics()


def test_without_limits_nothing_is_cut_and_nobody_has_a_budget(mount, proxy, partition):
    path, _ = partition
    m = mount()
    assert len(os.listdir(m / path)) == MANY
    assert all("Limit" not in str(record.body) for record in proxy.requests)
    assert m.stats()["budgets"] == [] and m.stats()["max_rcu"] == 0


@rows("value", ["0", "-1", "x", "", "1e12", "nan"])
@rows("name", ["--max-rcu", "--max-rcu-per-process"])
def test_a_limit_that_is_none_is_refused(ddbfs, tmp_path, name, value):
    told = ddbfs("mount", "-f", f"{name}={value}", tmp_path, expect=2)
    assert "takes 0.5 to 1000000000" in told.stderr


def test_limits_stand_behind_o_as_in_fstab(mount, proxy):
    m = mount("-o", "max-rcu-per-process=1,max-rcu=500")
    stats = m.stats()
    assert stats["max_rcu_per_process"] == 1 and stats["max_rcu"] == 500
    with Session() as one:
        for number in range(3):
            text = one.run(f"cat {miss(m, number)}")[0]
    assert "Disk quota exceeded" in text and units(proxy) == 1


# What is not told.


def test_who_gives_up_waiting_pays_for_what_may_have_been_read(mount, proxy):
    m = mount("--max-rcu-per-process", "1")
    proxy.fault("delay", op="GetItem", times=None, seconds=30)
    with Session() as one:
        for number in range(2):
            one.shell.stdin.write(f"cat {miss(m, number)} &\n")
            one.shell.stdin.flush()
            mounts.wait_until(lambda: len(proxy.requests) > number, "the request")
            one.run("kill -9 $!; wait")
        mounts.wait_until(
            lambda: sum(line.get("errno") == "EINTR" for line in m.ledger()) == 2, "two that gave up"
        )
        assert "quota" in one.run(f"cat {miss(m, 9)}")[0]
    assert len(proxy.requests) == 2
