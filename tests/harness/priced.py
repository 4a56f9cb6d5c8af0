"""ddbfs as the tests run it, with an eye on its price: the requests for some paths, and their read units,
keep to the sum of the bounds that `ddbfs explain` prints for them. And on its permissions: `ddbfs
policy` grants all that was sent. Below tables/, the description of a table is sent once, beside the priced
requests, and `ddbfs policy --tables` grants it.

A command that sent nothing is not priced. A printed policy is valid for all tests of this process: it
depends on the map, the options and the environment alone."""

import collections
import json
import os
import pathlib

from . import iam, plain, runner

ASKING = ("cat", "ls")
FACTS = ("DescribeTimeToLive", "ListBackups", "DescribeContinuousBackups", "ListExports", "DescribeStream")
LATER = {"ExclusiveStartBackupArn", "ExclusiveStartShardId", "NextToken"}  # of further pages, which are not told


def asked_of(words):
    """What is asked of a listing beside its path, as `explain` takes it too."""
    names = ("--where", "--limit")
    asked = [each for at, word in enumerate(words) if word in names for each in words[at : at + 2]]
    return asked + ["--together"] * ("--together" in words)


def told_of(ddbfs, options, paths, env):
    """What `explain` prints for each of PATHS as one: the sum, and the dearest page and record. None
    when it can't explain one of them."""
    told = ddbfs.run_quick(*options, "explain", "--json", *paths, env=env, expect=None)
    each = [value for value in plain.objects(told.text) if "bound" in value]
    count = 1 if "--together" in options else len(paths)
    return summed(each) if len(each) == count else None


def summed(each):
    bound, units = collections.Counter(), {}
    for told in each:
        bound.update(told["bound"])
        for name, value in told["units"].items():
            so_far = units.get(name, 0)
            units[name] = max(so_far, value) if "_a_" in name else so_far + value
    return {"bound": bound, "units": units}


def keys_of(sent):
    """How many records a request asks for by their keys."""
    if sent.op == "GetItem":
        return 1
    return sum(len(each["Keys"]) for each in sent.body["RequestItems"].values())


def dearer(told, sent):
    """What of the read units that SENT consumed is more than was told, in words; "" for nothing."""
    bound, units = told["bound"], told["units"]
    queries = [each for each in sent if each.op == "Query"]
    later = [each for each in queries if "ExclusiveStartKey" in each.body]
    records = [each for each in sent if each.op in ("GetItem", "BatchGetItem")]
    page = units.get("most_a_page", 0)
    most = units.get("most", 0) + units.get("most_of_scan", 0)
    most += page * len(queries if bound["paged_queries"] else later)
    most += units.get("most_a_record", 0) * sum(map(keys_of, records))
    consumed = sum(each.units for each in sent)
    if consumed > most:
        return f"{consumed} units, and {most} were told"
    if any(each.units > max(page, units.get("most", 0)) for each in queries):
        return f"a page of {max(each.units for each in queries)} units, and {page} were told"
    return ""


def beyond(bound, sent):
    """What of the requests SENT is more than the bound allows, in words; "" for nothing."""
    queries = [each for each in sent if each.op == "Query"]
    later = [each for each in queries if "ExclusiveStartKey" in each.body]
    batches = [each for each in sent if each.op == "BatchGetItem"]
    tables = [each for each in sent if each.op == "ListTables"]
    structure = [each.table for each in sent if each.op == "DescribeTable"]
    scans = [each for each in sent if each.op == "Scan"]
    facts = [each for each in sent if each.op in FACTS and not LATER & set(each.body)]
    one = [each for each in sent if each.op in ("GetItem", "TransactGetItems")]
    if bound["per_100_records"]:  # a page of one record
        batches, one = batches + one, []
    else:  # several of those that are told one by one may leave together
        batches, one = [], one + batches
    single = facts + one + [each for each in queries if each not in later]
    most = bound["requests"] + bound["paged_queries"]
    if len(single) > most:
        return f"{len(single)} single requests, and {most} were told"
    if later and not bound["paged_queries"] and not bound["queries_that_may_pass_over"]:
        return f"{len(later)} further pages, and none were told"
    if tables and not bound["per_100_tables"]:
        return f"{len(tables)} ListTables, and none were told"
    if scans and not bound["scans"]:
        return f"{len(scans)} Scans, and none were told"
    searches = [each for each in sent if each.op == "SearchVectors"]
    if len(searches) > bound.get("searches", 0):
        return f"{len(searches)} searches, and {bound.get('searches', 0)} were told"
    if len(structure) > bound["descriptions"]:
        return f"{structure} described, and {bound['descriptions']} were told"
    return ""


POLICIES = {}


class Ddbfs(runner.Ddbfs):
    def __init__(self, home, proxy):
        super().__init__(home)
        self.proxy = proxy

    def run_plain(self, *arguments, **how):
        return super().__call__(*arguments, **how)

    def run_quick(self, *arguments, **how):
        """What no test looks at itself: by the program without sanitizers, as soon as there is one."""
        done = os.environ.get("DDBFS_RELEASE_DONE")
        if not done or not os.path.exists(done):
            return self.run_plain(*arguments, **how)
        return runner.Ddbfs(self.home, os.environ["DDBFS_RELEASE"])(*arguments, **how)

    def __call__(self, *arguments, env=None, **how):
        before = len(self.proxy.requests)
        result = self.run_plain(*arguments, env=env, **how)
        words = [str(each) for each in arguments]
        command = next((each for each in ASKING if each in words), None)
        if command:
            self.check(words, command, env, self.proxy.requests[before:])
        return result

    def check(self, words, command, env, sent):
        """What was sent for some paths to a service that answered as it should."""
        paths = [word for word in words[words.index(command) + 1 :] if word.startswith("/")]
        options = words[: words.index(command)]
        if not paths or not sent or any(each.faults or each.status != 200 for each in sent):
            return
        more = ["--tables"] if any("/tables/" in path for path in paths) else []
        more += ["--similar"] if any("@similar" in path for path in paths) else []
        policy = self.policy_of(options, env, more)
        for each in sent if policy else []:
            lacking = iam.missing(policy, each)
            assert not lacking, f"{paths}: {lacking} is not granted by `ddbfs policy`"
        seen = len(self.proxy.requests)
        asked = asked_of(words[words.index(command) + 1 :])
        told = told_of(self, [*options, *asked], paths, env)
        del self.proxy.requests[seen:]  # the description of a table, which the test did not ask for
        if told is not None:
            too_much = beyond(told["bound"], sent) or dearer(told, sent)
            assert not too_much, f"{paths}: {too_much}: {sent} beyond {told}"

    def policy_of(self, options, env, more):
        """What `ddbfs policy` prints with the same options, once for each content of a map."""
        given = [after for word, after in zip(options, options[1:]) if word == "--map"]
        name = (given or [self.home.environment(env).get("DDBFS_MAP")])[-1]
        if not name or not pathlib.Path(name).is_file():
            return None
        text = pathlib.Path(name).read_text("utf-8", "replace")
        others = [word for word in options if word != name]
        known = (text, *others, *more, *self.settings(env))
        if known not in POLICIES:
            told = self.run_quick(*options, "policy", "--json", *more, env=env, expect=None)
            POLICIES[known] = json.loads(told.text) if told.code == 0 else None
        return POLICIES[known]

    def settings(self, env):
        """What else a policy may depend on: the environment without folders, and the profiles."""
        own = ("HOME", "PATH", "DDBFS_MAP", "AWS_ENDPOINT_URL_DYNAMODB")
        variables = self.home.environment(env).items()
        files = [file.read_bytes() for file in (self.home.config, self.home.credentials) if file.is_file()]
        return [pair for pair in sorted(variables) if pair[0] not in own] + files
