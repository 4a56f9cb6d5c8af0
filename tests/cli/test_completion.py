"""Completion: what ddbfs says may stand at the cursor, and what that costs; and the three shells, as
somebody types in them."""

import os
import re
import shutil
import subprocess

import pytest

from harness import places, prompt, runner, snapshots
from harness.rows import rows

SHOP = "/prod/shops/cool-store.myshopify.com"
INDEX = "kl7a9h55-shopify-e513a8-4"
BY_INDEX = f"/prod/jobs/by-index/shopify/{INDEX}"


@pytest.fixture
def answer(home):
    """answer("fish", "cat", "/pr") -> what ddbfs says to that shell."""
    ddbfs = runner.Ddbfs(home)
    return lambda shell, *words, **how: ddbfs("completion", shell, "--", *words, **how)


@pytest.fixture
def complete(answer):
    """complete("cat", "/pr") -> the words that may stand in place of the last one."""

    def ask(*words, kind=None, **how):
        result = answer("fish", *words, **how)
        assert result.stderr == ""
        first, *lines = result.text.splitlines()
        assert kind in (None, first)
        return [line.split("\t")[0] for line in lines]

    return ask


# What may stand there


def test_commands_are_those_of_the_help(ddbfs, complete):
    table = ddbfs("--help").text.partition("\ncommands")[2].partition("\noptions")[0]
    commands = re.findall(r"^  ([a-z]+)", table, re.M)
    assert complete("") == complete("--map", "x", "") == commands and "completion" in commands
    assert complete("co") == ["config", "completion"]


def test_a_command_comes_with_what_it_does(answer):
    assert "cat\tprint files\n" in answer("zsh", "c").text


def test_options_are_those_of_the_command(ddbfs, complete):
    for command in complete(""):
        told = re.findall(r"^  (?:-(\w))?(?:, )?(?:--([\w-]+))?", ddbfs(command, "--help").text, re.M)
        wanted = {f"--{name}" if name else f"-{letter}" for letter, name in told if letter or name}
        assert wanted <= set(complete(command, "-")), command
    assert complete("ls", "--sh") == ["--show-secrets"]
    assert complete("cat", "--ledger") == []


def test_values_that_the_table_knows(complete):
    assert complete("cat", "--format", "") == ["pretty", "compact"]
    assert complete("cat", "--format=c") == ["--format=compact"]
    assert complete("mount", "--hedge", "n") == ["no"]
    assert complete("config", "--env", "") == ["prod", "staging", "dev-{branch}"]
    assert complete("help", "ex") == ["explain"]
    assert complete("completion", "") == ["bash", "zsh", "fish"]
    assert complete("cat", "--timeout", "") == []


def test_files_are_left_to_the_shell(complete):
    assert complete("--map", "", kind="files") == complete("cat", "--map=x", kind="files") == []
    assert complete("refresh", "/m", kind="files") == complete("check", "", kind="files") == []
    assert complete("mount", "", kind="folders") == complete("umount", "", kind="folders") == []
    assert complete("cat", "/pr", kind="paths") == ["/prod/"]


def test_behind_two_dashes_there_are_no_options(complete, cost):
    assert complete("cat", "--", "-") == []
    assert cost() == []


# Paths, and what they cost


def test_what_the_map_tells_costs_nothing(complete, cost):
    assert complete("cat", "/prod/") == ["/prod/jobs/", "/prod/index-settings/", "/prod/shops/", "/prod/tables/"]
    assert complete("ls", "/prod/jobs/by-i") == ["/prod/jobs/by-id/", "/prod/jobs/by-index/"]
    assert complete("ls", "/prod/jobs/by-index/") == [f"/prod/jobs/by-index/{each}" for each in ("shopify/", "ecom/")]
    assert complete("cat", "prod/sh") == ["prod/shops/"]
    assert complete("cat", "/p") == ["/prod/"]
    assert cost() == []


def test_what_cannot_be_listed_costs_nothing(complete, cost):
    assert complete("cat", "/prod/jobs/by-id/") == ["/prod/jobs/by-id/README", "/prod/jobs/by-id/{job_id}/"]
    assert complete("cat", "/prod/jobs/by-id/1f3c") == []
    assert complete("cat", f"/prod/tables/prod-ShopifyEntitiesTable/items/SH") == []
    assert cost() == ["DescribeTable"]


def test_environments_of_branches_are_one_request(complete, cost):
    assert "/dev-search-v2/" in complete("ls", "/d") and cost() == ["ListTables"]


def test_a_listing_is_one_page_of_a_hundred(complete, proxy):
    names = complete("cat", f"{SHOP}/")
    assert f"{SHOP}/SETTINGS" in names and f"{SHOP}/access-token" in names
    (asked,) = proxy.requests
    assert asked.op == "Query" and asked.body["Limit"] == 100
    assert complete("cat", f"{SHOP}/S") == [f"{SHOP}/SETTINGS"]


def test_a_beginning_of_the_sort_key_is_asked_for(complete, proxy, ls):
    day = f"{BY_INDEX}/all/2026-04-16T"
    names = complete("cat", day)
    (asked,) = proxy.requests
    assert "begins_with" in asked.body["KeyConditionExpression"]
    assert {"S": "JOB#2026-04-16T"} in asked.body["ExpressionAttributeValues"].values()
    assert sorted(names) == sorted(f"{BY_INDEX}/all/{name}" for name in ls(f"{BY_INDEX}/all") if name.startswith("2026-04-16T"))
    assert names


def test_the_newest_hundred_are_those_that_the_directory_shows(complete, ls):
    names = [f"{BY_INDEX}/latest/{name}" for name in ls(f"{BY_INDEX}/latest")]
    month = f"{BY_INDEX}/latest/2026-04"
    shown = [name for name in names if name.startswith(month)]
    assert shown and complete("cat", month)[: len(shown)] == shown


def test_a_range_stays_the_range(complete, ls):
    folder = f"{BY_INDEX}/on/2026-04-16"
    assert complete("cat", f"{folder}/2026") == [f"{folder}/{name}" for name in ls(folder)] != []


def test_more_than_are_told_says_so(answer, complete, things):
    """What has been typed is among the words, so that they have no more than that in common."""
    things.put_many((f"n{number:03d}", {}) for number in range(120))
    words = complete("cat", "/any/things/box/n", env=things.env)
    assert words == [f"/any/things/box/n{number:03d}" for number in range(100)] + ["/any/things/box/n"]
    assert len(complete("cat", "/any/things/box/n1", env=things.env)) == 20
    told = answer("fish", "cat", "/any/things/box/n", env=things.env).text
    assert told.endswith("/any/things/box/n\tand more; type more of the name\n")


def test_names_with_escapes_complete(complete, things, server):
    for name in ("a b", "a:b", "a@b", "a#b", "a%b", "a/b", ".a"):
        things.put(name)
    wanted = {"a b", "a:b", "a@b", "a#b", "a%25b", "a%2Fb"}
    assert set(complete("cat", "/any/things/box/a", env=things.env)) == {f"/any/things/box/{each}" for each in wanted}
    if server.name == "dynamodb-local":  # whose begins_with takes % for any text
        wanted.remove("a%25b")
    for each in wanted:
        path = f"/any/things/box/{each}"
        assert complete("cat", path[:-1], env=things.env)[0] == path
    assert complete("cat", "/any/things/box/%2", env=things.env) == ["/any/things/box/%2Ea"]


def test_a_suffix_is_part_of_names(complete):
    assert complete("--suffix", ".json", "cat", f"{SHOP}/SETTINGS.j") == [f"{SHOP}/SETTINGS.json"]


def test_companions_complete_behind_the_at(complete, cost):
    record = f"{SHOP}/SETTINGS"
    assert [each for each in complete("cat", f"{record}@")] == [f"{record}@{each}" for each in ("typed", "info", "links/", "/")]
    cost()
    assert complete("cat", f"{SHOP}@js") == [f"{SHOP}@jsonl"]
    assert complete("cat", f"{SHOP}@in") == [f"{SHOP}@info"]
    assert cost() == []  # shops can't be listed, and a companion needs no look


def test_attributes_and_links_are_one_record(complete, cost):
    record = f"{SHOP}/SETTINGS"
    assert complete("cat", f"{record}@/act") == [f"{record}@/active_index"]
    assert cost() == ["GetItem"]
    assert complete("cat", f"{record}@links/") == [f"{record}@links/settings"]
    assert cost() == ["GetItem"]


def test_tables_that_no_map_names(complete, cost):
    assert complete("cat", "/prod/tables/prod-Shop") == ["/prod/tables/prod-ShopifyEntitiesTable/"]
    assert cost() == ["ListTables"]
    below = "/prod/tables/prod-ShopifyEntitiesTable/items/SHOP#cool-store.myshopify.com/"
    assert complete("cat", f"{below}SET") == [f"{below}SETTINGS"]
    assert sorted(cost()) == ["DescribeTable", "Query"]


def test_no_option_makes_it_scan(complete, cost):
    path = "/prod/tables/prod-ShopifyEntitiesTable/items/"
    assert complete("--allow-scan", "ls", path) == [f"{path}README", f"{path}{{pk}}/"]
    assert cost() == ["DescribeTable"]


# Nothing is said of failures


@rows(
    "words",
    [["cat", "/nowhere/x"], ["no-such-command", ""], ["cat", "--no-such-option", "/prod/"], ["cat", "/prod/jobs/by-id/1/2/"],
     ["--map", "/no/such/map", "cat", "/"], ["cat", "/prod/\n"], ["--profile", "nobody", "cat", f"{SHOP}/S"], ["cat", "@"]],
    ids=str,
)  # fmt: skip
def test_silence(complete, words):
    assert complete(*words, env={"AWS_PROFILE": None}) == []


def test_a_failure_leaves_what_the_map_tells(complete, proxy):
    proxy.fault("denied", op="Query", times=None)
    assert complete("cat", f"{SHOP}/") == [f"{SHOP}/access-token", f"{SHOP}/"]


def test_a_late_answer_leaves_what_the_map_tells(complete, proxy):
    proxy.fault("delay", op="Query", times=None, seconds=20)
    assert complete("cat", f"{SHOP}/") == [f"{SHOP}/access-token", f"{SHOP}/"]


def test_usage(ddbfs):
    for words in ([], ["csh"]):
        assert "bash, zsh or fish" in ddbfs("completion", *words, expect=2).stderr


# The shells, as somebody types in them


# Asks the real one what completes a line, and prints the line itself.
PRINTS = """\
#!/bin/sh
[ "$1" != completion ] || exec "%s" "$@"
printf '[%%s]' "$@"; echo .
"""
LOADS = {
    "bash": "source <(ddbfs completion bash)",
    "zsh": "source <(ddbfs completion zsh)",
    "fish": "ddbfs completion fish | source",
}


@pytest.fixture(params=LOADS)
def shell(request):
    if not shutil.which(request.param):
        pytest.skip(f"{request.param} is not installed")
    return request.param


@pytest.fixture
def typed(shell, home, tmp_path):
    """typed("ddbfs cat /pr\\t") -> the words that ddbfs is then called with."""
    binary = places.program("DDBFS", "build-asan/fs/ddbfs", "build/fs/ddbfs")
    prompt.write_program(home, "ddbfs", PRINTS % binary)
    with prompt.Session(shell, home, tmp_path / "here", LOADS[shell]) as session:
        yield session


def test_a_shell_completes_commands_options_and_values(typed):
    assert typed("ddbfs expl\tx") == ["explain", "x"]
    assert typed("ddbfs ls --show-s\tx") == ["ls", "--show-secrets", "x"]
    assert typed("ddbfs --format com\tcat") == ["--format", "compact", "cat"]
    assert typed("ddbfs --format=com\tcat") == ["--format=compact", "cat"]


def test_a_shell_completes_paths_step_by_step(typed):
    assert typed("ddbfs cat /pr\tsho\tcool-store.myshopify.com/SETT\tx") == ["cat", f"{SHOP}/SETTINGS", "x"]
    assert typed(f"ddbfs cat {SHOP}/SETTINGS@/act\tx") == ["cat", f"{SHOP}/SETTINGS@/active_index", "x"]
    assert typed(f"ddbfs cat {SHOP}/SETTINGS@ty\tx") == ["cat", f"{SHOP}/SETTINGS@typed", "x"]
    assert typed(f"ddbfs cat {SHOP}/SETTINGS@l\tx") == ["cat", f"{SHOP}/SETTINGS@links/x"]


NAMES = ["a b", "a:b", "a@b", "a#b", "a%25b", "a'b", 'a"b', "a$b", "a=b", "a;b*", "a~b", "é:ü", "<a>!b"]


def test_a_shell_completes_any_name(typed, things):
    for number, name in enumerate(NAMES):
        things.put(name.replace("%25", "%"), box=f"box{number}")
    typed.start(things.env)
    for number, name in enumerate(NAMES):
        path = f"/any/things/box{number}/{name}"
        for quote in {"", "'", '"'} - set(name):
            typed_before = path[: -len(name) or None] + (name[:1] if name[0] != "<" or quote else "")
            assert typed(f"ddbfs cat {quote}{typed_before}\tx") == ["cat", path, "x"]


def test_a_shell_completes_behind_what_it_takes_for_an_end(typed, things):
    begun = ["a:", "a@-", "a=", "a:b", "a@b:", "a=b@c"]
    for number, name in enumerate(begun):
        things.put(f"{name}-rest", box=f"box{number}")
    typed.start(things.env)
    for number, name in enumerate(begun):
        path = f"/any/things/box{number}/{name}"
        assert typed(f"ddbfs cat {path}\tx") == ["cat", f"{path}-rest", "x"]


def test_a_shell_leaves_a_path_alone_that_may_not_be_the_only_one(typed, things):
    """The first hundred names go on alike, and others do not."""
    things.put_many((f"name-{number:03d}", {}) for number in range(101))
    things.put("nap")
    typed.start(things.env)
    assert typed("ddbfs cat /any/things/box/n\tx") == ["cat", "/any/things/box/nx"]


def test_a_shell_completes_files_where_files_are_meant(typed):
    (typed.folder / "own.map.json").write_text("{}")
    (typed.folder / "mountpoint").mkdir()
    assert typed("ddbfs --map ow\tcat") == ["--map", "own.map.json", "cat"]
    assert typed("ddbfs --map=ow\tcat") == ["--map=own.map.json", "cat"]
    assert typed("ddbfs check ow\tx") == ["check", "own.map.json", "x"]
    assert typed("ddbfs mount m\tx") == ["mount", "mountpoint/x"]


def test_a_folder_of_that_name_does_not_matter(typed):
    """A shell that takes what it completed for a file would add a slash."""
    for name in ("cat", "@typed", "pretty"):
        (typed.folder / name).mkdir()
    assert typed("ddbfs ca\tx") == ["cat", "x"]
    assert typed("ddbfs --format pre\tx") == ["--format", "pretty", "x"]
    assert typed(f"ddbfs cat {SHOP}/SETTINGS@ty\tx") == ["cat", f"{SHOP}/SETTINGS@typed", "x"]


def test_a_shell_stays_silent_where_there_is_nothing(typed):
    assert typed("ddbfs cat /nowhere/x\t") == ["cat", "/nowhere/x"]
    assert typed("ddbfs --map /nowhere cat /prod/j\t") == ["--map", "/nowhere", "cat", "/prod/j"]
    assert typed("true; A=b ddbfs cat /pr\tx | cat") == ["cat", "/prod/x"]


def test_the_past_is_completed(complete, tmp_path, cost):
    file = snapshots.sample(tmp_path / "orders.ddb")
    first, second, third = (f"/prod@at/{each}/" for each in snapshots.MOMENTS)
    words = ["--snapshot", str(file), "ls"]
    assert complete(*words, "/prod@a") == ["/prod@at/"]
    assert complete(*words, "/prod@at/") == [third, second, first]
    settings = "/prod/shops/cool-store.myshopify.com/SETTINGS@history"
    assert complete(*words, settings[:-4]) == [settings + "/"]
    assert complete(*words, settings + "/") == [f"{settings}/{each}" for each in reversed(snapshots.MOMENTS)]
    assert "/tables/prod-ShopifyEntitiesTable/items/SHOP#cool-store.myshopify.com/" in complete(
        *words, "/tables/prod-ShopifyEntitiesTable/items/SHOP"
    )
    assert cost() == []
