"""What gives credentials to a machine or a container: EC2's metadata service and a container's endpoint,
both played on loopback."""


from . import resident_botocore, services, signin

ROLES = "/latest/meta-data/iam/security-credentials/"
ZONE = "/latest/meta-data/placement/availability-zone/"
TOKEN = "/latest/api/token"
OFF = "AWS_EC2_METADATA_DISABLED"


def keys(name, lasts_s=3600, **more):
    """Credentials as both of them write them. MORE: members that are added, or taken out by None."""
    members = {
        "Code": "Success",
        "AccessKeyId": name,
        "SecretAccessKey": "secret/of+it",
        "Token": "token-of-it==",
        "Expiration": signin.instant(lasts_s),
        **more,
    }
    return {member: value for member, value in members.items() if value is not None}


class Container(services.Service):
    """CREDENTIALS is what it answers: members, or (status, body)."""

    def __init__(self, credentials=None, path="/v2/credentials"):
        super().__init__(self.give)
        self.path = path
        self.token = None  # what has to be shown
        self.credentials = keys("CONTAINER") if credentials is None else credentials

    @property
    def environment(self):
        return {"AWS_CONTAINER_CREDENTIALS_FULL_URI": self.url + self.path}

    def give(self, request):
        if request.headers.get("authorization") != self.token:
            return 403, {"code": "AccessDenied", "message": "who is this?"}
        return self.credentials if isinstance(self.credentials, tuple) else (200, self.credentials)


class Machine(services.Service):
    """Version 2 and 1 unless TOKENS (a status) refuses one. What is not in TEXTS is a 404."""

    def __init__(self, credentials=None, role="the-role"):
        super().__init__(self.give)
        self.tokens = 200
        self.metadata_token = "the-token=="
        self.only_v2 = True
        self.texts = {
            ROLES: role,
            ROLES + role: keys("MACHINE") if credentials is None else credentials,
            ZONE: "eu-north-1b",
        }

    @property
    def environment(self):
        return {"AWS_EC2_METADATA_SERVICE_ENDPOINT": self.url, OFF: None}

    def asked(self):
        return [(request.method, request.path) for request in self.requests]

    def give(self, request):
        if request.path == TOKEN:
            ttl = request.headers.get("x-aws-ec2-metadata-token-ttl-seconds")
            if self.tokens == 200 and (request.method, ttl) != ("PUT", "21600"):
                return 400, ""
            return self.tokens, self.metadata_token if self.tokens == 200 else ""
        if self.only_v2 and request.headers.get("x-aws-ec2-metadata-token") != self.metadata_token:
            return 401, ""
        found = self.texts.get(request.path, (404, "<html>"))
        return found if isinstance(found, tuple) else (200, found)


ORACLE = """
import botocore.session
try:
    found = botocore.session.Session(profile=%r).get_credentials()
    print(found.get_frozen_credentials().access_key if found else "")
except Exception:
    print("")
"""


def botocore_key(environment, profile=None):
    """The id of the key that botocore finds there; "" for none."""
    return resident_botocore.printed(ORACLE % profile, environment)
