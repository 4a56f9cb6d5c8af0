"""Snapshots and the past by commands: --snapshot, DDBFS_SNAPSHOT, ENV@at/TIME and ITEM@history."""

import json
import os
import random
import shutil
import sqlite3

import pytest

from harness import exports, places, snapshots
from harness.rows import rows

FIRST, SECOND, THIRD = snapshots.MOMENTS
SETTINGS = f"/prod/{snapshots.SETTINGS}"
JOB = f"/prod/jobs/by-id/{snapshots.JOB}"
SHOP_OF_JOB = "/prod/shops/e513a8-4.myshopify.com/SETTINGS"
NOWHERE = {"AWS_ENDPOINT_URL_DYNAMODB": "http://127.0.0.1:1", "AWS_PROFILE": "no-such-profile"}


@pytest.fixture(scope="session")
def sample_file(tmp_path_factory):
    return snapshots.sample(tmp_path_factory.mktemp("past") / "orders.ddb")


@pytest.fixture
def file(sample_file, tmp_path):
    return shutil.copy(sample_file, tmp_path / "orders.ddb")


@pytest.fixture
def past(ddbfs, file, proxy):
    """past("cat", …): a command that reads the snapshot, and sends no request."""

    def run(*words, env=None, **options):
        result = ddbfs(*words, env={"DDBFS_SNAPSHOT": file, **NOWHERE, **(env or {})}, **options)
        assert not proxy.ops
        return result

    return run


def times_of(result):
    """The names that `ddbfs ls` printed, without the slash of a directory."""
    return [name.rstrip("/") for name in result.text.split()]


def plan_of(text):
    return json.loads(text)["plan"]


def at(time, path=SETTINGS):
    return path.replace("/prod/", f"/prod@at/{time}/")


def test_a_command_reads_a_snapshot_without_a_setting_of_aws(ddbfs, file, home, proxy):
    home.config.write_text("[default\nthis is no profile file", "ascii")
    home.credentials.unlink()
    found = ddbfs("--snapshot", file, "cat", SETTINGS, env=NOWHERE)
    assert plan_of(found.stdout) == "growth" and not found.stderr
    assert ddbfs("--snapshot", file.name, "cat", SETTINGS, env=NOWHERE, cwd=file.parent).stdout == found.stdout
    assert ddbfs("cat", SETTINGS, env={"DDBFS_SNAPSHOT": file, **NOWHERE}).stdout == found.stdout
    assert not proxy.ops


LIKE_LIVE = [
    ("cat", SETTINGS),
    ("cat", JOB),
    ("cat", JOB + "@typed"),
    ("cat", "/prod/index-settings/by-account/kl7a9h55@jsonl"),
    ("ls", "/prod/shops/cool-store.myshopify.com"),
    ("ls", "/prod/jobs/by-status/kl7a9h55-shopify-e513a8-4/FAILED"),
]


def test_a_snapshot_is_equal_to_the_live_tables(past, ddbfs):
    found = [past(*words).stdout for words in LIKE_LIVE]
    assert found == [ddbfs(*words).stdout for words in LIKE_LIVE]


def test_options_of_aws_do_not_go_with_a_snapshot(ddbfs, file):
    for option in ("--profile", "--region", "--endpoint-url"):
        result = ddbfs("--snapshot", file, option, "http://x", "cat", SETTINGS, expect=2)
        assert f"--snapshot does not go with {option}" in result.stderr
    assert "no/such.ddb" in ddbfs("config", env={"DDBFS_SNAPSHOT": "/no/such.ddb"}).text
    assert "no/such.ddb" not in ddbfs("config", "--region", "us-east-1", env={"DDBFS_SNAPSHOT": "/no/such.ddb"}).text


def test_the_times_of_an_environment_come_newest_first(past):
    assert times_of(past("ls", "/prod@at")) == [THIRD, SECOND, FIRST]
    assert times_of(past("ls", "/tables@at")) == [THIRD, SECOND, FIRST]
    assert "prod@at" not in past("ls", "/").text


WHEN = [
    (FIRST, "starter"),
    ("2026-11-01", "starter"),
    ("2026-11-01T23:59", "starter"),
    ("2026-11-02T05", "starter"),
    ("2026-11-02T06:00:00Z", "growth-trial"),
    ("2026-11-02T08:00+02:00", "growth-trial"),
    ("2026-11-02T05:59:59.999Z", "starter"),
    ("2026-11-02", "growth-trial"),
    ("2026-11", "growth"),
    ("2026", "growth"),
    ("9999-12-31", "growth"),
]


@rows("time, plan", WHEN)
def test_a_time_is_a_part_of_a_date_and_includes_its_end(past, time, plan):
    assert plan_of(past("cat", at(time)).stdout) == plan


def test_a_moment_before_the_first_is_not_found_and_names_the_times(past):
    result = past("cat", at("2026-10-31"), expect=3)
    assert "no snapshot is as old as 2026-10-31T23:59:59.999Z" in result.stderr
    assert all(moment in result.stderr for moment in snapshots.MOMENTS)


def test_times_of_all_tables_are_found_or_not_without_a_map(past):
    for time in ("2026-10-31", "yesterday"):
        result = past("ls", "--no-map", f"/tables@at/{time}", expect=3)
        assert all(moment in result.stderr for moment in snapshots.MOMENTS)
        past("cat", "--no-map", f"/tables@at/{time}/any-Table/items/a", expect=3)
    assert "prod-ShopifyEntitiesTable/" in past("ls", "--no-map", "/tables@at/2026-11-02").text


NO_TIMES = [("yesterday",), ("2026-1",), ("2026-11-31",), ("2026-11-02T25",), ("2026-11-02T06:00:00+",), ("now@info",)]


@rows("text", NO_TIMES)
def test_a_text_that_is_no_time_is_not_found_and_names_the_times(past, text):
    result = past("cat", at(text), expect=3)
    assert f'"{text}" is no time' in result.stderr
    assert all(moment in result.stderr for moment in snapshots.MOMENTS)


def test_without_snapshots_there_is_no_past(ddbfs, proxy):
    for path in ("/prod@at", at(FIRST), SETTINGS + "@history", "/tables@at"):
        result = ddbfs("ls", path, expect=3)
        assert "no snapshots are known" in result.stderr and "--snapshot FILE" in result.stderr
    assert not proxy.ops


def test_the_history_of_an_item_comes_newest_first(past):
    assert times_of(past("ls", SETTINGS + "@history")) == [THIRD, SECOND, FIRST]
    assert times_of(past("ls", JOB + "@history")) == [THIRD, SECOND]
    assert [plan_of(past("cat", f"{SETTINGS}@history/{each}").stdout) for each in snapshots.MOMENTS] == [
        "starter",
        "growth-trial",
        "growth",
    ]
    assert times_of(past("ls", at("2026-11-02") + "@history")) == [SECOND, FIRST]


def test_a_history_opens_exactly_the_listed_names(past):
    path = "/prod/shops/cool-store.myshopify.com/API_KEY@history"
    assert times_of(past("ls", path)) == [FIRST]
    result = past("cat", f"{path}/{SECOND}", expect=3)
    assert f"did not change in the window that ends at {SECOND}" in result.stderr
    for name in ("2026-11-01", "2026-11-01T00:00:00", "2026-11-02T07:00:00Z", "x", FIRST + "@jsonl"):
        told = past("cat", f"{path}/{name}", expect=3).stderr
        assert "the listing of this directory has the names" in told and SECOND not in told


def test_a_deletion_is_an_empty_file_that_its_info_explains(past):
    path = "/prod/shops/cool-store.myshopify.com/USER%231@history"
    path = path.replace("%23", "#")
    assert times_of(past("ls", path)) == [THIRD, SECOND]
    assert past("cat", f"{path}/{THIRD}").stdout == b""
    assert past("cat", f"{path}/{THIRD}@typed").stdout == b""
    info = json.loads(past("cat", f"{path}/{THIRD}@info").stdout)
    assert info["deleted"] is True and THIRD in info["snapshot"] and "orders.ddb" in info["snapshot"]
    there = json.loads(past("cat", f"{path}/{SECOND}@info").stdout)
    assert SECOND in there["snapshot"] and "deleted" not in there
    past("cat", "/prod/shops/cool-store.myshopify.com/USER#1", expect=3)


def test_an_item_that_never_existed_has_no_history(past):
    past("ls", "/prod/shops/nobody.myshopify.com/SETTINGS@history", expect=3)
    past("cat", f"/prod/shops/nobody.myshopify.com/SETTINGS@history/{FIRST}", expect=3)


def test_readmes_explain_moments_and_windows(past):
    assert "net changes" in past("cat", "/prod@at/README").text
    assert "END" in past("cat", "/prod@at/README").text
    assert "net changes only" in past("cat", SETTINGS + "@history/README").text
    assert "orders.ddb" in past("cat", at(SECOND, "/prod/jobs/README")).text
    assert f"The state at 2026-11-02 is that of {SECOND}" in past("cat", "/prod@at/2026-11-02/README").text


def test_diff_compares_two_times_and_a_time_with_the_present(past):
    result = past("diff", at("2026-11-02"), SETTINGS, expect=1)
    assert '"growth-trial"' in result.text and '"growth"' in result.text
    assert past("diff", at(FIRST), at("2026-11-01"), expect=0).stdout == b""
    folder = "/prod/shops/cool-store.myshopify.com"
    result = past("diff", at(SECOND, folder), folder, expect=1)
    assert "SETTINGS" in result.text and "USER#1" in result.text and "API_KEY" not in result.text
    result = past("diff", f"{SETTINGS}@history/{FIRST}", f"{SETTINGS}@history/{SECOND}", expect=1)
    assert "starter" in result.text


def test_links_stay_at_their_moment(past):
    assert past("cat", at(SECOND, JOB) + "@links/shop/SETTINGS").stdout == past("cat", at(SECOND, SHOP_OF_JOB)).stdout
    result = past("explain", at(SECOND, JOB) + "@links/shop")
    assert f"/prod@at/{SECOND}/shops/" in result.text


def test_reading_costs_nothing(past):
    for path in (SETTINGS, at(SECOND), JOB, "/prod/shops/cool-store.myshopify.com/", SETTINGS + "@history"):
        text = past("explain", path).text
        assert "no request, 0 RCU: a snapshot is read" in text, text
        assert "orders.ddb" in text and "$" not in text and "aws " not in text
    explained = json.loads(past("explain", "--json", at(SECOND)).stdout)
    assert explained["bound"]["requests"] == 0 and SECOND in explained["snapshot"] and "aws" not in explained
    info = json.loads(past("cat", at(SECOND) + "@info").stdout)
    assert info["capacity"] == 0 and SECOND in info["snapshot"]
    assert "request_id" not in info
    history = json.loads(past("explain", "--json", SETTINGS + "@history").stdout)["snapshot"]
    assert history.startswith(f"3 moments since {FIRST}, and each is read") and "orders.ddb" in history
    assert "snapshot" not in json.loads(past("explain", "--json", "/prod@at").stdout)
    listed = json.loads(past("cat", at(SECOND, "/prod/shops/cool-store.myshopify.com@info")).stdout)
    assert listed["capacity"] == 0 and listed["requests"] == 0 and SECOND in listed["snapshot"]


def test_partition_keys_are_listed_without_a_scan_of_the_service(past):
    items = "/tables/prod-ShopifyEntitiesTable/items"
    names = past("ls", items).text.split()
    assert len(names) == 6 and "README" in names and "{pk}" not in names
    assert "snapshot" in past("cat", items + "/README").text
    assert times_of(past("ls", "/tables")) == sorted(each["TableName"] for each in snapshots.sample_tables())


def test_a_table_that_no_file_has(past):
    assert "prod-Nothing" in past("ls", "/tables/prod-Nothing", expect=3).stderr
    result = past("cat", "/staging/shops/cool-store.myshopify.com/SETTINGS", expect=1)
    assert "staging-ShopifyEntitiesTable" in result.stderr


MAP = """{
  "environments": {
    "prod": { "prefix": "prod-", "snapshot": "orders.ddb" },
    "live": { "prefix": "prod-", "profile": "controller", "region": "us-east-1", "snapshots": "." }
  },
  "tables": { "shops": {
    "table": "ShopifyEntitiesTable",
    "records": { "settings": { "pk": "SHOP#{domain}", "sk": "SETTINGS" } },
    "paths": { "{domain}/": { "list": "*" } } } }
}"""


@pytest.fixture
def map_file(file):
    made = file.parent / "past.map.json"
    made.write_text(MAP, "utf-8")
    return made


def test_an_environment_of_the_map_may_be_a_snapshot(ddbfs, map_file, home, proxy):
    run = lambda *words, **options: ddbfs("--map", map_file, *words, **options)  # noqa: E731
    assert plan_of(run("cat", SETTINGS).stdout) == "growth"
    assert plan_of(run("cat", at("2026-11-02")).stdout) == "growth-trial"
    assert not proxy.ops
    assert plan_of(run("cat", at("2026-11-02", f"/live/{snapshots.SETTINGS}").replace("/live/", "/live@at/2026-11-02/")).stdout) == "growth-trial"
    assert not proxy.ops
    result = run("diff", f"/live@at/2026-11-01/{snapshots.SETTINGS}", f"/live/{snapshots.SETTINGS}", expect=1)
    assert "starter" in result.text and proxy.ops


def test_commands_about_a_map_send_nothing_to_a_snapshot(ddbfs, map_file, proxy):
    run = lambda *words, **options: ddbfs(*words, env=NOWHERE, **options)  # noqa: E731
    shown = json.loads(run("config", "--json", "--env", "prod", map_file).stdout)
    assert shown["snapshot"]["value"].endswith("/orders.ddb") and "region" not in shown
    assert "no permission is needed" in run("policy", "--env", "prod", map_file, expect=1).stderr
    assert "2 tables fit the map" in run("--snapshot", map_file.parent / "orders.ddb", "check", map_file).text
    drafted = run("--snapshot", map_file.parent / "orders.ddb", "map", "--sample", "200", "prod-ShopifyEntitiesTable")
    assert '"snapshot": "' in drafted.text
    assert not proxy.ops


WRONG_MAPS = [
    ('"snapshot": "a.ddb", "region": "us-east-1"', 'an environment with "snapshot" has no "region"'),
    ('"snapshot": "a.ddb", "snapshots": "b"', 'an environment with "snapshot" has no "snapshots"'),
]


@rows("members, message", WRONG_MAPS)
def test_a_map_that_is_wrong_about_snapshots(ddbfs, tmp_path, members, message):
    wrong = tmp_path / "wrong.map.json"
    wrong.write_text(MAP.replace('"snapshot": "orders.ddb"', members), "utf-8")
    assert message in ddbfs("check", "--offline", wrong, expect=1).stderr


def test_a_file_that_is_missing_is_an_error_with_its_name(ddbfs, proxy):
    result = ddbfs("--snapshot", "/no/such.ddb", "cat", SETTINGS, expect=1)
    assert "/no/such.ddb" in result.stderr and not proxy.ops


def test_without_a_map_a_file_that_cannot_be_read_is_the_error(ddbfs, file, tmp_path, proxy):
    """Not that there is no map, which the file may contain."""
    cut = tmp_path / "cut.ddb"
    cut.write_bytes(file.read_bytes()[:9000])
    for name, why in ((tmp_path / "none.ddb", "No such file"), (tmp_path / "none", "No such file"), (cut, "is damaged")):
        for path in ("/", "/prod", "/tables"):
            for words, env in ((("--snapshot", name), {}), ((), {"DDBFS_SNAPSHOT": name})):
                env = {"DDBFS_MAP": None, "XDG_CONFIG_HOME": tmp_path, **NOWHERE, **env}
                message = ddbfs(*words, "ls", path, env=env, expect=1).stderr
                assert str(name) in message and why in message and "without a map" not in message
    assert not proxy.ops


def test_a_folder_is_all_snapshots_in_it(ddbfs, file, proxy):
    (file.parent / "notes.txt").write_text("no snapshot")
    assert times_of(ddbfs("--snapshot", file.parent, "ls", "/prod@at")) == [THIRD, SECOND, FIRST]


def test_snapshots_given_together_are_one_source(ddbfs, tmp_path):
    tables, states = snapshots.sample_tables(), snapshots.sample_states()
    files = [snapshots.write(tmp_path / f"{i}.ddb", tables, [state]) for i, state in enumerate(states)]
    words = [word for each in files for word in ("--snapshot", each)]
    assert times_of(ddbfs(*words, "ls", "/prod@at")) == [THIRD, SECOND, FIRST]
    assert times_of(ddbfs(*words, "ls", SETTINGS + "@history")) == [THIRD, SECOND, FIRST]
    assert plan_of(ddbfs(*words, "cat", at(SECOND)).stdout) == "growth-trial"
    assert plan_of(ddbfs(*words, "cat", SETTINGS).stdout) == "growth"


def test_no_file_of_aws_is_opened(ddbfs, file, home, proxy):
    """A pipe without a writer holds whoever opens it."""
    pipe = home.folder / "pipe"
    os.mkfifo(pipe)
    blocked = {"AWS_CONFIG_FILE": pipe, "AWS_SHARED_CREDENTIALS_FILE": pipe, "DDBFS_SNAPSHOT": file}
    for words in (["cat", SETTINGS], ["ls", "/prod@at"], ["explain", at(SECOND)], ["config"]):
        ddbfs(*words, env=blocked, timeout_s=20)
    assert not proxy.ops


def test_a_history_of_many_moments(ddbfs, tmp_path, proxy):
    table = snapshots.simple_table("Things", "id")
    times = [f"2026-11-{day:02d}T{hour:02d}:00:00Z" for day in range(1, 9) for hour in range(24)]
    states = [(time, {"Things": [{"id": {"S": "a"}, "n": {"N": str(i // 2)}}]}) for i, time in enumerate(times)]
    many = snapshots.write(tmp_path / "many.ddb", [table], states)
    found = times_of(ddbfs("--snapshot", many, "ls", "/tables/Things/items/a@history"))
    assert found == times[::2][::-1] and len(found) == 96
    one = ddbfs("--snapshot", many, "cat", f"/tables@at/{times[77]}/Things/items/a@/n")
    assert one.text == "38\n"


def test_keys_are_listed_once_over_many_pages(ddbfs, tmp_path, proxy):
    table = snapshots.simple_table("Events", "at:N", "id")
    items = [{"at": {"N": str(n)}, "id": {"S": f"{i:03d}"}} for n in range(-700, 700) for i in range(3)]
    file = snapshots.write(tmp_path / "events.ddb", [table], [(FIRST, {"Events": items})])
    names = times_of(ddbfs("--snapshot", file, "ls", "/tables/Events/items"))
    assert names == ["README", *map(str, range(-700, 700))]
    assert times_of(ddbfs("--snapshot", file, "ls", "/tables/Events/items/-7")) == ["000", "001", "002"]
    assert not proxy.ops


def test_diff_of_the_items_of_a_table_at_two_times(past):
    path = "{}/prod-ShopifyEntitiesTable/items"
    result = past("diff", path.format(f"/tables@at/{FIRST}"), path.format(f"/tables@at/{SECOND}"), expect=1)
    assert "growth-trial" in result.text and "USER#1" in result.text and "API_KEY" not in result.text
    past("diff", path.format(f"/tables@at/{THIRD}"), path.format("/tables"), expect=0)


def test_a_change_of_a_secret_is_a_version_for_those_who_see_it(ddbfs, tmp_path, proxy):
    table = snapshots.sample_tables()[2]
    assert table["TableName"] == "prod-ShopifyEntitiesTable"
    item = {"pk": {"S": "SHOP#a"}, "sk": {"S": "API_KEY"}, "api_key": {"S": "one"}}
    states = [(FIRST, {table["TableName"]: [item]}), (SECOND, {table["TableName"]: [{**item, "api_key": {"S": "two"}}]})]
    words = ["--snapshot", snapshots.write(tmp_path / "secret.ddb", [table], states)]
    path = "/prod/shops/a/API_KEY@history"
    assert times_of(ddbfs(*words, "ls", path)) == [FIRST]
    assert times_of(ddbfs(*words, "--show-secrets", "ls", path)) == [SECOND, FIRST]


def test_diff_of_versions_notices_a_secret(ddbfs, tmp_path, proxy):
    key = "/prod/shops/cool-store.myshopify.com/API_KEY"
    states = snapshots.sample_states()[:2]
    for number, (_, tables) in enumerate(states):
        items = tables["prod-ShopifyEntitiesTable"]
        tables["prod-ShopifyEntitiesTable"] = [
            {**item, "api_key": {"S": f"key{number}"}} if item["sk"]["S"] == "API_KEY" else item for item in items
        ]
    file = snapshots.write(tmp_path / "orders.ddb", snapshots.sample_tables(), states)
    run = lambda *words: ddbfs("--snapshot", file, *words, f"{key}@history/{FIRST}", key, expect=1)  # noqa: E731
    hidden = run("diff").text
    assert "differ in api_key, a secret" in hidden and f"{key}@history/{FIRST}" in hidden and "key0" not in hidden
    shown = run("diff", "--show-secrets").text
    assert '-  "api_key": "key0",' in shown and '+  "api_key": "key1",' in shown
    assert json.loads(run("diff", "--json").stdout)["attribute"] == ["api_key"]


def test_a_recording_among_snapshots_is_an_error(ddbfs, file, proxy):
    with sqlite3.connect(file) as database:
        database.execute("UPDATE about SET value = 'recording' WHERE name = 'kind'")
        database.execute("DELETE FROM moments")
    result = ddbfs("--snapshot", file.parent, "ls", "/tables", expect=1)
    assert "orders.ddb is a recording, which is read alone" in result.stderr and not result.stdout


def test_a_snapshot_without_a_moment_names_no_time(ddbfs, file, proxy):
    with sqlite3.connect(file) as database:
        database.execute("DELETE FROM moments")
    assert "/prod@at: the snapshots have no state of a table;" in ddbfs("--snapshot", file, "ls", "/prod@at", expect=3).stderr


def test_the_links_on_the_way_to_a_snapshot_have_their_cost(ddbfs, file, tmp_path):
    example = (places.EXAMPLES / "ecommerce.map.json").read_text("utf-8")
    made = tmp_path / "past.map.json"
    made.write_text(example.replace('"prefix": "prod-",', '"prefix": "prod-", "snapshots": ".",'), "utf-8")
    path = JOB + "@links/shop/SETTINGS@history"
    live = ddbfs("--map", made, "explain", path).text
    assert "cost   2 requests" in live and "for the links on the way" in live and "orders.ddb" in live
    past = ddbfs("--map", made, "explain", at(SECOND, path)).text
    assert "cost   no request, 0 RCU: a snapshot is read" in past


def test_a_bad_file_in_a_folder_is_an_error_of_the_past_alone(ddbfs, map_file, proxy):
    (map_file.parent / "broken.ddb").write_bytes(b"x" * 4096)
    assert plan_of(ddbfs("--map", map_file, "cat", f"/live/{snapshots.SETTINGS}").stdout) == "growth"
    result = ddbfs("--map", map_file, "ls", "/live@at", expect=1)
    assert "broken.ddb" in result.stderr
    assert "broken.ddb" in ddbfs("check", map_file, expect=1).stderr


def test_a_file_without_a_moment_of_a_table(ddbfs, tmp_path, proxy):
    """At the first moment the files have one table, and at the second another one."""
    one, other = snapshots.simple_table("One", "id"), snapshots.simple_table("Other", "id")
    item = {"id": {"S": "a"}}
    first = snapshots.write(tmp_path / "1.ddb", [one], [(FIRST, {"One": [item]})])
    second = snapshots.write(tmp_path / "2.ddb", [other], [(SECOND, {"Other": [item]})])
    words = ["--snapshot", first, "--snapshot", second]
    assert times_of(ddbfs(*words, "ls", "/tables@at")) == [SECOND, FIRST]
    assert times_of(ddbfs(*words, "ls", f"/tables@at/{SECOND}")) == ["One", "Other"]
    assert times_of(ddbfs(*words, "ls", f"/tables@at/{FIRST}")) == ["One"]
    assert times_of(ddbfs(*words, "ls", "/tables/Other/items/a@history")) == [SECOND]
    assert times_of(ddbfs(*words, "ls", "/tables/One/items/a@history")) == [FIRST]
    ddbfs(*words, "ls", f"/tables@at/{FIRST}/Other", expect=3)


def test_a_listed_time_is_exactly_that_moment(ddbfs, tmp_path, proxy):
    times = ["2026-11-02T06:00:00Z", "2026-11-02T06:00:00.250Z", "2026-11-02T06:00:00.500Z"]
    states = [(time, {"Things": [{"id": {"S": "a"}, "n": {"N": str(i)}}]}) for i, time in enumerate(times)]
    file = snapshots.write(tmp_path / "quick.ddb", [snapshots.simple_table("Things", "id")], states)
    run = lambda path: ddbfs("--snapshot", file, "cat", path).text.strip()  # noqa: E731
    assert times_of(ddbfs("--snapshot", file, "ls", "/tables@at")) == times[::-1]
    assert [run(f"/tables@at/{time}/Things/items/a@/n") for time in times] == ["0", "1", "2"]
    assert run("/tables@at/2026-11-02T06:00:00/Things/items/a@/n") == "2"
    assert times_of(ddbfs("--snapshot", file, "ls", "/tables/Things/items/a@history")) == times[::-1]
    assert [json.loads(run(f"/tables/Things/items/a@history/{time}"))["n"] for time in times] == [0, 1, 2]


def test_a_map_of_snapshots_alone_has_no_tables_of_the_service(ddbfs, map_file, proxy):
    text = MAP.replace(MAP[MAP.index(',\n    "live"') : MAP.index("\n  },")], "")
    map_file.write_text(text, "utf-8")
    run = lambda *words, **options: ddbfs("--map", map_file, *words, env=NOWHERE, **options)  # noqa: E731
    assert times_of(run("ls", "/")) == ["prod"]
    assert "/ENVIRONMENT/tables" in run("ls", "/tables", expect=3).stderr
    assert "tables" not in run("cat", "/README").text.split("Each directory")[0]
    assert "prod-ShopifyEntitiesTable" in times_of(run("ls", "/prod/tables"))
    assert not proxy.ops


def in_order(typed):
    """TYPED with its sets sorted."""
    if isinstance(typed, dict):
        return {name: sorted(each) if name in ("SS", "NS", "BS") else in_order(each) for name, each in typed.items()}
    return [in_order(each) for each in typed] if isinstance(typed, list) else typed


@pytest.mark.parametrize("seed", [3, 11])
def test_imported_exports_are_the_history_of_each_item(ddbfs, tmp_path, proxy, seed):
    """A full export and increments of a random history: each state, and each version, is that of a replay."""
    chance = random.Random(seed)
    history = exports.History(chance, keys=5)
    moments = [exports.START + 3600 * hour for hour in range(1, 6)]
    for second in range(0, 5 * 3600, 400):
        history.write(exports.START + second)
    file, keys = tmp_path / "orders.ddb", ["--keys", "pk:S,sk:N"]
    full = exports.full(tmp_path / "full", list(history.state(moments[0]).values()), moments[0], chance=chance)
    windows = list(zip(moments, moments[1:]))
    steps = [
        exports.incremental(tmp_path / f"window-{at}", history.changes(since, until), since, until, number=at + 1, chance=chance)
        for at, (since, until) in enumerate(windows)
    ]
    ddbfs("import", *keys, full, file)
    ddbfs("import", "--onto", file, *steps)
    times = [exports.iso(each) for each in moments]
    run = lambda *words, **options: ddbfs("--snapshot", file, *words, **options)  # noqa: E731
    assert times_of(run("ls", "/tables@at")) == times[::-1]
    states = [history.state(each) for each in moments]
    for key in map(json.dumps, history.keys):
        (pk, sk), now = json.loads(key), [state.get(key) for state in states]
        path = f"/tables/Orders/items/{pk['S']}/{sk['N']}@history"
        changed = [at for at, item in enumerate(now) if item != (now[at - 1] if at else None)]
        if not changed:
            run("ls", path, expect=3)
            continue
        assert times_of(run("ls", path)) == [times[at] for at in reversed(changed)], (seed, key)
        for at in changed:
            typed = run("cat", f"{path}/{times[at]}@typed").stdout
            assert in_order(json.loads(typed) if typed else None) == in_order(now[at]), (seed, key, times[at])
    assert not proxy.ops


def test_the_skill_names_the_past_of_a_map_that_has_one(ddbfs, map_file):
    text = ddbfs("--map", map_file, "skill").text
    assert "`/prod`, a snapshot: reading costs nothing" in text and "`/ENVIRONMENT@at/2026-11-02/…`" in text
    assert "@at/" not in ddbfs("skill").text
