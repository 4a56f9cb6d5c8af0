"""HTTP/1.1 on a socket, as little as a DynamoDB proxy needs: one request, one response."""

import http.client
import json
import socket
import struct
import time
import uuid
import zlib

SERVICE_TYPE = "com.amazonaws.dynamodb.v20120810"
AUTH_TYPE = "com.amazon.coral.service"
JSON_TYPE = "application/x-amz-json-1.0"
# Headers that speak of one hop, or that the proxy says itself.
OWN_HEADERS = ("connection", "content-length", "transfer-encoding", "date", "keep-alive")


class Request:
    """One request as received; headers are pairs, names in lower case."""

    def __init__(self, method, path, headers, body):
        self.method = method
        self.path = path
        self.headers = headers
        self.body = body

    def header(self, name):
        return next((value for key, value in self.headers if key == name), None)


class Response:
    """One response on its way to the client. A header that is None is not sent. CUT is how many
    body bytes are sent before the connection closes; RESET closes it with RST and sends nothing. PACE_S
    passes between any two bytes of the head."""

    def __init__(self, status, body, headers=None):
        self.status = status
        self.body = body
        self.headers = {"content-type": JSON_TYPE, **(headers or {})}
        self.cut = None
        self.reset = False
        self.pace_s = 0
        self.piece_s = 0  # a pause behind each piece of the body

    def json(self):
        return json.loads(self.body)

    def replace_json(self, value):
        self.body = json.dumps(value).encode()
        self.headers.pop("x-amz-crc32", None)


def error(status, code, message, namespace=SERVICE_TYPE):
    body = json.dumps({"__type": f"{namespace}#{code}", "message": message})
    return Response(status, body.encode())


def read_request(stream):
    """The next request of a connection; None when the client has closed it."""
    line = stream.readline(65536)
    if not line.endswith(b"\r\n"):
        return None
    method, path, _ = line.decode("latin-1").split(" ", 2)
    headers = []
    while (line := stream.readline(65536)) not in (b"\r\n", b""):
        name, _, value = line.decode("latin-1").partition(":")
        headers.append((name.lower(), value.strip()))
    length = next((int(value) for name, value in headers if name == "content-length"), 0)
    return Request(method, path, headers, stream.read(length))


def add_own_headers(response, now_s):
    """What the service says and a local server may not: checksum, request id, date."""
    headers = response.headers
    headers.setdefault("x-amz-crc32", str(zlib.crc32(response.body)))
    headers.setdefault("x-amzn-requestid", uuid.uuid4().hex.upper())
    headers["content-length"] = str(len(response.body))
    headers["date"] = time.strftime("%a, %d %b %Y %H:%M:%S GMT", time.gmtime(now_s))


PIECE = 200_000  # bytes of a body that comes slowly


def send_response(connection, response):
    """False when the connection must not be used again."""
    if response.reset:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        return False
    reason = http.client.responses.get(response.status, "Unknown")
    lines = [f"HTTP/1.1 {response.status} {reason}"]
    sent = [(name, value) for name, value in response.headers.items() if value is not None]
    lines += [f"{name}: {value}" for name, value in sent]
    head = "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n"
    for byte in head if response.pace_s else b"":
        connection.sendall(bytes([byte]))
        time.sleep(response.pace_s)
    rest = (b"" if response.pace_s else head) + response.body[: response.cut]
    for at in range(0, len(rest), PIECE) if response.piece_s else ():
        connection.sendall(rest[at : at + PIECE])
        time.sleep(response.piece_s)
    connection.sendall(b"" if response.piece_s else rest)
    return response.cut is None


class Upstream:
    """One kept-alive connection to the server; reopened when the server has closed it."""

    def __init__(self, host, port):
        self.host = host
        self.port = port
        self.connection = None

    def open(self):
        connection = http.client.HTTPConnection(self.host, self.port, timeout=60)
        connection.connect()
        connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return connection

    def ask(self, request, body):
        skipped = (*OWN_HEADERS, "accept-encoding", "expect")
        headers = {name: value for name, value in request.headers if name not in skipped}
        self.connection = self.connection or self.open()
        self.connection.request(request.method, request.path, body, headers)
        return self.connection.getresponse()

    def close(self):
        if self.connection:
            self.connection.close()
        self.connection = None

    def forward(self, request, body):
        try:
            answer = self.ask(request, body)
        except (OSError, http.client.HTTPException):
            self.close()
            answer = self.ask(request, body)
        headers = {name.lower(): value for name, value in answer.getheaders()}
        kept = {name: value for name, value in headers.items() if name not in OWN_HEADERS}
        return Response(answer.status, answer.read(), kept)
