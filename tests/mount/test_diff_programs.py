"""diff(1) between environments of a mount, and `ddbfs diff` beside it."""

import subprocess

ACCOUNT = "index-settings/kl7a9h55"
TABLE = "prod-EcomIndexSettingsTable"


def run_diff(mount, *words, code):
    done = subprocess.run(["diff", *words], cwd=mount.root, capture_output=True, text=True, timeout=60)
    assert done.returncode == code, done
    return done


def copy_of(boto):
    """The account's records, as they are in production."""
    asked = {"KeyConditionExpression": "pk = :p", "ExpressionAttributeValues": {":p": {"S": "kl7a9h55"}}}
    return boto.query(TableName=TABLE, **asked)["Items"]


def test_two_environments_that_are_alike_do_not_differ(mount, boto, branch):
    branch.put("index-settings", copy_of(boto))
    m = mount()
    assert run_diff(m, "-r", f"prod/{ACCOUNT}", f"{branch.name}/{ACCOUNT}", code=0).stdout == ""


def test_what_differs_is_found_by_diff_and_by_ddbfs_alike(mount, ddbfs, boto, branch):
    items = {item["sk"]["S"]: item for item in copy_of(boto)}
    items["INDEX#products"]["made_by"] = {"S": "test"}
    items["INDEX#DEFAULT_CONFIGS"]["made_by"] = {"S": "test"}
    items["INDEX#products#PROFILE#SEARCH#default"]["made_by"] = {"S": "test"}
    gone = next(sk for sk in items if sk.startswith("INDEX#products#QUERY#"))
    del items[gone]
    branch.put("index-settings", list(items.values()))
    m = mount()
    here, there = f"prod/{ACCOUNT}", f"{branch.name}/{ACCOUNT}"
    labels = [line for line in run_diff(m, "-ru", here, there, code=1).stdout.splitlines() if line[:4] in ("--- ", "Only")]
    ours = ddbfs("diff", f"/{here}", f"/{there}", expect=1).text
    assert sorted(line.split("\t")[0] for line in labels) == sorted(
        line.replace(" /", " ") for line in ours.splitlines() if line[:4] in ("--- ", "Only")
    )
    assert len(labels) == 4


def test_each_listing_is_read_once_by_diff(mount, boto, branch):
    branch.put("index-settings", copy_of(boto))
    m = mount()
    for environment in ("prod", branch.name):
        subprocess.run(["ls", "-R", m / f"{environment}/{ACCOUNT}"], capture_output=True, timeout=60)
    listed = sorted(m.counts().items())
    m.refresh()
    m.proxy.clear()
    run_diff(m, "-r", f"prod/{ACCOUNT}", f"{branch.name}/{ACCOUNT}", code=0)
    assert sorted(m.counts().items()) == listed


def test_what_cannot_be_listed_makes_diff_fail(mount, branch):
    branch.table("shops")
    done = run_diff(mount(), "-r", "prod/shops", f"{branch.name}/shops", code=2)
    assert "Operation not supported" in done.stderr
