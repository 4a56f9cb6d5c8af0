"""LIST@info reports what each form of a listing costs, and forms that are printed together are read once."""

import json

SHOP = "kl7a9h55-shopify-e513a8-4"
FULL = f"/prod/jobs/by-index/shopify/{SHOP}/all"  # the Query has whole records
INDEX = f"/prod/jobs/by-status/{SHOP}/COMPLETED"  # records are read again by their keys
FORMS = ["names", "@jsonl", "@csv", "@table", "@count", "@summary", "@sqlite"]


def consumed(proxy):
    return len(proxy.requests), sum(record.units for record in proxy.requests)


def test_forms_that_are_printed_together_are_read_once(ddbfs, proxy):
    wrong = []
    for path in (FULL, INDEX):
        once = {}
        others = (["@jsonl", "@info"], ["@info", "@jsonl"], ["@csv", "@jsonl"], ["@csv", "@summary", "@info"])
        for words in (["@jsonl"], *others, ["@info", "@csv", "@count"]):
            proxy.clear()
            ddbfs("cat", *[path + word for word in words])
            once.setdefault("took", consumed(proxy))
            if consumed(proxy) != once["took"]:
                wrong.append((path, words, proxy.ops))
    assert not wrong


def test_info_reports_what_each_form_costs_before_and_after(ddbfs, proxy):
    for path in (FULL, INDEX):
        proxy.clear()
        text = ddbfs("cat", path + "@jsonl", path + "@info").text
        info = json.loads(text[text.index('{\n  "table"') :])
        requests, units = consumed(proxy)
        names = {"requests": info["requests"], "capacity": info["capacity"]}
        assert list(info["forms"]) == FORMS
        for name in ("@jsonl", "@csv", "@table", "@summary", "@sqlite"):
            assert info["forms"][name]["read"] == {"requests": requests, "capacity": units}
        assert info["forms"]["names"]["read"] == names
        assert info["forms"]["@count"]["read"] is None
    again = {name for name, form in info["forms"].items() if "most_a_record" in form["units"]}
    assert again == {"@jsonl", "@csv", "@table", "@summary", "@sqlite"} and units > names["capacity"]


def test_a_count_is_of_the_query_that_info_has_sent(ddbfs, proxy):
    for path in (FULL, INDEX):
        proxy.clear()
        count = ddbfs("cat", path + "@count").text
        proxy.clear()
        said = ddbfs("cat", path + "@info", path + "@count").text
        assert proxy.ops == ["Query"] and said.endswith("}\n" + count)


def test_info_alone_reads_names_alone(ddbfs, proxy):
    info = json.loads(ddbfs("cat", INDEX + "@info").text)
    assert proxy.ops == ["Query"] and info["forms"]["@jsonl"]["read"] is None


def test_unknown_capacity_is_no_zero(ddbfs, proxy):
    def silence(body):
        body.pop("ConsumedCapacity", None)

    proxy.fault("alter", op="Query", times=None, change=silence)
    info = json.loads(ddbfs("cat", FULL + "@info").text)
    assert info["capacity"] is None and info["capacity_at_most"] == 178
