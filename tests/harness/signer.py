"""Who signs: ddbfs in a home of its own before a service that keeps the requests it gets, and proves
that nothing is there. For tests of which credentials are used, and of what is said without any."""

import re
import zlib

from . import runner, services

PATH = "/any/things/nothing/here"
MAP = """{
 "environments": {"any": {"prefix": "any-"%s}},
 "tables": {"things": {"table": "Things",
                       "records": {"thing": {"pk": "{box}", "sk": "{name}"}},
                       "paths": {"{box}/": {}}}}
}"""


def dynamo(_request):
    body = "{}"
    head = {"x-amzn-RequestId": "REQUEST", "Content-Type": "application/x-amz-json-1.0",
            "x-amz-crc32": str(zlib.crc32(body.encode()))}  # fmt: skip
    return 200, body, head


def key_of(request):
    """The id of the key that signed a request; None when it is not signed."""
    found = re.search(r"Credential=([^/]*)/", request.headers.get("authorization", ""))
    return found and found.group(1)


def keys(name, token=None, **more):
    """Lines of a profile: a key, and whatever else."""
    lines = [f"aws_access_key_id = {name}", "aws_secret_access_key = secret/of+it"]
    lines += [f"aws_session_token = {token}"] if token else []
    return "\n".join(lines + [f"{key} = {value}" for key, value in more.items()]) + "\n"


class Signer:
    """signer(*options, env=…) -> the id of the key that signed, or the message on standard error."""

    def __init__(self, folder):
        self.service = services.Service(dynamo)
        self.home = runner.Home(folder / "home", self.service.url)
        self.home.config.write_text("")
        self.home.credentials.write_text("")
        self.map_file = folder / "signer.map.json"
        self.map_profile(None)
        self.ddbfs = runner.Ddbfs(self.home)

    def __enter__(self):
        self.service.__enter__()
        return self

    def __exit__(self, *_):
        self.service.__exit__()

    def map_profile(self, profile):
        """The profile that the map's environment names."""
        self.map_file.write_text(MAP % (f', "profile": "{profile}"' if profile else ""))

    @property
    def config(self):
        return self.home.config

    @property
    def credentials(self):
        return self.home.credentials

    @property
    def requests(self):
        return self.service.requests

    def environment(self, env=None):
        return {"DDBFS_MAP": self.map_file, **(env or {})}

    def run(self, *options, env=None):
        self.service.requests.clear()
        return self.ddbfs(*options, "cat", PATH, env=self.environment(env), expect=None)

    def __call__(self, *options, env=None):
        result = self.run(*options, env=env)
        return key_of(self.requests[0]) if self.requests else result.stderr

    def token(self):
        """Of the last run's first request."""
        return self.requests[0].headers.get("x-amz-security-token")
