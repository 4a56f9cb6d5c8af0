"""Records the session that README shows: types commands into the demo, and draws the terminal as an SVG.

    /usr/bin/python3 tests/harness/record_session.py    writes docs/session.svg

A test records it again and compares the two."""

import html
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from harness import load, mounts, places, runner, transcripts  # noqa: E402

DRAWING = places.REPO / "docs/session.svg"
# Their output is the same in each run: it has neither times nor owners of this machine.
COMMANDS = """\
ddbfs mount --snapshot demo.ddb /mnt
cd /mnt/prod/jobs/by-index/shopify/kl7a9h55-shopify-e513a8-4
ls -C
head -4 latest@table/created_at,status,attempt
cat all@count
grep -l '"status": "FAILED"' latest/*
grep -h '"error_message"' latest/2026-04-17*
cat /mnt/prod/jobs/by-id/f11e85de-e711-455c-a626-a59c6464878a@links/shop/SETTINGS@/plan
cd /; fusermount3 -u /mnt
""".splitlines()

COLUMN_PX, LINE_PX, MARGIN_PX = 8, 19, 16
STEP_S = 1.2  # a reader sees one command after the other
TYPED, PRINTED = "#7ee787", "#c9d1d9"
HEAD = """\
<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}">
<title>A terminal session with ddbfs</title>
<style>
.step {{ animation: appear 0s backwards }}
@keyframes appear {{ from {{ visibility: hidden }} to {{ visibility: visible }} }}
@media (prefers-reduced-motion: reduce) {{ .step {{ animation: none }} }}
</style>
<rect width="{width}" height="{height}" rx="8" fill="#0d1117"/>
<g font-family="ui-monospace, Menlo, Consolas, DejaVu Sans Mono, monospace" font-size="13" xml:space="preserve">
"""


def record_steps(environment, folder, mountpoint):
    """(command, output) of each command, with /mnt for MOUNTPOINT."""
    bash = transcripts.Bash(environment, folder)
    for command in COMMANDS:
        done = bash(command.replace("/mnt", str(mountpoint)))
        assert done.code == 0, done
        yield command, done.text.replace(str(mountpoint), "/mnt").splitlines()


def draw_line(line, number, colour):
    y = MARGIN_PX + LINE_PX * number + LINE_PX - 6
    text = html.escape(line, quote=False)
    return f'<text x="{MARGIN_PX}" y="{y}" textLength="{len(line) * COLUMN_PX}" fill="{colour}">{text}</text>\n'


def draw(steps):
    """The SVG of STEPS, each of which appears some time after the one before."""
    drawing, number, columns = "", 0, 0
    for index, (command, output) in enumerate(steps):
        drawing += f'<g class="step" style="animation-delay: {STEP_S * index:.1f}s">\n'
        for line, colour in [(f"$ {command}", TYPED), *((line, PRINTED) for line in output)]:
            drawing += draw_line(line, number, colour)
            number += 1
            columns = max(columns, len(line))
        drawing += "</g>\n"
    width, height = columns * COLUMN_PX + 2 * MARGIN_PX, number * LINE_PX + 2 * MARGIN_PX
    return f"{HEAD.format(width=width, height=height)}{drawing}</g>\n</svg>\n"


def record(home, folder, mountpoint):
    """The SVG of a session in HOME, whose ddbfs mounts at MOUNTPOINT."""
    transcripts.add_ddbfs(home)
    return draw(record_steps(home.environment({"TZ": "UTC"}), folder, mountpoint))


def main():
    mounts.leave_name_space()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        load.make_demo(folder / "demo.ddb")
        (folder / "mnt").mkdir()
        home = runner.Home(folder / "home", "http://127.0.0.1:9")  # nothing listens there
        DRAWING.write_text(record(home, folder, folder / "mnt"), "utf-8")


if __name__ == "__main__":
    main()
