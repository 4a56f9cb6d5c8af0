"""Which credentials sign, by environment, files and options: the order of the AWS CLI."""

from harness.signer import keys
from harness.rows import rows

ENV = {"AWS_ACCESS_KEY_ID": "ENV", "AWS_SECRET_ACCESS_KEY": "secret"}
PAST = "2020-01-01T00:00:00Z"
FUTURE = "2999-01-01T00:00:00Z"

# (name, config, credentials, environment, options, the key or a part of the message)
CASES = [
    ("nothing at all", "", "", {}, [], "no credentials: set AWS_ACCESS_KEY_ID"),
    ("environment alone", "", "", ENV, [], "ENV"),
    ("environment over the default profile", "", f"[default]\n{keys('FILE')}", ENV, [], "ENV"),
    ("AWS_PROFILE leaves the environment on", "", f"[x]\n{keys('X')}",
     {**ENV, "AWS_PROFILE": "x"}, [], "ENV"),
    ("--profile turns the environment off", "", f"[x]\n{keys('X')}", ENV, ["--profile", "x"], "X"),
    ("AWS_PROFILE over AWS_DEFAULT_PROFILE", "", f"[x]\n{keys('X')}[y]\n{keys('Y')}",
     {"AWS_PROFILE": "x", "AWS_DEFAULT_PROFILE": "y"}, [], "X"),
    ("AWS_DEFAULT_PROFILE alone", "", f"[y]\n{keys('Y')}", {"AWS_DEFAULT_PROFILE": "y"}, [], "Y"),
    ("--profile over AWS_PROFILE", "", f"[x]\n{keys('X')}[y]\n{keys('Y')}",
     {"AWS_PROFILE": "x"}, ["--profile", "y"], "Y"),
    ("an unknown profile is no fallback", "", f"[default]\n{keys('FILE')}",
     {**ENV, "AWS_PROFILE": "none"}, [], "profile none (named by AWS_PROFILE) is in neither"),
    ("an empty AWS_PROFILE is the name of none", "", f"[default]\n{keys('FILE')}",
     {**ENV, "AWS_PROFILE": "", "AWS_DEFAULT_PROFILE": "default"}, [],
     "AWS_PROFILE is empty"),
    ("keys of the default profile", "", f"[default]\n{keys('FILE')}", {}, [], "FILE"),
    ("keys of the config file", f"[default]\n{keys('CONFIG')}", "", {}, [], "CONFIG"),
    ("credentials file before config file", f"[default]\n{keys('CONFIG')}",
     f"[default]\n{keys('FILE')}", {}, [], "FILE"),
    ("[profile default] of the config file", f"[profile default]\n{keys('CONFIG')}", "", {}, [],
     "CONFIG"),
    ("a bare section of the config file is none", f"[x]\n{keys('X')}", "",
     {"AWS_PROFILE": "x"}, [], "profile x (named by AWS_PROFILE) is in neither"),
    ("[profile x] of the credentials file is another name", "", f"[profile x]\n{keys('X')}",
     {"AWS_PROFILE": "x"}, [], "profile x (named by AWS_PROFILE) is in neither"),
    ("half a key in the environment", "", f"[default]\n{keys('FILE')}",
     {"AWS_ACCESS_KEY_ID": "ENV"}, [], "AWS_SECRET_ACCESS_KEY is not"),
    ("a secret alone in the environment is none", "", f"[default]\n{keys('FILE')}",
     {"AWS_SECRET_ACCESS_KEY": "secret"}, [], "FILE"),
    ("an empty id in the environment is none", "", f"[default]\n{keys('FILE')}",
     {**ENV, "AWS_ACCESS_KEY_ID": ""}, [], "FILE"),
    ("half a key in a file is an error", f"[default]\n{keys('CONFIG')}",
     "[default]\naws_access_key_id = FILE\n", {}, [], "but no aws_secret_access_key"),
    ("a secret alone in a file is none", f"[default]\n{keys('CONFIG')}",
     "[default]\naws_secret_access_key = s\n", {}, [], "CONFIG"),
    ("a comment behind a key is a part of it", "",
     "[default]\naws_access_key_id = K # mine\naws_secret_access_key = s\n", {}, [],
     "credentials, line 2: the aws_access_key_id of profile default contains a space"),
    ("a key over several lines is none", "[default]\naws_access_key_id = K\naws_secret_access_key = a\n  b\n",
     "", {}, [], "config, line 3: the aws_secret_access_key of profile default contains a space"),
    ("a token with keys nested under it is none", "", f"[default]\n{keys('K')}aws_session_token =\n  a = b\n",
     {}, [], "credentials, line 4: the aws_session_token of profile default contains a space"),
    ("an empty token is none", "", f"[default]\n{keys('K', token='N')}aws_security_token =\n", {}, [], "K"),
    ("the last of two sections of one name stands alone",
     f"[default]\n{keys('A')}\n[profile default]\noutput = json\n", "", {}, [], "no credentials"),
    ("[DEFAULT] is every section's", "", f"[DEFAULT]\n{keys('K')}[x]\n", {"AWS_PROFILE": "x"}, [], "K"),
    ("a name with a blank", f"[profile 'a b']\n{keys('K')}", "", {"AWS_PROFILE": "a b"}, [], "K"),
    ("a profile without a name", f'[profile ""]\n{keys("K")}', "", {"AWS_PROFILE": ""}, [],
     "AWS_PROFILE is empty"),
    ("an empty AWS_CONFIG_FILE is no file", f"[default]\n{keys('CONFIG')}", "",
     {"AWS_CONFIG_FILE": ""}, [], "no credentials"),
    ("variables in a path", "", f"[default]\n{keys('FILE')}",
     {"AWS_SHARED_CREDENTIALS_FILE": "${HOME}/.aws/$NAME", "NAME": "credentials"}, [], "FILE"),
    ("expired environment", "", f"[default]\n{keys('FILE')}",
     {**ENV, "AWS_CREDENTIAL_EXPIRATION": PAST}, [], "have expired"),
    ("environment that will expire", "", "", {**ENV, "AWS_CREDENTIAL_EXPIRATION": FUTURE}, [],
     "ENV"),
    ("an expiry that is no time", "", "", {**ENV, "AWS_CREDENTIAL_EXPIRATION": "soon"}, [],
     "no point in time"),
    ("an expiry without a key is nothing", "", f"[default]\n{keys('FILE')}",
     {"AWS_CREDENTIAL_EXPIRATION": PAST}, [], "FILE"),
    ("a profile with a region alone", "[profile x]\nregion = r\n", "", ENV, ["--profile", "x"],
     "profile x has no credentials"),
    ("an empty profile with AWS_PROFILE", "[profile x]\nregion = r\n", "",
     {**ENV, "AWS_PROFILE": "x"}, [], "ENV"),
]  # fmt: skip


@rows(
    "config, credentials, env, options, expected",
    [case[1:] for case in CASES],
    ids=[case[0] for case in CASES],
)
def test_who_signs(signer, config, credentials, env, options, expected):
    signer.config.write_text(config)
    signer.credentials.write_text(credentials)
    found = signer(*options, env=env)
    assert found == expected or (" " in expected and expected in found)


def test_a_profile_of_the_map_turns_the_environment_off(signer):
    signer.credentials.write_text(f"[x]\n{keys('X')}")
    signer.map_profile("x")
    assert signer(env=ENV) == "X"
    signer.map_profile("y")
    assert "profile y (named by the map's environment any) is in neither" in signer(env=ENV)


def test_the_environment_needs_no_file_that_may_not_be_read(signer):
    """A link to itself can't be read by root either."""
    signer.credentials.unlink()
    signer.credentials.symlink_to(signer.credentials)
    assert signer(env=ENV) == "ENV"
    told = signer()
    assert f"cannot read {signer.credentials}" in told and "no credentials" in told
    told = signer(env={"AWS_PROFILE": "x"})
    assert f"cannot read {signer.credentials}" in told and "profile x (named by AWS_PROFILE) is nowhere else" in told
    signer.config.unlink()
    signer.config.symlink_to(signer.config)
    signer.credentials.unlink()
    signer.credentials.write_text(f"[default]\n{keys('FILE')}")
    assert signer() == "FILE"


@rows("place", ["environment", "file"])
@rows("names, expected", [("new", "N"), ("old", "O"), ("new old", "O")])
def test_names_of_the_token(signer, place, names, expected):
    env, lines = dict(ENV), keys("X")
    for name in names.split():
        long = {"new": "session", "old": "security"}[name]
        env[f"AWS_{long.upper()}_TOKEN"] = expected if name != "new" or names == "new" else "N"
        lines += f"aws_{long}_token = {name[0].upper()}\n"
    signer.credentials.write_text(f"[default]\n{lines}")
    signer(env=env if place == "environment" else None)
    assert signer.token() == expected


def test_a_token_of_the_other_file_is_not_used(signer):
    signer.config.write_text(f"[default]\n{keys('CONFIG', token='C')}")
    signer.credentials.write_text(f"[default]\n{keys('FILE')}")
    assert signer() == "FILE"
    assert signer.token() is None
