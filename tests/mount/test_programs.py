"""Real programs on a live mount, with what boto3 says as the truth, and their requests counted."""

import json
import mmap
import os
import pathlib
import shutil
import subprocess
import tarfile

import pytest

INDEX = "kl7a9h55-shopify-e513a8-4"
LATEST = f"prod/jobs/by-index/shopify/{INDEX}/latest"
SHOP = "prod/shops/cool-store.myshopify.com"
SETTINGS = f"{SHOP}/SETTINGS"
TABLE = "prod-EcomIndexerJobsTable"


def run(*command, code=0, **options):
    if not shutil.which(command[0]):
        pytest.skip(f"{command[0]} is not installed")
    done = subprocess.run([str(word) for word in command], capture_output=True, **options)
    assert done.returncode == code, done
    return done.stdout


@pytest.fixture
def jobs(boto):
    """The newest hundred jobs of INDEX, by the names that they have in latest/."""
    query = {
        "TableName": TABLE,
        "KeyConditionExpression": "pk = :p",
        "ExpressionAttributeValues": {":p": {"S": f"PLATFORM#shopify#SHOP#{INDEX}"}},
        "ScanIndexForward": False,
        "Limit": 100,
    }
    items = boto.query(**query)["Items"]
    return {item["sk"]["S"][len("JOB#") :]: item for item in items}


def failed(jobs):
    return sorted(name for name, job in jobs.items() if job["status"]["S"] == "FAILED")


@pytest.fixture
def listed(mount):
    """A mount whose latest/ has been listed, with the request that it took forgotten."""
    m = mount()
    run("ls", "-l", m / LATEST)
    assert m.counts() == {"Query": 1}
    m.proxy.clear()
    return m


# Warm: a listing has brought the contents as well.


def test_grep_after_ls_costs_nothing(listed, jobs):
    found = run("grep", "-rl", '"status": "FAILED"', listed / LATEST).decode().splitlines()
    assert sorted(pathlib.Path(line).name for line in found) == failed(jobs) != []
    assert listed.counts() == {}


def test_find_after_ls_costs_nothing(listed, jobs):
    found = run("find", listed / LATEST, "-type", "f", "-size", "+0").decode().splitlines()
    assert {pathlib.Path(line).name for line in found} == set(jobs) and listed.counts() == {}


def test_wc_counts_every_byte(listed, jobs):
    lines = run("sh", "-c", f"wc -c '{listed / LATEST}'/*").decode().splitlines()
    sizes = {line.split()[1].rsplit("/", 1)[-1]: int(line.split()[0]) for line in lines[:-1]}
    assert sizes == {name: len((listed / LATEST / name).read_bytes()) for name in jobs}
    assert listed.counts() == {}


def test_jq_reads_every_record(listed, jobs):
    script = f"jq -r '.job_id + \" \" + .status' '{listed / LATEST}'/*"
    got = sorted(run("sh", "-c", script).decode().splitlines())
    assert got == sorted(f"{job['job_id']['S']} {job['status']['S']}" for job in jobs.values())
    assert listed.counts() == {}


def test_du_and_stat_agree(listed, jobs):
    total = int(run("du", "-sb", "--apparent-size", listed / LATEST).split()[0])
    sizes = [int(run("stat", "-c", "%s", listed / LATEST / name)) for name in jobs]
    assert total == sum(sizes) and int(run("du", "-s", listed / LATEST).split()[0]) > 0


def test_head_of_a_warm_file(listed, jobs):
    name = next(iter(jobs))
    assert run("head", "-n", "1", listed / LATEST / name) == b"{\n" and listed.counts() == {}


def test_xargs_in_parallel(listed, jobs):
    script = f"ls '{listed / LATEST}' | xargs -P 8 -I@ cat '{listed / LATEST}'/@"
    assert run("sh", "-c", script).count(b'"job_id"') == len(jobs)
    assert listed.counts() == {}


def test_scandir_and_mmap(listed, jobs):
    for entry in os.scandir(listed / LATEST):
        with open(entry.path, "rb") as file:
            with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as view:
                assert len(view) == entry.stat().st_size
                assert json.loads(view[:])["job_id"] == jobs[entry.name]["job_id"]["S"]
    assert listed.counts() == {}


def test_ls_by_date_is_by_the_records_own_date(listed, jobs):
    assert run("ls", "-t", listed / LATEST).decode().splitlines() == sorted(jobs, reverse=True)


# Copies.


def copied(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.fixture
def truth(listed, jobs):
    return {name: (listed / LATEST / name).read_bytes() for name in jobs}


def test_cp_copies_contents_and_dates(listed, truth, tmp_path):
    run("cp", "-a", listed / LATEST, tmp_path / "copy")
    assert copied(tmp_path / "copy") == truth
    for name in truth:
        ours, theirs = os.stat(listed / LATEST / name), os.stat(tmp_path / "copy" / name)
        assert ours.st_mtime_ns == theirs.st_mtime_ns and ours.st_mode == theirs.st_mode
    assert listed.counts() == {}


def test_diff_finds_no_difference_and_then_one(listed, truth, tmp_path):
    run("cp", "-r", listed / LATEST, tmp_path / "copy")
    assert run("diff", "-r", listed / LATEST, tmp_path / "copy") == b""
    changed = tmp_path / "copy" / min(truth)
    changed.chmod(0o644)
    changed.write_bytes(b"another\n")
    assert b"another" in run("diff", "-r", listed / LATEST, tmp_path / "copy", code=1)


def test_cmp_finds_the_same_bytes(listed, truth, tmp_path):
    name = min(truth)
    (tmp_path / "one").write_bytes(truth[name])
    run("cmp", listed / LATEST / name, tmp_path / "one")
    (tmp_path / "one").write_bytes(truth[name][:-1])
    run("cmp", listed / LATEST / name, tmp_path / "one", code=1)


def test_tar_stores_whole_files(listed, truth, tmp_path):
    run("tar", "-cf", tmp_path / "jobs.tar", "-C", listed / LATEST, ".")
    with tarfile.open(tmp_path / "jobs.tar") as archive:
        members = [member for member in archive if member.isfile()]
        stored = {
            os.path.basename(member.name): archive.extractfile(member).read() for member in members
        }
    assert stored == truth and listed.counts() == {}


def test_rsync_copies_once(listed, truth, tmp_path):
    command = ("rsync", "-a", "--itemize-changes", f"{listed / LATEST}/", tmp_path / "copy")
    assert len(run(*command).splitlines()) > len(truth)
    assert copied(tmp_path / "copy") == truth
    assert run(*command) == b"", "nothing has changed, so nothing is copied again"
    assert listed.counts() == {}


# Cold.


def test_cat_costs_one_request(mount, oracle):
    m = mount()
    assert run("cat", m / SETTINGS) == oracle(f"/{SETTINGS}") and m.counts() == {"GetItem": 1}


def test_less_shows_a_record(shared_mount, oracle):
    assert run("less", shared_mount / SETTINGS) == oracle(f"/{SETTINGS}")


def test_find_walks_a_whole_table_that_can_be_listed(mount, boto):
    m = mount()
    found = run("find", m / "prod/index-settings/kl7a9h55", "-type", "f").decode().splitlines()
    names = {os.path.relpath(line, m / "prod/index-settings/kl7a9h55") for line in found}
    assert {"DEFAULT_CONFIGS", "shopify-e513a8-4"} <= names
    assert "shopify-e513a8-4.d/PROFILE#SEARCH#default" in names
    assert set(m.counts()) <= {"Query", "GetItem"}


def test_grep_in_a_cold_directory_costs_its_listing(mount, jobs):
    m = mount()
    found = run("grep", "-rl", '"status": "FAILED"', m / LATEST).decode().splitlines()
    assert sorted(pathlib.Path(line).name for line in found) == failed(jobs)
    assert m.counts() == {"Query": 1}


def test_ls_by_status_costs_its_listing_and_its_hydration(mount, jobs):
    m = mount()
    folder = m / f"prod/jobs/by-status/{INDEX}/FAILED"
    lines = run("ls", "-l", folder).decode().splitlines()[1:]
    assert len(lines) >= len(failed(jobs)) and m.counts() == {"Query": 1, "BatchGetItem": 1}


def test_an_attribute_fits_into_a_command_line(shared_mount):
    m = shared_mount
    script = f'echo "$(cat \'{m / SETTINGS}@/active_index\')."'
    assert run("sh", "-c", script) == b"shopify-cool-store.\n"


def test_a_shell_completes_names(shared_mount):
    script = f"compgen -f '{shared_mount / SHOP}/SET'"
    assert run("bash", "-c", script).endswith(b"/SETTINGS\n")
