"""A validating webhook that refuses every object with the label `bad`.

It runs on this machine and in a pod, which has nothing but the standard library.
"""

import json
import ssl
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Judge(BaseHTTPRequestHandler):
    """Answers admission reviews."""

    def do_POST(self) -> None:
        """Refuse what is labelled bad."""
        length = int(self.headers["Content-Length"])
        request = json.loads(self.rfile.read(length))["request"]
        labels = request["object"]["metadata"].get("labels", {})
        answer = {"uid": request["uid"], "allowed": "bad" not in labels}
        if "bad" in labels:
            answer["status"] = {"message": f"{request['name']} is bad, says {self.server.name}"}
        review = {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview"}
        body = json.dumps({**review, "response": answer}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


class Court(ThreadingHTTPServer):
    """Serves reviews over TLS; `name` is in its refusals."""

    def __init__(self, address: tuple[str, int], certificate: str, key: str, name: str) -> None:
        super().__init__(address, Judge)
        self.name = name
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(certificate, key)

    def finish_request(self, request, client_address) -> None:
        """Shake hands in the request's own thread: a silent caller must not stop the others."""
        with self.context.wrap_socket(request, server_side=True) as line:
            super().finish_request(line, client_address)

    def handle_error(self, *_: object) -> None:
        """Let callers hang up as they like: a probe does so without a word."""
