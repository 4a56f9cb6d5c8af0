"""The aws command as one process that stays: the CLI is loaded once, and each call runs in a fork of it.

    /usr/bin/python3 resident_aws.py NAME

It listens at NAME, a Unix socket without a file. A call arrives as one message: JSON with `arguments`,
`environment` and `folder`, and the three standard descriptors. The answer is the exit status as a line.
SHIM is the program to put on PATH as `aws`.
"""

import contextlib
import functools
import json
import os
import socket
import sys
import traceback

# Waits for the socket, because the process may still be starting.
SHIM = """\
#!/usr/bin/python3 -IS
import array, json, os, socket, sys, time
arguments = sys.argv[1:]
endpoint = os.environ.get("AWS_ENDPOINT_URL_DYNAMODB")
if endpoint:
    arguments = ["--endpoint-url", endpoint, *arguments]
call = {"arguments": arguments, "environment": dict(os.environ), "folder": os.getcwd()}
deadline = time.monotonic() + 60
while True:
    link = socket.socket(socket.AF_UNIX)
    try:
        link.connect(%(address)r)
        break
    except OSError as error:
        link.close()
        if time.monotonic() > deadline:
            sys.exit(f"aws: the resident process did not start: {error}")
        time.sleep(0.02)
text = json.dumps(call).encode()
header = len(text).to_bytes(8, "big")
link.sendmsg([header], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [0, 1, 2]))])
link.sendall(text)
status = link.makefile("r").readline()
sys.exit(int(status) if status else "aws: the resident process ended without a status")
"""


def receive(link):
    header, descriptors, _, _ = socket.recv_fds(link, 8, 3)
    size, text = int.from_bytes(header, "big"), b""
    while len(text) < size:
        text += link.recv(size - len(text))
    return json.loads(text), descriptors


def load():
    """Imports the CLI, and makes it read its own files once: they are the same for all calls."""
    from awscli import clidriver  # which makes its own botocore the one to import
    from botocore import hooks, loaders

    once = functools.lru_cache(maxsize=None)
    loaders.JSONFileLoader.load_file = once(loaders.JSONFileLoader.load_file)
    loaders.JSONFileLoader.exists = once(loaders.JSONFileLoader.exists)
    loaders.Loader.list_available_services = once(loaders.Loader.list_available_services)
    for each in (loaders.JSONFileLoader, loaders.Loader):
        each.__hash__ = lambda self: 0
        each.__eq__ = lambda self, other: True
    hooks.accepts_kwargs = once(hooks.accepts_kwargs)
    os.environ.update(AWS_ACCESS_KEY_ID="x", AWS_SECRET_ACCESS_KEY="x", AWS_DEFAULT_REGION="us-east-1")
    session = clidriver.create_clidriver().session
    session.create_client("dynamodb")
    session.get_service_model("dynamodb")
    session.get_paginator_model("dynamodb")
    loader = session.get_component("data_loader")
    for name in ("service-2", "paginators-1", "endpoint-rule-set-1"):
        loader.list_available_services(name)
        loader.list_available_services(type_name=name)
    return clidriver.main


def call(main, given, descriptors):
    """In the fork: the command as if it had been started with these arguments."""
    for number, descriptor in enumerate(descriptors):
        os.dup2(descriptor, number)
    os.chdir(given["folder"])
    set_on_import = {"AWS_DATA_PATH": os.environ["AWS_DATA_PATH"]}
    os.environ.clear()
    os.environ.update({**set_on_import, **given["environment"]})
    sys.argv = ["aws", *given["arguments"]]
    try:
        status = main()
    except SystemExit as end:
        status = end.code
    sys.stdout.flush()
    sys.stderr.flush()
    return status if isinstance(status, int) else 1 if status else 0


def reap():
    """Waits for the calls that have ended, so that the run counts their processor time."""
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def serve(name):
    main = load()
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(f"\0{name}")
    listener.listen(64)
    while True:
        link, _ = listener.accept()
        reap()
        if os.fork() == 0:
            listener.close()
            status = 255
            try:
                status = call(main, *receive(link))
            except BaseException:  # pylint: disable=broad-except
                traceback.print_exc()
            finally:
                link.sendall(f"{status}\n".encode())
                os._exit(status & 255)
        link.close()


if __name__ == "__main__":
    serve(sys.argv[1])
