"""Fake token services on loopback: SSO's portal and OIDC, STS, sign-in, containers, machines.

A service is a function from a Request to (status, body[, headers]); a body that is no text or bytes
is sent as JSON. Every request is kept, as it came.
"""

import http.server
import json
import threading
import urllib.parse


class Request:
    def __init__(self, method, target, headers, body):
        parts = urllib.parse.urlsplit(target)
        self.method = method
        self.path = parts.path
        self.query = dict(urllib.parse.parse_qsl(parts.query, keep_blank_values=True))
        self.headers = {name.lower(): value for name, value in headers.items()}
        self.body = body

    def form(self):
        return dict(urllib.parse.parse_qsl(self.body.decode(), keep_blank_values=True))

    def json(self):
        return json.loads(self.body)

    def __repr__(self):
        return f"<{self.method} {self.path} {self.query or ''}>"


class Service:
    """with Service(answer) as service: … service.url … service.requests"""

    def __init__(self, answer, host="127.0.0.1", tls=None):
        self.answer = answer
        self.requests = []
        service = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            wbufsize = -1  # head and body leave together, or the body waits for the head's receipt

            def do_any(self):
                length = int(self.headers.get("content-length") or 0)
                request = Request(self.command, self.path, self.headers, self.rfile.read(length))
                service.requests.append(request)
                status, body, *headers = service.answer(request)
                if not isinstance(body, (bytes, str)):
                    body = json.dumps(body)
                data = body.encode() if isinstance(body, str) else body
                self.send_response(status)
                for name, value in (headers[0] if headers else {}).items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            do_GET = do_POST = do_PUT = do_any

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer((host, 0), Handler)
        self.server.daemon_threads = True
        if tls:
            self.server.socket = tls.wrap_socket(self.server.socket, server_side=True)
        self.port = self.server.server_address[1]
        self.url = f"https://localhost:{self.port}" if tls else f"http://{host}:{self.port}"
        # The end waits for one interval.
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()
