"""Paths that are typed almost right: the error, or the empty listing, says what was meant."""

from harness.rows import rows

SHOP = "/prod/jobs/by-index/shopify/kl7a9h55-shopify-e513a8-4"
ID = "/prod/jobs/by-id/1f3c9a52-7b1e-4c57-9d0a-2e6f4b8c1d90"
OF_LISTINGS = "@count, @summary, @csv:A,B, @table:A,B, @jsonl, @sqlite, @info"
OF_RECORDS = "@/A, @links/L, @info, @typed"


@rows(
    "path, param",
    [("/prod/shops/by-acount", "domain"), ("/prod/index-settings/by-acount", "account")],
)
def test_an_empty_listing_of_a_misspelt_step_says_which_one_was_meant(ddbfs, path, param):
    result = ddbfs("ls", path)
    assert result.text == ""
    told = f'"by-acount" is taken for {{{param}}} (did you mean "by-account"?)'
    assert result.stderr.rstrip() == f"ddbfs: warning: {path}: no item is listed, and {told}"
    assert f"note   {told}" in ddbfs("explain", path).text


@rows("path", ["/prod/shops/nobody.example", "/prod/shops/by%2Daccount"])
def test_a_value_that_is_no_slip_is_left_alone(ddbfs, path):
    result = ddbfs("ls", path)
    assert (result.text, result.stderr) == ("", "")


@rows("ending", ["@typed", "@links", "@"])
def test_a_listing_has_other_companions_than_a_record(ddbfs, ending):
    told = ddbfs("ls", f"{SHOP}/all{ending}", expect=3).stderr
    assert f"only a record has {ending}; this is a listing of records, which has {OF_LISTINGS}" in told


def test_a_record_and_a_plain_directory_say_what_they_are(ddbfs):
    told = ddbfs("cat", f"{ID}@csv", expect=3).stderr
    assert f"only a listing of records has @csv; this is a record, which has {OF_RECORDS}" in told
    told = ddbfs("cat", f"/prod/jobs/by-id@info", expect=3).stderr
    assert "only a listing or a record has @info; this is a plain directory" in told


@rows("wrong, meant", {"@jsnl": "@jsonl", "@json": "@jsonl", "@CSV": "@csv"}.items())
def test_a_misspelt_companion_of_a_listing_says_which_one_was_meant(ddbfs, wrong, meant):
    told = ddbfs("cat", f"{SHOP}/all{wrong}", expect=3).stderr
    assert f'"all" has no "{wrong}" (did you mean "{meant}"?); a listing of records has {OF_LISTINGS}' in told
    told = ddbfs("ls", f"/prod/shops/nobody.example{wrong}").stderr
    assert "no item is listed" in told and f'(did you mean "{meant}"?)' in told


def test_a_miss_says_how_an_attribute_is_typed(ddbfs):
    told = ddbfs("cat", f"{ID}@status", expect=3).stderr
    assert f"an attribute is typed @/status, companions are {OF_RECORDS}" in told
    assert '(did you mean "@typed"?)' in ddbfs("cat", f"{ID}@tpyed", expect=3).stderr
    told = ddbfs("--suffix", ".json", "cat", f"{ID}.json@status", expect=3).stderr
    assert f'has no "@status"; a record has {OF_RECORDS}' in told


def test_a_miss_of_an_address_says_nothing_of_companions(ddbfs):
    assert "companions" not in ddbfs("cat", "/prod/jobs/by-id/ann@example.com", expect=3).stderr


@rows("name", ["on/@count", "on/@", "on/@csv:sk", "between/2026-04-17..@count"])
def test_a_companion_of_nothing_lacks_a_value(ddbfs, name):
    ending = name[name.index("@") :].split(":")[0]
    for command in ("cat", "ls"):
        told = ddbfs(command, f"{SHOP}/{name}", expect=1).stderr
        assert f"a value is missing before {ending}; a value with that text is typed %40{ending[1:]}" in told


def test_keys_that_are_called_like_a_companion_are_listed_escaped_and_open(ddbfs, ls, things):
    keys = ["@", "@count", "@csv:a", "@typed", "x@count"]
    for key in keys:
        things.put(key, note={"S": key})
    names = ls("/any/things/box", env=things.env)
    assert sorted(names) == ["%40", "%40count", "%40csv:a", "%40typed", "x%40count"]
    for name in names:
        assert name.replace("%40", "@") in ddbfs("cat", f"/any/things/box/{name}@/note", env=things.env).text
    assert "is missing before @count" in ddbfs("cat", "/any/things/box/@count", env=things.env, expect=1).stderr


@rows("path", ["/prod/jobs", SHOP])
def test_a_directory_that_lists_no_records_says_which_below_it_do(ddbfs, path):
    told = ddbfs("ls", "--count", path, expect=1).stderr
    assert "is no listing of items; directories below it are: " in told
    assert "latest/, " in told and "between/{from}..{to}/" in told


def test_what_has_no_listing_below_it_says_so(ddbfs):
    told = ddbfs("ls", "--count", "/prod/jobs/by-id", expect=1).stderr
    assert "is no listing of items, nor is anything below it: an item opens here by its key" in told
    told = ddbfs("cat", "--limit", "3", ID, expect=1).stderr
    assert "but one file; use counts, limits and filters with a directory that lists items" in told
    assert "use a directory of one of its tables" in ddbfs("ls", "--count", "/prod", expect=1).stderr
