"""Programs that probe: what they look for beside the names of the mount never leaves the machine.

Each test lists a directory first; from then on whatever a program looks up there is known already,
or is noise that is answered locally. So the proxy counts nothing at all.
"""

import os
import pathlib
import shutil
import subprocess
import uuid

import pytest

from harness import desktop, mounts, places, tables, terminal as terminals
from harness.rows import rows

SHOP = "prod/shops/cool-store.myshopify.com"
SETTINGS = f"{SHOP}/SETTINGS"
PROBES = (
    ".git .hg .svn .bzr .hidden .DS_Store ._SETTINGS .Trash .Trash-0 .directory .xdg-volume-info"
    " .SETTINGS.swp .SETTINGS.swx .envrc .tool-versions .editorconfig SETTINGS~ autorun.inf"
    " desktop.ini Thumbs.db 4913 CVS HEAD RCS lost+found package.json"
).split()


def needs(program):
    return pytest.mark.skipif(not shutil.which(program), reason=f"{program} is not installed")


def listed_at(m):
    for entry in os.scandir(m / SHOP):
        entry.stat()
    os.listdir(m.root)
    m.proxy.clear()
    return m


@pytest.fixture
def listed(shared_mount):
    return listed_at(shared_mount)


@pytest.fixture
def listed_anew(mount):
    """An editor's last line shows what fits behind the path, which is a long one here."""
    return listed_at(mount())


@pytest.fixture
def terminal(tmp_path):
    """A tmux server of the test's own: terminal(command), then .type(keys) and .screen()."""
    made = []
    for end in terminals.open_pty():
        os.close(end)

    class Terminal:
        def __init__(self, *command):
            self.name = f"ddbfs-{uuid.uuid4().hex[:8]}"
            home = tmp_path / "terminal"
            home.mkdir(exist_ok=True)
            env = {**os.environ, "HOME": str(home), "LANG": "C.UTF-8", "TERM": "xterm"}
            words = ["new-session", "-d", "-x", "120", "-y", "40", *map(str, command)]
            start = ["tmux", "-L", self.name, "-f", "/dev/null", *words]
            subprocess.run(start, check=True, env=env)
            made.append(self)

        def tmux(self, *words):
            command = ["tmux", "-L", self.name, *words]
            return subprocess.run(command, capture_output=True, text=True).stdout

        def type(self, *keys):
            self.tmux("send-keys", *keys)

        def screen(self):
            return self.tmux("capture-pane", "-p")

        def wait_for(self, text):
            """The screen once it shows TEXT."""
            try:
                mounts.wait_until(lambda: text in self.screen(), text)
            except AssertionError:
                raise AssertionError(f"no {text!r} on:\n{self.screen()}") from None
            return self.screen()

    yield Terminal
    for each in made:
        each.tmux("kill-server")


@rows("name", PROBES)
def test_a_probe_is_answered_here(listed, name):
    for folder in ("", "prod", "prod/shops", "prod/jobs/by-id", SHOP):
        assert not (listed / folder / name).exists()
    assert listed.counts() == {}


def test_a_record_with_such_a_name_is_read_when_it_is_written_escaped(mount, branch):
    """A command probes nothing: there it also opens as it is."""
    branch.put_settings(".hidden", text="here")
    m = mount()
    plain, escaped = (m / branch.name / "shops" / name / "SETTINGS" for name in (".hidden", "%2Ehidden"))
    assert not plain.exists() and m.counts() == {}
    assert escaped.exists()
    for folder, path in (("/", plain), (m / branch.name, "./shops/.hidden/SETTINGS")):
        assert m.ddbfs("cat", path, cwd=folder, env={"DDBFS_MAP": None}).stdout == escaped.read_bytes()
    assert not plain.exists()


def test_ls_la_looks_up_nothing_more(listed):
    done = subprocess.run(["ls", "-la", "--color=always", listed / SHOP], capture_output=True)
    assert done.returncode == 0 and b"SETTINGS" in done.stdout and listed.counts() == {}


@needs("git")
def test_git_status_finds_no_repository(listed):
    env = {**os.environ, "GIT_DISCOVERY_ACROSS_FILESYSTEM": "1"}
    for folder in ("", SHOP, "prod/jobs/by-id"):
        done = subprocess.run(
            ["git", "status"], cwd=listed / folder, env=env, capture_output=True, text=True
        )
        assert done.returncode != 0 and "not a git repository" in done.stderr
    assert listed.counts() == {}


# What VS Code (code-server 4.139.1) was seen to do in the folder that it was opened on: by its own processes,
EDITOR_LOOKS_FOR = (
    ".claude .claude/agents .claude/settings.json .config/nvim/init.lua .config/nvim/init.vim .git .git/HEAD"
    " .github/agents .github/copilot .github/copilot/settings.json .local/share/JetBrains/Toolbox .mcp.json .vimrc"
    " .vscode .vscode/extensions .vscode/extensions.json .vscode/launch.json .vscode/mcp.json .vscode/settings.json"
    " .vscode/tasks.json HEAD package.json .editorconfig"
).split()
# and by ripgrep: where the projects are, which files there are, and a search for a word.
HIDES = [f"!**/{name}" for name in (".git", ".svn", ".hg", ".jj", ".DS_Store", "Thumbs.db", "*.crswap")]
BUILT = ["!**/node_modules", "!**/bower_components", "!**/*.code-search"]
GLOBS = lambda names: [word for name in names for word in ("-g", name)]  # noqa: E731
FILES = ["rg", "--files", "--hidden", "--case-sensitive", "--no-require-git"]
ENDS = ["--follow", "--no-config", "--no-ignore-global"]
EDITOR_RUNS = [
    [*FILES, *GLOBS(["**/package.json", *HIDES]), "--no-ignore", *ENDS],
    [*FILES, *GLOBS([*HIDES, *BUILT]), "--no-ignore-parent", *ENDS],
    ["rg", "--hidden", "--no-require-git", "--ignore-case", *GLOBS([*HIDES, *BUILT]), "--no-ignore-parent", "--follow"]
    + ["--crlf", "--fixed-strings", "--no-config", "--no-ignore-global", "--json", "--", "vendor", "."],
]  # fmt: skip


@needs("git")
@needs("rg")
def test_an_editors_window_costs_its_listings(mount, make_map):
    """As it was recorded. The explorer reads the folder and the watcher what is in it; git and ripgrep
    find all of that there."""
    m = mount(map_file=make_map(lambda text: text.replace('"mtime"', '"ttl": 3600, "mtime"')))
    folder = m / "prod/index-settings/kl7a9h55"
    for where, _, _ in os.walk(folder):
        os.listdir(where)
    assert m.counts() == {"Query": 5, "GetItem": 1}  # DEFAULT_CONFIGS is not among the roots
    m.proxy.clear()
    for where, _, names in os.walk(folder):
        assert not [each for each in EDITOR_LOOKS_FOR if os.path.exists(f"{where}/{each}")]
        done = subprocess.run(["git", "rev-parse", "--show-toplevel"], cwd=where, capture_output=True)
        assert done.returncode == 128
        for name in names:
            pathlib.Path(where, name).read_bytes()
    found = [subprocess.run(each, cwd=folder, capture_output=True, text=True).stdout for each in EDITOR_RUNS]
    assert found[0] == "" and len(found[1].splitlines()) == 15 and '"matches":14' in found[2]
    assert m.counts() == {}


def test_a_record_may_be_called_so_with_its_suffix(mount, table):
    key = {"pk": {"S": "box"}, "sk": {"S": "package"}}
    name = table(tables.plain(), [key])
    folder = mount("--suffix", ".json") / f"prod/tables/{name}/items/box"
    assert os.listdir(folder) == ["%70ackage.json"]
    assert b'"package"' in (folder / "%70ackage.json").read_bytes()
    assert not (folder / "package.json").exists()


@needs("vim")
@needs("tmux")
def test_vim_says_read_only_and_cannot_save(listed_anew, terminal, tmp_path):
    before = (listed_anew / SETTINGS).read_bytes()
    swap = f"set directory={tmp_path}//"  # else it is in a folder that all tests share
    vim = terminal("vim", "-N", "-u", "NONE", "--cmd", swap, listed_anew / SETTINGS)
    assert "[readonly]" in vim.wait_for("active_index") or "readonly" in vim.screen()
    vim.type("xx:w!", "Enter")
    screen = vim.wait_for("Can't open file for writing")
    assert "written" not in screen
    vim.type("Enter", ":q!", "Enter")
    assert (listed_anew / SETTINGS).read_bytes() == before and listed_anew.counts() == {}


@needs("nano")
@needs("tmux")
def test_nano_says_unwritable_and_cannot_save(listed_anew, terminal):
    nano = terminal("nano", "--ignorercfiles", listed_anew / SETTINGS)
    assert "unwritable" in nano.wait_for("unwritable")
    nano.type("x", "C-o")
    nano.wait_for("Write")
    nano.type("Enter")
    nano.wait_for("Error writing")
    assert listed_anew.counts() == {}


@needs("mc")
@needs("tmux")
def test_mc_shows_a_directory_and_a_record(listed, terminal):
    mc = terminal("mc", "-d", "-u", listed / SHOP, listed / SHOP)
    assert "access-token" in mc.wait_for("SETTINGS")
    mc.type("Down", "Down", "F3")
    mc.wait_for("SHOP#cool-store")
    assert listed.counts() == {}


@needs("mc")
@needs("tmux")
def test_mc_shows_a_placeholder_and_says_that_it_does_not_open(listed, terminal):
    folder = listed / "prod/shops"
    mc = terminal("mc", "-d", "-u", folder, folder)
    mc.wait_for("{domain}")
    mc.type("Down", "Down", "Enter")
    mc.wait_for("Cannot read directory contents")
    assert listed.counts() == {}


@needs("pcmanfm")
@needs("Xvfb")
@needs("dbus-run-session")
def test_a_file_browser_shows_a_directory(listed, tmp_path):
    """The screenshot is kept in the build folder, for somebody to look at."""
    with desktop.screen(tmp_path / "desktop") as env, desktop.browser(env, listed / SHOP) as windows:
        mounts.wait_until(lambda: windows("cool-store"), "the browser's window")
        shot = pathlib.Path(os.environ.get("DDBFS_SCREENSHOTS") or places.REPO / "build-asan")
        shot.mkdir(exist_ok=True)
        picture = ["import", "-window", "root", str(shot / "file-browser.png")]

        def colours():
            subprocess.run(picture, env=env, check=True, capture_output=True)
            count = subprocess.run(
                ["identify", "-format", "%k", picture[-1]], capture_output=True, text=True
            )
            return int(count.stdout)

        mounts.wait_until(lambda: colours() > 50, "icons on the screen")
    assert listed.counts() == {}
