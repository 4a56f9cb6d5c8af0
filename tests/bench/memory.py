"""Scenarios that measure memory: of a mount, of a listing as one file."""

from bench import jobs
from bench.listings import LOOP, SERVER, cat
from bench.results import Row, scenario

MB = 1e6


def mount_memory(stand, curves, server, shop):
    """Resident bytes beyond those of the idle mount and the contents, per file; and the contents."""
    with stand.mount(server.url) as mounted:
        idle = mounted.memory()
        stand.ls_ms(mounted.path("all", shop))
        after, contents = mounted.memory(), mounted.stats()["content_bytes"]
    curves.add("memory", "mount after ls -l", jobs.SHOPS[shop], after / MB)
    curves.add("memory", "contents in its memory", jobs.SHOPS[shop], contents / MB)
    return (after - idle - contents) / jobs.SHOPS[shop], after, contents


@scenario(Row("memory per file after `ls -l` of 100,000, without its content", "ls -l MNT/prod/jobs/all/many; VmRSS of the "
              "mount less that of the idle mount, less content_bytes of stats.json", "", "",
              SERVER.format(0), "bytes", most=300))  # fmt: skip
def memory_of_mount(stand, curves, row):
    shops = ("some", "many") if stand.quick else ("some", "many", "most")
    with stand.zero(shops=shops) as server:
        for shop in shops:
            for _ in stand.rounds(3, 1):
                beyond, after, contents = mount_memory(stand, curves, server, shop)
                if shop == "many":
                    row.ours.append(beyond)
                    row.note = f"{after / MB:.0f} MB resident for {contents / MB:.0f} MB of content"


def peak_row(count):
    return Row(f"most memory of `LIST@jsonl` of {count:,}", "ddbfs cat /prod/jobs/all/SHOP@jsonl",
               "loop that parses and prints", LOOP.replace("#many", ""),
               f"zero_server --delay-ms 5 SHOP={count}", "MB", most=24)  # fmt: skip


@scenario(*(peak_row(jobs.SHOPS[shop]) for shop in ("some", "many", "most")))
def memory_of_cat(stand, curves, *rows):
    """With a delay, since pages that wait need memory."""
    with stand.zero(5, shops=("some", "many", "most")) as server:
        for row, shop in zip(rows, ("some", "many", "most")):
            for _ in stand.rounds(3, 1):
                row.ours.append(cat(stand, server, shop).peak / MB)
                row.theirs.append(stand.print_lines(server.url, shop).peak / MB)
                curves.add("memory", "ddbfs cat LIST@jsonl", jobs.SHOPS[shop], row.ours[-1])
                curves.add("memory", "libcurl loop that parses and prints", jobs.SHOPS[shop], row.theirs[-1])


@scenario(Row("most memory of a mount that reads `LIST@jsonl` of 300,000", "cat MNT/prod/jobs/all/most@jsonl; VmHWM",
              server="zero_server --delay-ms 5 most=300000", unit="MB"))  # fmt: skip
def memory_of_file(stand, _, row):
    with stand.zero(5, shops=["most"]) as server:
        for _ in stand.rounds(3, 1):
            with stand.mount(server.url) as mounted:
                stand.time("/bin/cat", mounted.path("all", "most@jsonl"))
                row.ours.append(mounted.memory("VmHWM") / MB)
