"""Environments and files by the hundred, as a seed has them: all that decides whose credentials ask
where. A case is plain data: env, files (below the home folder), and the options profile, region and
endpoint. {HOME}, {STS}, {SSO}, {CONTAINER} and {MACHINE} in it stand for what is known when it is run."""

import hashlib
import json
import random

REGIONS = ["us-east-1"] * 4 + ["eu-west-1"] * 3 + [
    "us-west-2", "il-central-1", "cn-north-1", "us-gov-west-1", "us-iso-east-1", "us-isob-east-1",
    "eu-isoe-west-1", "us-isof-south-1", "eusc-de-east-1", "fips-us-west-2", "us-gov-east-1-fips",
    "local", "moon-base-1", "cn-northwest-1",
]  # fmt: skip
PROFILES = ["default", "work", "two words"]
BOOLEANS = ["true", "true", "True", "false", "1", "yes"]
MODES = ["preferred"] * 3 + ["disabled"] * 3 + ["required"] * 2 + ["Disabled", "nonsense"]
ACCOUNTS = ["111122223333", "444455556666"]
START_URL = "https://corp.awsapps.com/start"
FUTURE, PAST = "2999-01-01T00:00:00Z", "2020-01-01T00:00:00Z"


class Maker:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.keys = 0
        self.files = {}
        self.env = {}
        self.profiles = []  # that the files have
        # Who ignores addresses would ask AWS's own STS for roles.
        self.has_roles = self.chance(0.5)

    def chance(self, probability):
        return self.random.random() < probability

    def pick(self, values):
        return self.random.choice(values)

    def some_profile(self):
        there = self.profiles and self.chance(0.93)
        return self.pick(self.profiles if there else [*PROFILES, "missing"])

    def key(self):
        """An id that no other has, by its last four characters."""
        self.keys += 1
        return f"AKIAEXAMPLE0000{self.keys:05d}"

    # Lines of a profile.

    def static_keys(self, in_config):
        lines = []
        if not self.chance(0.04):
            lines.append(f"aws_access_key_id = {self.key() if not self.chance(0.03) else ''}")
        if not self.chance(0.05):
            lines.append("aws_secret_access_key = secret/of+it")
        if self.chance(0.3):
            lines.append(f"{self.pick(['aws_session_token', 'aws_security_token'])} = token")
        if self.chance(0.35):
            lines.append(f"aws_account_id = {self.pick(ACCOUNTS)}")
        return lines

    def process(self):
        answer = {"Version": 1, "AccessKeyId": self.key(), "SecretAccessKey": "s"}
        if self.chance(0.4):
            answer["Expiration"] = FUTURE
        if self.chance(0.4):
            answer["AccountId"] = self.pick(ACCOUNTS)
        if self.chance(0.06):
            answer.pop(self.pick(["SecretAccessKey", "Version"]))
        return [f"credential_process = echo '{json.dumps(answer)}'"]

    def role(self):
        lines = [f"role_arn = arn:aws:iam::{self.pick(ACCOUNTS)}:role/r{self.random.randrange(1000)}"]
        if self.chance(0.75):
            lines.append(f"source_profile = {self.pick(PROFILES)}")
        else:
            lines.append(f"credential_source = {self.pick(['Environment', 'EcsContainer', 'Ec2InstanceMetadata'])}")
        if self.chance(0.3):
            lines.append("external_id = e x t")
        if self.chance(0.3):
            lines.append("role_session_name = me")
        return lines

    def web_identity(self):
        self.files["token"] = "a.web.token"
        return [
            f"role_arn = arn:aws:iam::{self.pick(ACCOUNTS)}:role/w{self.random.randrange(1000)}",
            "web_identity_token_file = {HOME}/token",
        ]

    def sso(self):
        lines = [f"sso_account_id = {self.pick(ACCOUNTS)}", f"sso_role_name = s{self.random.randrange(1000)}"]
        if self.chance(0.1):
            lines.pop(self.random.randrange(2))
        if self.chance(0.7):
            return lines + ["sso_session = corp"]
        return lines + [f"sso_start_url = {START_URL}", "sso_region = eu-west-1"]

    def sso_tokens(self):
        """One for the session, one for profiles of the older kind; nobody may be signed in."""
        for name in ("corp", START_URL):
            token = {"accessToken": f"token-of-{name[:4]}", "expiresAt": FUTURE, "region": "eu-west-1"}
            path = f".aws/sso/cache/{hashlib.sha1(name.encode()).hexdigest()}.json"
            if self.chance(0.85):
                self.files[path] = json.dumps(token)

    def places(self, with_services):
        lines = []
        if self.chance(0.1):
            lines.append("endpoint_url = http://profile.example:81")
        if with_services and self.chance(0.15):
            lines.append("services = one")
        for name, values, probability in [
            ("use_fips_endpoint", BOOLEANS, 0.1),
            ("use_dualstack_endpoint", BOOLEANS, 0.1),
            ("account_id_endpoint_mode", MODES, 0.12),
            ("ignore_configured_endpoint_urls", BOOLEANS, 0 if self.has_roles else 0.1),
        ]:
            if self.chance(probability):
                lines.append(f"{name} = {self.pick(values)}")
        return lines

    def profile(self, name, in_config):
        lines = []
        if self.chance(0.3 if in_config else 0.75):
            lines += self.static_keys(in_config)
        if in_config:
            lines += [f"region = {self.pick(REGIONS)}"] if self.chance(0.6) else []
            lines += self.process() if self.chance(0.12) else []
            lines += self.role() if self.has_roles and self.chance(0.3) else []
            lines += self.web_identity() if self.has_roles and self.chance(0.1) else []
            lines += self.sso() if self.has_roles and self.chance(0.25) else []
            lines += self.places(True)
        else:
            lines += [f"region = {self.pick(REGIONS)}"] if self.chance(0.12) else []
            lines += self.places(False) if self.chance(0.2) else []
        self.random.shuffle(lines)
        return lines

    def heading(self, name, in_config):
        if not in_config:
            return f"[{name}]"
        if name == "default":
            return self.pick(["[default]", "[default]", "[profile default]"])
        if " " in name:
            return self.pick([f'[profile "{name}"]', f"[profile '{name}']"])
        return self.pick([f"[profile {name}]", f'[profile "{name}"]', f"[profile  {name}]"])

    def profile_file(self, in_config):
        text = ""
        for name in self.random.sample(PROFILES, self.pick([1, 2, 3])):
            self.profiles.append(name)
            text += self.heading(name, in_config) + "\n"
            text += self.pick(["", "# a comment\n"])
            for line in self.profile(name, in_config):
                text += self.pick([line, line, line.replace(" = ", "=", 1)]) + "\n"
            text += "\n"
        if in_config and "sso_session" in text:
            text += f"[sso-session corp]\nsso_region = eu-west-1\nsso_start_url = {START_URL}\n"
            text += "sso_registration_scopes = sso:account:access\n\n"
        if in_config and "sso_" in text:
            self.sso_tokens()
        if in_config and self.chance(0.85):
            text += "[services one]\n"
            if self.chance(0.8):
                text += "dynamodb =\n  endpoint_url = http://services.example:82\n"
            if self.chance(0.3):
                text += "s3 =\n  endpoint_url = http://s3.example:83\n"
            text += "[other]\nsomething = else\n" if self.chance(0.2) else ""
        return text

    # The environment.

    def say(self, probability, name, values):
        if self.chance(probability):
            self.env[name] = self.pick(values) if isinstance(values, list) else values

    def environment(self):
        if self.chance(0.3):
            self.env["AWS_ACCESS_KEY_ID"] = self.key() if not self.chance(0.05) else ""
            self.say(0.95, "AWS_SECRET_ACCESS_KEY", "secret")
            self.say(0.3, "AWS_SESSION_TOKEN", "token")
            self.say(0.1, "AWS_CREDENTIAL_EXPIRATION", [FUTURE, FUTURE, PAST])
            self.say(0.3, "AWS_ACCOUNT_ID", ACCOUNTS)
        self.say(0.35, "AWS_PROFILE", [self.some_profile()])
        self.say(0.15, "AWS_DEFAULT_PROFILE", [self.some_profile()])
        self.say(0.02, "AWS_PROFILE", "")
        self.say(0.25, "AWS_REGION", REGIONS + [""])
        self.say(0.5, "AWS_DEFAULT_REGION", REGIONS)
        self.say(0.06, "AWS_ENDPOINT_URL", "http://general.example:84")
        self.say(0.06, "AWS_ENDPOINT_URL_DYNAMODB", ["http://dynamo.example:85", "https://dynamo.example/a/path"])
        self.say(0 if self.has_roles else 0.1, "AWS_IGNORE_CONFIGURED_ENDPOINT_URLS", BOOLEANS)
        self.say(0.08, "AWS_USE_FIPS_ENDPOINT", BOOLEANS)
        self.say(0.08, "AWS_USE_DUALSTACK_ENDPOINT", BOOLEANS)
        self.say(0.08, "AWS_ACCOUNT_ID_ENDPOINT_MODE", MODES)
        if self.chance(0.12):
            self.env["AWS_CONTAINER_CREDENTIALS_FULL_URI"] = "{CONTAINER}/keys"
        if self.chance(0.85):
            self.env["AWS_EC2_METADATA_DISABLED"] = "true"
        if self.has_roles and self.chance(0.08):
            self.files["token"] = "a.web.token"
            self.env["AWS_WEB_IDENTITY_TOKEN_FILE"] = "{HOME}/token"
            self.env["AWS_ROLE_ARN"] = f"arn:aws:iam::{self.pick(ACCOUNTS)}:role/e{self.random.randrange(1000)}"
        self.env["AWS_EC2_METADATA_SERVICE_ENDPOINT"] = "{MACHINE}/"
        self.env["AWS_ENDPOINT_URL_STS"] = "{STS}"
        self.env["AWS_ENDPOINT_URL_SSO"] = "{SSO}"

    def case(self):
        if self.chance(0.9):
            self.files[".aws/config"] = self.profile_file(True)
        if self.chance(0.8):
            self.files[".aws/credentials"] = self.profile_file(False)
        self.environment()
        return {
            "env": self.env,
            "files": self.files,
            "profile": self.some_profile() if self.chance(0.2) else None,
            "region": self.pick(REGIONS) if self.chance(0.1) else None,
            "endpoint": "http://option.example:86" if self.chance(0.05) else None,
        }


def make(seed):
    return Maker(seed).case()


def place(case, **urls):
    """CASE with addresses in the place of their names."""
    text = json.dumps(case)
    for name, url in urls.items():
        text = text.replace("{%s}" % name, url)
    return json.loads(text)


def key_of_role(arn, signer):
    """The key that the fake STS gives: another one for each role and for whoever asks for it."""
    return "ASIAROLE" + hashlib.sha1(f"{arn} {signer}".encode()).hexdigest()[:8].upper()
