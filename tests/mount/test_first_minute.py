"""The first minute with one's own account: who asked for which profile, files that are broken, and
that a mount heals when they are mended."""

import errno
import json
import os
import subprocess

import pytest

from harness import machine, sigv4

SHOP = "shops/cool-store.myshopify.com"
SETTINGS = f"prod/{SHOP}/SETTINGS"
OTHERS = f"staging/{SHOP}/SETTINGS"  # of the profile "other", which is looked for when it is read
NOBODY = 65534


@pytest.fixture
def other(make_map):
    """The example map, whose second environment has a profile of its own."""

    def change(text):
        head, tail = text.split('"staging": ', 1)
        return head + '"staging": ' + tail.replace("controller", "other", 1)

    return make_map(lambda text: change(text.replace('"staging":      ', '"staging": ')))


def refused(m, path):
    """The errno at the mount, and the reason that it leaves."""
    with pytest.raises(OSError) as caught:
        (m / path).read_bytes()
    line = m.errors().splitlines()[-1]
    assert f"errno={errno.errorcode[caught.value.errno]} path=/{path}" in line
    return errno.errorcode[caught.value.errno], line


def write_over(path, text):
    path.write_text(text)


def write_so_that_nothing_but_the_bytes_is_new(path, text):
    before = path.stat()
    assert before.st_size == len(text.encode())
    path.write_text(text)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def replace(path, text):
    new = path.with_name("new")
    new.write_text(text)
    new.rename(path)


def point_elsewhere(path, text):
    """As folders of versions do, whose links are swapped."""
    elsewhere = path.parent / "elsewhere"
    elsewhere.write_text(text)
    new = path.with_name("new")
    new.symlink_to(elsewhere)
    new.rename(path)


MENDINGS = [write_over, write_so_that_nothing_but_the_bytes_is_new, replace, point_elsewhere]


@pytest.mark.parametrize("mend", MENDINGS, ids=lambda mend: mend.__name__)
def test_a_secret_that_is_mended_under_the_same_key_id_heals_at_once(mount, proxy, home, oracle, mend):
    """The old one is held in memory: only the service knows that it is good no more."""
    m = mount()
    key, old, new = "DEMOCONTROLLERKEY001", "demo/controller+secret/0001", "a/new+secret/of-the-key/001"
    good = home.credentials.read_text()
    wanted = oracle(f"/{SETTINGS}")
    proxy.keys[key] = sigv4.Key(new)
    proxy.allow_refusals = True
    code, line = refused(m, SETTINGS)
    assert code == "EACCES" and "InvalidSignatureException" in line
    assert len(proxy.requests) == 2, "once more with what the file says now, and no more often"
    mend(home.credentials, good.replace(old, new))
    assert (m / SETTINGS).read_bytes() == wanted


@pytest.mark.parametrize("mend", MENDINGS, ids=lambda mend: mend.__name__)
def test_a_profile_that_is_mended_heals_at_once(mount, home, other, oracle, mend):
    """What the files said is kept, as long as they are the same ones."""
    m = mount(map_file=other)
    good = home.credentials.read_text().replace("[controller]", "[other]")
    home.credentials.write_text("?" + good[1:])
    code, line = refused(m, OTHERS)
    assert code == "EACCES" and "credentials, line 1: " in line
    mend(home.credentials, good)
    assert (m / OTHERS).read_bytes() == oracle(f"/{OTHERS}")


def test_a_config_file_that_was_emptied_is_eacces_and_heals(mount, home, make_map, oracle):
    """The region of another profile stood there."""
    places = ('"controller", "region": "us-east-1" },\n    // One', '"other" },\n    // One')
    own = make_map(lambda text: text.replace(*places))
    secrets = home.credentials.read_text()
    keys = secrets.partition("[controller]")[2].partition("[")[0]
    home.credentials.write_text(f"{secrets}\n[other]{keys}")
    config = home.config.read_text() + "[profile other]\nregion = us-east-1\n"
    m = mount(map_file=own, env={"AWS_REGION": None})
    home.config.write_text("")
    code, line = refused(m, OTHERS)
    assert code == "EACCES" and "no region" in line and f"{home.config} is empty" in line
    home.config.write_text(config)
    assert (m / OTHERS).read_bytes() == oracle(f"/{OTHERS}")


def test_keys_that_are_gone_for_a_moment_make_nobody_of_the_machine(mount, proxy, home, oracle):
    """Whoever writes a file may empty it first. The machine's role would be another identity, and
    good for hours."""
    good = home.credentials.read_text()
    with machine.Machine() as service:
        m = mount(env=service.environment)
        wanted = (m / SETTINGS).read_bytes()
        proxy.fault("expired", op="GetItem")
        home.credentials.write_text("[controller]\n")
        m.refresh()
        code, line = refused(m, SETTINGS)
        assert code == "EACCES" and "had credentials of its own, and they are gone" in line
        home.credentials.write_text(good)
        assert (m / SETTINGS).read_bytes() == wanted
        assert service.requests == []


BROKEN = {
    "empty": (b"", "profile other (named by the map's environment staging) is in neither"),
    "half of a header": (b"[other]\naws_access_key_id = A\n[oth", "credentials, line 3: "),
    "half of the keys": (
        b"[other]\naws_access_key_id = DEMOCONTROLLERKEY001\naws_sec",
        "credentials, line 3: ",
    ),
    "no secret yet": (
        b"[other]\n\naws_access_key_id = DEMOCONTROLLERKEY001\n",
        "credentials, line 3: profile other has aws_access_key_id, but no aws_secret_access_key",
    ),
    "binary": (bytes(range(256)) * 20, "credentials, line 1: "),
    "binary behind text": (b"[other]\na = b\0\n", "credentials, line 2: "),
    "larger than any": (b"# x\n" * 4_300_000, "credentials is larger than 16 MB"),
}


@pytest.mark.parametrize("kind", BROKEN)
def test_a_broken_file_is_eacces_with_its_name_and_heals(mount, home, other, oracle, kind):
    content, why = BROKEN[kind]
    m = mount(map_file=other)
    good = home.credentials.read_text()
    home.credentials.write_bytes(content)
    code, line = refused(m, OTHERS)
    assert code == "EACCES" and why in line and str(home.credentials) in line
    home.credentials.write_text(good.replace("[controller]", "[other]"))
    assert (m / OTHERS).read_bytes() == oracle(f"/{OTHERS}")


@pytest.mark.parametrize("which", ["credentials", "config"])
def test_a_directory_counts_as_missing_and_is_called_one(mount, home, other, which):
    """Docker makes one of a file that it is to mount and that is not there."""
    m = mount(map_file=other)
    file = getattr(home, which)
    file.unlink()
    file.mkdir()
    code, line = refused(m, OTHERS)
    assert code == "EACCES" and f"{file} (which is a directory)" in line


def test_a_pipe_instead_of_a_profile_file_is_not_waited_for(mount, home, other):
    m = mount(map_file=other)
    home.credentials.unlink()
    os.mkfifo(home.credentials)
    code, line = refused(m, OTHERS)
    assert code == "EACCES" and f"{home.credentials} (which is no regular file)" in line


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may become nobody")
def test_a_file_that_may_not_be_read_is_eacces_with_its_name(for_others):
    others = for_others()
    home = others.home
    home.credentials.chmod(0)
    words = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", "--no-new-privs"]
    command = [*words, others.binary, "cat", "--json", f"/{SETTINGS}"]
    done = subprocess.run(command, env=others.environment(), capture_output=True, text=True)
    assert done.returncode == 1, done
    told = json.loads(done.stderr.splitlines()[0])
    assert told["errno"] == "EACCES" and str(home.credentials) in told["text"]
    assert str(NOBODY) in told["text"]


WHO = {
    "the map's environment prod": ([], {}),
    "--profile": (["--profile", "nobody"], {}),
    "AWS_PROFILE": ([], {"AWS_PROFILE": "nobody", "AWS_DEFAULT_PROFILE": "else"}),
    "AWS_DEFAULT_PROFILE": ([], {"AWS_DEFAULT_PROFILE": "nobody"}),
}


@pytest.mark.parametrize("who", WHO)
def test_a_missing_profile_names_who_asked_for_it(ddbfs, make_map, tmp_path, who):
    options, env = WHO[who]
    changed = {True: '"profile": "nobody"', False: '"region": "us-east-1"'}[who.startswith("the map")]
    own = make_map(lambda text: text.replace('"profile": "controller"', changed).replace(
        ', "region": "us-east-1"' if not who.startswith("the map") else "no such text", ""))
    (tmp_path / "mnt").mkdir()
    for command in (["cat", f"/{SETTINGS}"], ["mount", "-f", tmp_path / "mnt"]):
        result = ddbfs("--map", own, *options, *command, env=env, expect=1)
        assert f"profile nobody (named by {who}) is in neither" in result.stderr
        assert "profiles there: default, controller, session" in result.stderr
        assert "aws configure --profile nobody" in result.stderr


def test_keys_in_the_environment_that_are_not_used_are_named(ddbfs, make_map):
    own = make_map(lambda text: text.replace("controller", "nobody"))
    env = {"AWS_ACCESS_KEY_ID": "DEMODEFAULTKEY000001", "AWS_SECRET_ACCESS_KEY": "x"}
    result = ddbfs("--map", own, "cat", f"/{SETTINGS}", env=env, expect=1)
    assert "AWS_ACCESS_KEY_ID is ignored because an option names the profile" in result.stderr


# What a new user meets: one line, that says what to type.


class Minute:
    """CONFIG and CREDENTIALS are the files, None for one that is not there; ENV changes the environment;
    SAYS is the whole reason, with HOME for the home folder, or a part of it where it ends in "…"."""

    def __init__(self, says, config=None, credentials=None, env=None, bare=True):
        self.says, self.config, self.credentials = says, config, credentials
        self.env = env or {}
        self.bare = bare  # the map names neither profile nor region


NEITHER = "is in neither HOME/.aws/config nor HOME/.aws/credentials"
NONE = (
    "no credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or make a profile: aws configure for "
    "keys, aws configure sso or aws login to sign in"
)
KEYS = "aws_access_key_id = DEMOCONTROLLERKEY001\naws_secret_access_key = demo/controller+secret/0001\n"
MINUTES = {
    "no files": Minute(NONE),
    "empty files": Minute(NONE, "", ""),
    "no files, and a map that names a profile": Minute(
        f"profile controller (named by the map's environment prod) {NEITHER}; make it: aws configure "
        "--profile controller",
        bare=False,
    ),
    "a slip in AWS_PROFILE": Minute(
        f"profile contoller (named by AWS_PROFILE) {NEITHER}; profiles there: controller, prod "
        '(did you mean "controller"?); name one of them, or make it: aws configure --profile contoller',
        "[profile controller]\n", f"[controller]\n{KEYS}[prod]\n", {"AWS_PROFILE": "contoller"},
    ),
    "a section without its word": Minute(
        f"profile controller (named by the map's environment prod) {NEITHER}; write [profile "
        "controller] in place of [controller]",
        "[controller]\nregion = us-east-1\n", bare=False,
    ),
    "no region": Minute(
        "no region: pass --region, set AWS_REGION, or set the region of profile default (aws configure set "
        "region REGION)",
        None, f"[default]\n{KEYS}", {"AWS_REGION": None},
    ),
    "a profile without a region": Minute(
        "no region: pass --region, set AWS_REGION, or set the region of profile x y (aws configure set region "
        "REGION --profile 'x y')",
        None, f"[x y]\n{KEYS}", {"AWS_REGION": None, "AWS_PROFILE": "x y"},
    ),
    "a profile with a region alone": Minute(
        "profile x has no credentials: …", "[profile x]\nregion = us-east-1\n", env={"AWS_PROFILE": "x"},
    ),
    "a region with a slip": Minute(
        "the name of dynamodb.us-esat-1.amazonaws.com:443 cannot be resolved; check the endpoint, the region "
        "and the network (tried …",
        None, f"[default]\n{KEYS}", {"AWS_REGION": "us-esat-1", "AWS_ENDPOINT_URL_DYNAMODB": None},
    ),
    "a region that the endpoint does not serve": Minute(
        "Credential should be scoped to a valid region, not 'eu-west-1' (InvalidSignatureException); check "
        "the region (--region, AWS_REGION, the profile's) (tried 2 times)…",
        None, f"[default]\n{KEYS}", {"AWS_REGION": "eu-west-1"},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", MINUTES)
def test_what_a_new_user_is_told(ddbfs, home, proxy, make_map, tmp_path, name):
    minute = MINUTES[name]
    proxy.allow_refusals = True
    own = '"profile": "controller", "region": "us-east-1"'
    map_file = make_map(lambda text: text.replace(f", {own}", "") if minute.bare else text)
    for file, text in ((home.config, minute.config), (home.credentials, minute.credentials)):
        file.unlink()
        if text is not None:
            file.write_text(text)
    (tmp_path / "mnt").mkdir()
    for command, before in ((["cat", f"/{SETTINGS}"], f"/{SETTINGS}: "), (["mount", tmp_path / "mnt"], "")):
        told = ddbfs("--map", map_file, *command, env=minute.env, expect=1).stderr
        assert told.count("\n") == 1 and told.startswith(f"ddbfs: {before}")
        reason = told.removeprefix(f"ddbfs: {before}").rstrip("\n").replace(str(home.folder), "HOME")
        part = minute.says.partition("…")[0]
        assert reason.startswith(part) if "…" in minute.says else reason == part


def test_version_1_of_the_aws_cli_signs_nobody_in(ddbfs, home, make_map):
    for file in (home.config, home.credentials):
        file.unlink()
    (home.folder / "lib/python3/dist-packages/awscli-1.22.34.egg-info").mkdir(parents=True)
    map_file = make_map(lambda text: text.replace('"profile": "controller", ', ""))
    told = ddbfs("--map", map_file, "cat", f"/{SETTINGS}", expect=1).stderr
    assert told.endswith("or make a profile: aws configure\n")


def test_a_clock_that_is_wrong_by_an_hour_is_a_warning(ddbfs, proxy, tmp_path):
    proxy.clock_offset_s = 3600
    proxy.allow_refusals = True
    (tmp_path / "mnt").mkdir()
    told = ddbfs("cat", f"/{SETTINGS}").stderr
    assert told.startswith("ddbfs: warning: this machine's clock differs from the service's by 3")
    assert told.endswith(" s; signing with the service's\n") and told.count("\n") == 1
