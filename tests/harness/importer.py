"""`ddbfs import` in a folder of a test's own."""

import json
import os
import sqlite3
import subprocess

from . import places, runner


class Importer:
    """ddbfs import, in a folder of its own, without the network."""

    def __init__(self, folder):
        self.folder = folder
        self.binary = places.program("DDBFS", "build-asan/fs/ddbfs", "build/fs/ddbfs")
        self.environment = {**runner.SANITIZERS, "LANG": "C.UTF-8", "XDG_CONFIG_HOME": str(folder),
                            "AWS_EC2_METADATA_DISABLED": "true", "PATH": os.environ["PATH"]}  # fmt: skip

    def write(self, name, content):
        """A file with CONTENT: bytes, a text, or objects, one a line."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if not isinstance(content, (bytes, str)):
            content = "".join(json.dumps(each) + "\n" for each in content)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    def __call__(self, *words, expect=0, stdin=b"", preexec_fn=None, env=None):
        done = subprocess.run([self.binary, "import", *map(str, words)], cwd=self.folder, input=stdin,
                              env={**self.environment, **(env or {})}, capture_output=True,
                              preexec_fn=preexec_fn)  # fmt: skip
        assert done.returncode == expect, done.stderr.decode()
        return done.stdout.decode() if expect == 0 else done.stderr.decode()

    def start(self, *words, env=None):
        return subprocess.Popen([self.binary, "import", *map(str, words)], cwd=self.folder,
                                env={**self.environment, **(env or {})}, stdin=subprocess.PIPE,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)  # fmt: skip

    def refuse(self, *words, **how):
        """The message of an import that changes nothing."""
        before = self.files()
        message = self(*words, **{"expect": 1, **how})
        assert self.files() == before and message.count("\n") == 1
        return message

    def files(self):
        paths = [path for path in self.folder.rglob("*") if path.is_file()]
        return {path: path.read_bytes() for path in paths if ".ddb" in path.name}

    def read(self, name, sql):
        with sqlite3.connect(self.folder / name) as database:
            return database.execute(sql).fetchall()

    def items(self, name, table="Notes"):
        return [json.loads(item) for (item,) in self.read(name, f'SELECT item FROM "{table}"')]
