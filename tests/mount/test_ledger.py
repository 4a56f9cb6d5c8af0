"""Who asked a mount for what, and what it took: the ledger, stats.json and metrics. What they count is
compared with what the proxy has seen."""

import calendar
import json
import os
import re
import signal
import subprocess
import threading
import time

import pytest
from prometheus_client.openmetrics import parser

from harness import mounts

SHOP = "prod/shops/cool-store.myshopify.com"
SETTINGS = f"{SHOP}/SETTINGS"
INDEX = "kl7a9h55-shopify-e513a8-4"
LATEST = f"prod/jobs/by-index/shopify/{INDEX}/latest"
JOBS = "prod-EcomIndexerJobsTable"
ENTITIES = "prod-ShopifyEntitiesTable"


def units(proxy):
    return sum(record.units for record in proxy.requests)


def units_by_table(proxy):
    sums = {}
    for record in proxy.requests:
        sums[record.table] = sums.get(record.table, 0) + record.units
    return {table: units for table, units in sums.items() if units}


def read_all(m):
    """A bit of everything: by key, by an index, a listing with contents, a miss, attributes."""
    names = os.listdir(m / LATEST)
    for name in names:
        (m / LATEST / name).read_bytes()
    (m / SETTINGS).read_bytes()
    os.listdir(m / (SETTINGS + "@"))
    job = json.loads((m / LATEST / names[0]).read_bytes())["job_id"]
    (m / "prod/jobs/by-id" / job).read_bytes()
    with pytest.raises(FileNotFoundError):
        (m / SHOP / "NOBODY").stat()
    os.listdir(m / SHOP)


def samples(text):
    """The samples of an OpenMetrics text, by name, as (labels, value); and the families."""
    families = list(parser.text_string_to_metric_families(text))
    found = {}
    for family in families:
        for sample in family.samples:
            found.setdefault(sample.name, []).append((sample.labels, sample.value))
    return found, {family.name: family for family in families}


def run(*words, **options):
    return subprocess.run([str(word) for word in words], capture_output=True, **options)


# What is counted is what was consumed.


def test_the_ledger_has_every_request_and_unit(mount, proxy):
    m = mount()
    read_all(m)
    lines = [line for line in m.ledger() if line["program"] != "ddbfs"]
    assert sum(line["requests"] for line in lines) == len(proxy.requests) > 5
    assert sum(line["units"] for line in lines) == units(proxy) > 0
    sums = {}
    for line in lines:
        if line["units"]:
            sums[line["table"]] = sums.get(line["table"], 0) + line["units"]
    assert sums == units_by_table(proxy)


def test_stats_have_every_request_and_unit(mount, proxy):
    m = mount()
    read_all(m)
    stats = m.stats()
    me = next(each for each in stats["programs"] if each["program"] != "ddbfs")
    assert me["requests"] == len(proxy.requests) and me["units"] == units(proxy)
    assert me["last_minute"]["requests"] == me["requests"] and me["last_minute"]["units"] == me["units"]
    by_table = {}
    for use in stats["uses"]:
        if use["units"]:
            by_table[use["table"]] = by_table.get(use["table"], 0) + use["units"]
    assert by_table == units_by_table(proxy)
    # With what the mount asked before anybody else could, these are all.
    assert sum(use["requests"] for use in stats["uses"]) == sum(stats["requests"].values())
    assert sum(use["units"] for use in stats["uses"]) == stats["consumed_capacity"]


def test_metrics_have_every_request_and_unit(mount, proxy):
    m = mount()
    read_all(m)
    found, _ = samples(m.metrics())
    told = sum(v for labels, v in found["ddbfs_use_read_units_total"] if labels["program"] != "ddbfs")
    assert told == units(proxy)
    counted = {}
    for labels, value in found["ddbfs_request_duration_seconds_count"]:
        counted[labels["operation"]] = counted.get(labels["operation"], 0) + value
    asked = {labels["operation"]: value for labels, value in found["ddbfs_requests_total"] if value}
    assert counted == asked


def test_a_missing_key_costs_a_half(mount, proxy):
    m = mount()
    with pytest.raises(FileNotFoundError):
        (m / SHOP / "NOBODY").stat()
    line = m.ledger()[-1]
    assert line["errno"] == "ENOENT" and line["requests"] == 1 and line["cached"] is False
    assert line["units"] == units(proxy) == 0.5


def test_failed_requests_and_retries_are_counted(mount, proxy):
    m = mount()
    proxy.fault("throttle", op="GetItem", times=2)
    (m / SETTINGS).read_bytes()
    line = m.ledger()[-1]
    assert line["requests"] == len(proxy.requests) == 3 and line["failed_requests"] == 2
    assert line["units"] == units(proxy)
    use = next(use for use in m.stats()["uses"] if use["table"] == ENTITIES)
    assert use["failed_requests"] == 2
    found, _ = samples(m.metrics())
    assert sum(value for _, value in found["ddbfs_use_request_failures_total"]) == 2


def test_who_is_interrupted_is_told_with_what_it_took(mount, proxy):
    m = mount()
    proxy.fault("delay", op="GetItem", times=None, seconds=30)
    cat = subprocess.Popen(["cat", m / SETTINGS], stderr=subprocess.DEVNULL)
    mounts.wait_until(lambda: proxy.requests, "the request")
    cat.send_signal(signal.SIGKILL)
    cat.wait()
    mounts.wait_until(lambda: any(line["pid"] == cat.pid for line in m.ledger()), "the line")
    line = next(line for line in m.ledger() if line["pid"] == cat.pid)
    assert line["errno"] == "EINTR" and line["program"] == "cat"
    assert line["requests"] == 1 and line["failed_requests"] == 1


# A line.


def test_a_line_says_who_read_what_and_how(mount):
    m = mount()
    before = time.time()
    cat = subprocess.Popen(["cat", m / SETTINGS], stdout=subprocess.DEVNULL)
    assert cat.wait() == 0
    line = m.ledger()[-1]
    assert re.fullmatch(r"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d\d\dZ", line["time"])
    seconds = time.strptime(line["time"][:19], "%Y-%m-%dT%H:%M:%S")
    assert abs(before - calendar.timegm(seconds)) < 60
    assert line.pop("ms") >= 0 and line.pop("time") and line.pop("units") > 0
    assert line == {
        "pid": cat.pid,
        "program": "cat",
        "path": "/" + SETTINGS,
        "table": ENTITIES,
        "pattern": "shops/{domain}/",
        "plan": "GetItem",
        "requests": 1,
        "cached": False,
    }


def test_a_path_that_needs_two_steps_says_so(mount):
    m = mount()
    names = os.listdir(m / LATEST)
    job = json.loads((m / LATEST / names[0]).read_bytes())["job_id"]
    run("cat", m / "prod/jobs/by-id" / job)
    line = m.ledger()[-1]
    assert line["plan"] == "Query, GetItem" and line["index"] == "GSI_JobLookup_v2"
    assert line["pattern"] == "jobs/by-id/{job_id}" and line["table"] == JOBS
    assert line["requests"] == 2


def test_a_listing_is_one_question(mount, proxy):
    m = mount()
    os.listdir(m / LATEST)
    lines = [line for line in m.ledger() if line["path"] == "/" + LATEST]
    assert len(lines) == 1 and lines[0]["requests"] == len(proxy.requests)
    os.listdir(m / LATEST)
    lines = [line for line in m.ledger() if line["path"] == "/" + LATEST]
    assert len(lines) == 2
    assert lines[1]["requests"] == 0 and lines[1]["cached"] and lines[1]["units"] == 0


def test_what_memory_answers_is_told_as_cached(mount, proxy):
    m = mount()
    (m / SETTINGS).read_bytes()
    (m / (SETTINGS + "@typed")).read_bytes()
    line = m.ledger()[-1]
    assert line["path"].endswith("@typed") and line["cached"] is True
    assert line["requests"] == 0 and len(proxy.requests) == 1
    me = next(each for each in m.stats()["programs"] if each["program"] != "ddbfs")
    assert me["questions"] == 2 and me["cached"] == 1


def test_what_the_map_alone_answers_is_no_question(mount):
    m = mount()
    before = len(m.ledger())
    os.listdir(m / "prod")
    (m / "prod/jobs/README").read_bytes()
    run("ls", "-la", m / "prod/jobs")
    assert len(m.ledger()) == before


def test_a_failure_has_its_errno(mount, proxy):
    m = mount()
    proxy.fault("denied", op="GetItem", times=None)
    with pytest.raises(PermissionError):
        (m / SETTINGS).stat()
    line = m.ledger()[-1]
    assert line["errno"] == "EACCES" and line["cached"] is False
    me = next(each for each in m.stats()["programs"] if each["program"] != "ddbfs")
    assert me["failed"] == 1


def test_no_value_and_no_key_of_a_filter_is_told(mount):
    """Paths hold keys; values stand nowhere."""
    m = mount()
    settings = json.loads((m / SETTINGS).read_bytes())
    text = (m / ".ddbfs/ledger.jsonl").read_text()
    values = [value for value in settings.values() if isinstance(value, str) and len(value) > 6]
    values = [value for value in values if value not in SETTINGS]
    assert values and not [value for value in values if value in text]


def test_programs_are_told_apart(mount):
    m = mount()
    run("cat", m / SETTINGS)
    run("head", m / (SETTINGS + "@typed"))
    programs = {each["program"]: each for each in m.stats()["programs"]}
    assert programs["cat"]["requests"] == 1 and programs["cat"]["units"] > 0
    assert programs["head"]["requests"] == 0 and programs["head"]["cached"] == 1


def test_a_thread_is_told_as_its_process(mount):
    m = mount()
    thread = threading.Thread(target=lambda: (m / SETTINGS).read_bytes())
    thread.start()
    thread.join()
    assert m.ledger()[-1]["pid"] == os.getpid()


def test_names_of_programs_are_printable(mount, tmp_path):
    m = mount()
    program = tmp_path / 'a"b\\c\n\x1b[2J'
    program.write_bytes(open("/bin/cat", "rb").read())
    program.chmod(0o755)
    run(program, m / SETTINGS)
    line = m.ledger()[-1]
    assert line["program"] == 'a"b\\c%0A%1B[2J'
    found, _ = samples(m.metrics())
    assert any(labels["program"] == line["program"] for labels, _ in found["ddbfs_questions_total"])


def test_names_of_paths_are_json(mount):
    m = mount()
    for name in (b'a"b\\c', b"a\nb", b"a\xffb", "schön\u202e".encode()):
        with pytest.raises(OSError):
            os.stat(os.fsencode(m / SHOP) + b"/" + name)
    paths = [line["path"] for line in m.ledger()][-4:]
    assert paths == [f"/{SHOP}/" + name for name in ('a"b\\c', "a%0Ab", "a%FFb", "schön%E2%80%AE")]


def test_the_last_thousand_are_kept(mount):
    m = mount()
    for i in range(1010):
        with pytest.raises(FileNotFoundError):
            os.stat(m / SHOP / f"NOBODY-{i}")
    lines = m.ledger()
    assert len(lines) == 1000 and lines[-1]["path"].endswith("NOBODY-1009")
    assert lines[0]["path"].endswith("NOBODY-10")


def test_what_is_under_way_is_told(mount, proxy):
    m = mount()
    fault = proxy.fault("delay", op="GetItem", times=None, seconds=30)
    cat = subprocess.Popen(["cat", m / SETTINGS], stdout=subprocess.DEVNULL)
    mounts.wait_until(lambda: proxy.requests, "the request")
    waiting = m.stats()["waiting"]
    assert [(each["pid"], each["program"], each["path"]) for each in waiting] == [
        (cat.pid, "cat", "/" + SETTINGS)
    ]
    assert fault
    cat.kill()
    cat.wait()
    mounts.wait_until(lambda: not m.stats()["waiting"], "its end")


def test_programs_beyond_the_limit_are_others(mount, tmp_path):
    m = mount()
    for i in range(70):
        program = tmp_path / f"program-{i}"
        program.symlink_to("/bin/stat")
        run(program, "-c", "", m / SHOP / f"NOBODY-{i}")
    stats = m.stats()
    programs = {each["program"]: each for each in stats["programs"]}
    assert len(programs) == 65 and programs["(other)"]["questions"] == 70 - (64 - 1)
    others = [use for use in stats["uses"] if use["program"] == "(other)"]
    assert sum(use["requests"] for use in others) == programs["(other)"]["requests"]


# The file.


def lines_of(file):
    return [json.loads(line) for line in file.read_bytes().splitlines()]


def test_a_ledger_file_has_the_same_lines(mount, tmp_path):
    file = tmp_path / "ledger"
    m = mount("--ledger", str(file))
    read_all(m)
    mounts.wait_until(lambda: lines_of(file) == m.ledger(), "the same lines")
    assert len(lines_of(file)) > 5
    assert os.stat(file).st_mode & 0o777 == 0o600


def test_a_ledger_file_is_added_to(mount, tmp_path):
    file = tmp_path / "ledger"
    file.write_text('{"old":1}\n')
    m = mount("--ledger", str(file))
    (m / SETTINGS).read_bytes()
    mounts.wait_until(lambda: lines_of(file)[-1].get("path") == "/" + SETTINGS, "the line")
    assert lines_of(file)[0] == {"old": 1}


def test_a_ledger_file_survives_rotation(mount, tmp_path):
    file = tmp_path / "ledger"
    m = mount("--ledger", str(file))
    (m / SETTINGS).read_bytes()
    file.rename(tmp_path / "ledger.1")
    m.signal(signal.SIGHUP)
    mounts.wait_until(file.exists, "the new file")
    (m / (SETTINGS + "@typed")).read_bytes()
    mounts.wait_until(file.read_text, "the line")
    assert lines_of(tmp_path / "ledger.1")[-1]["path"] == "/" + SETTINGS
    assert lines_of(file)[-1]["path"] == "/" + SETTINGS + "@typed"
    assert os.stat(file).st_mode & 0o777 == 0o600


def test_a_ledger_that_cannot_be_opened_again_goes_on(mount, tmp_path):
    file = tmp_path / "ledger"
    m = mount("--ledger", str(file))
    file.rename(tmp_path / "ledger.1")
    file.mkdir()
    m.signal(signal.SIGHUP)
    mounts.wait_until(lambda: "can't be opened again" in m.log(), "the log line")
    (m / SETTINGS).read_bytes()
    mounts.wait_until(lambda: SETTINGS in (tmp_path / "ledger.1").read_text(), "the line")


def test_a_file_system_that_hangs_stops_nothing(mount, tmp_path, stalled_disk):
    """Lines wait for it; the mount and its end do not."""
    file, stall = tmp_path / "ledger", tmp_path / "stall"
    stall.touch()
    env = {**stalled_disk, "STALLED_DISK_FILE": str(stall)}
    m = mount("--ledger", str(file), env=env)
    read_all(m)
    assert len(m.ledger()) > 5 and file.read_bytes() == b""
    m.signal(signal.SIGHUP)
    assert (m / (SETTINGS + "@typed")).read_bytes()
    stall.unlink()
    mounts.wait_until(lambda: lines_of(file) == m.ledger(), "all lines")
    assert m.stats()["ledger_lines_lost"] == 0
    stall.touch()
    (m / (SETTINGS + "@info")).read_bytes()
    m.unmount()


def test_a_full_disk_stops_nothing(mount):
    m = mount("--ledger", "/dev/full")
    for i in range(3):
        with pytest.raises(FileNotFoundError):
            os.stat(m / SHOP / f"NOBODY-{i}")
    assert (m / SETTINGS).read_bytes()
    mounts.wait_until(lambda: m.stats()["ledger_lines_lost"] >= 4, "lines that are lost")
    assert m.log().count("can't be written: No space left on device") == 1
    assert m.stats()["ledger_lines_lost"] == len(m.ledger()) >= 4


@pytest.mark.parametrize("name, why", [
    ("nowhere/ledger", "No such file or directory"),
    ("folder", "Is a directory"),
    ("link", "it is a symbolic link; name the file itself"),
])
def test_a_ledger_that_cannot_be_opened_is_told_at_once(ddbfs, tmp_path, name, why):
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "mnt").mkdir()
    told = ddbfs("mount", "-f", "--ledger", tmp_path / name, tmp_path / "mnt", expect=1)
    assert why in told.stderr and "can't be opened" in told.stderr
    assert not mounts.is_mounted(tmp_path / "mnt") and not (tmp_path / "elsewhere").exists()


# Metrics.


def test_metrics_are_openmetrics(mount):
    m = mount()
    read_all(m)
    text = m.metrics()
    assert text.endswith("# EOF\n")
    found, families = samples(text)
    for name, family in families.items():
        assert family.documentation, name
        assert not family.unit or name.endswith(family.unit)
    types = {name: family.type for name, family in families.items()}
    assert types["ddbfs_requests"] == "counter" and types["ddbfs_build"] == "info"
    assert types["ddbfs_request_duration_seconds"] == "histogram"
    assert families["ddbfs_uptime_seconds"].unit == "seconds"
    assert families["ddbfs_cache_bytes"].unit == "bytes"
    assert found["ddbfs_build_info"][0][0]["version"] == m.stats()["version"]


def test_every_number_of_stats_is_a_metric(mount):
    m = mount()
    stats = m.stats()
    found, _ = samples(m.metrics())
    for name, value in stats.items():
        if isinstance(value, (int, float)):
            assert f"ddbfs_{name}" in found or f"ddbfs_{name}_total" in found, name


def test_a_histogram_counts_what_took_long_in_its_bucket(mount, proxy):
    m = mount()
    proxy.fault("delay", op="GetItem", table=ENTITIES, times=1, seconds=0.6)
    (m / SETTINGS).read_bytes()
    found, _ = samples(m.metrics())
    buckets = {
        labels["le"]: value
        for labels, value in found["ddbfs_request_duration_seconds_bucket"]
        if labels["operation"] == "GetItem" and labels["table"] == ENTITIES
    }
    assert buckets["0.5"] == 0 and buckets["+Inf"] == 1
    assert list(buckets) == sorted(buckets, key=float)
    values = list(buckets.values())
    assert values == sorted(values)


def test_labels_say_what_was_read(mount):
    m = mount()
    run("cat", m / SETTINGS)
    found, _ = samples(m.metrics())
    labels = [labels for labels, _ in found["ddbfs_use_requests_total"] if labels["program"] == "cat"]
    assert labels == [
        {"table": ENTITIES, "index": "", "pattern": "shops/{domain}/", "program": "cat"}
    ]
