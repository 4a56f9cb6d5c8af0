"""TLS for tests: an authority nobody trusts by itself, its certificates, and peers that remember what
they were sent."""

import shutil
import socket
import ssl
import subprocess
import threading

import pytest

CURVE = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
# What must never reach a peer that has not proven who it is.
MARKS = (b"authorization", b"aws4-hmac", b"x-amz-", b"dynamodb_2", b"token", b"dpop", b"rolearn", b"secret")


class Authority:
    """Signs certificates; `bundle` is the file to trust it by."""

    def __init__(self, folder, name="authority"):
        if not shutil.which("openssl"):
            pytest.skip("openssl is not installed")
        folder.mkdir(exist_ok=True)
        self.folder = folder
        self.key = folder / f"{name}.key"
        self.bundle = folder / f"{name}.pem"
        self.openssl("req", "-x509", *CURVE, "-subj", f"/CN={name}", "-days", "2",
                     "-keyout", self.key, "-out", self.bundle)  # fmt: skip

    def openssl(self, *words):
        subprocess.run(["openssl", *words], check=True, capture_output=True)

    def context(self, names="DNS:localhost,IP:127.0.0.1", days=2, name="server"):
        """What a server needs to be NAMES; with DAYS below nothing its certificate has expired."""
        key, request, signed = (self.folder / f"{name}.{end}" for end in ("key", "csr", "crt"))
        self.openssl("req", *CURVE, "-subj", "/CN=server", "-addext", f"subjectAltName={names}",
                     "-keyout", key, "-out", request)  # fmt: skip
        self.openssl("x509", "-req", "-in", request, "-CA", self.bundle, "-CAkey", self.key,
                     "-CAcreateserial", "-days", str(days), "-copy_extensions", "copy",
                     "-out", signed)  # fmt: skip
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(signed, key)
        return context


class Peer:
    """Takes connections and answers each with ANSWER, or hangs up; the first one with FIRST, if that is given.
    With a context it speaks TLS. All that it was sent, decrypted where it could be, is in `seen`."""

    def __init__(self, context=None, answer=b"", first=None):
        self.context = context
        self.answer = answer
        self.first = first or answer
        self.accepted = 0
        self.seen = b""
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.url = f"https://localhost:{self.port}"
        self.thread = threading.Thread(target=self.serve, daemon=True)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        self.thread.join(10)

    def serve(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            self.accepted += 1
            connection.settimeout(10)
            try:
                self.speak(connection)
            except (OSError, ssl.SSLError):
                pass  # the client does not trust us
            finally:
                connection.close()

    def speak(self, connection):
        if self.context:
            connection = self.context.wrap_socket(connection, server_side=True)
        with connection:
            if self.context or self.answer:
                self.seen += connection.recv(65536)
            connection.sendall(self.first if self.accepted == 1 else self.answer)

    def was_told_nothing(self):
        return not any(mark in self.seen.lower() for mark in MARKS)
