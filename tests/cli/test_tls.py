"""TLS: a certificate that cannot be trusted is asked for once; what may heal is tried again."""

import shutil
import socket
import ssl
import subprocess
import threading

import pytest

SETTINGS = "/prod/shops/cool-store.myshopify.com/SETTINGS"


class TlsServer:
    """Counts those who connect. With a certificate it speaks TLS, without one it hangs up."""

    def __init__(self, certificate=None):
        self.context = None
        if certificate:
            self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            self.context.load_cert_chain(certificate)
        self.accepted = 0
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"https://127.0.0.1:{self.listener.getsockname()[1]}"
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
            with connection:
                try:
                    if self.context:
                        self.context.wrap_socket(connection, server_side=True)
                except (OSError, ssl.SSLError):
                    pass  # the client does not trust us


@pytest.fixture
def certificate(tmp_path):
    """A certificate that nobody has signed, with its key."""
    if not shutil.which("openssl"):
        pytest.skip("openssl is not installed")
    path = tmp_path / "self-signed.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
         "-subj", "/CN=127.0.0.1", "-days", "2", "-keyout", path, "-out", f"{path}.crt"],
        check=True, capture_output=True,
    )  # fmt: skip
    path.write_text(path.read_text() + (path.parent / f"{path.name}.crt").read_text())
    return path


def test_a_certificate_that_is_not_trusted_is_asked_for_once(ddbfs, certificate):
    with TlsServer(certificate) as server:
        result = ddbfs("--endpoint-url", server.url, "cat", SETTINGS, expect=None)
    assert result.code != 0 and "is not trusted" in result.stderr
    assert "AWS_CA_BUNDLE" in result.stderr and "tried" not in result.stderr
    assert server.accepted == 1


def test_authorities_that_cannot_be_read_are_looked_for_once(ddbfs, certificate):
    with TlsServer(certificate) as server:
        environment = {"AWS_CA_BUNDLE": "/nowhere/authorities.pem"}
        result = ddbfs("--endpoint-url", server.url, "cat", SETTINGS, env=environment, expect=None)
    assert result.code != 0 and "check AWS_CA_BUNDLE" in result.stderr
    assert "tried" not in result.stderr


def test_a_handshake_that_is_cut_off_is_tried_again(ddbfs):
    with TlsServer() as server:
        result = ddbfs("--endpoint-url", server.url, "cat", SETTINGS, expect=None)
    assert result.code != 0 and "(tried 4 times)" in result.stderr
    assert server.accepted == 4
