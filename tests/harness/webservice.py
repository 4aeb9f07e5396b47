"""A running service with HTTP, and a browserless client of its API by urllib."""
import base64
import json
import re
import ssl
import urllib.error
import urllib.request

from service import PASSWORD, Service, free_port


class WebService(Service):
    """A Service that listens for HTTP, with an owner named dba."""

    def __init__(self, https=False, **more):
        self.http = free_port()
        self.https = https
        more.setdefault("extra", "")
        super().__init__(tls=https, **more)

    def configuration(self):
        text = super().configuration()
        text = text.replace("listen:\n", f"listen:\n  - http: 127.0.0.1:{self.http}\n", 1)
        if "owners:" not in text:
            text += f'owners:\n  dba: {{password: "{self.verifier}"}}\n'
        return text

    @property
    def origin(self):
        return f"{'https' if self.https else 'http'}://localhost:{self.http}"

    def client(self, user=None, password=PASSWORD):
        c = Client(self)
        if user:
            status, body = c.post("login", {"user": user, "password": password})
            if status != 200:
                raise AssertionError(f"{user} cannot sign in: {status} {body}")
        return c


class Client:
    def __init__(self, service):
        self.s = service
        self.cookie = None
        self.headers = {}

    def open(self, path, data=None, headers=None, method=None):
        """(status, headers, bytes)"""
        h = {} if headers is None else dict(headers)
        if self.cookie:
            h["Cookie"] = self.cookie
        r = urllib.request.Request(self.s.origin + path, data=data, headers=h, method=method)
        context = ssl.create_default_context(cafile=self.s.path("server.crt")) if self.s.https else None
        try:
            with urllib.request.urlopen(r, timeout=120, context=context) as f:
                out = f.status, f.headers, f.read()
        except urllib.error.HTTPError as e:
            out = e.code, e.headers, e.read()
        got = out[1].get("Set-Cookie")
        if got:
            m = re.match(r"([\w-]+=\w*);", got)
            self.cookie = m[1] if m and not m[1].endswith("=") else None
        return out

    def get(self, path, **headers):
        status, self.headers, body = self.open("/api/v1/" + path, headers=headers)
        return status, json.loads(body)

    def post(self, path, body, **headers):
        h = {"Content-Type": "application/json", "X-DPC": "1", "Origin": self.s.origin}
        h.update({k.replace("_", "-"): v for k, v in headers.items()})
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        status, self.headers, text = self.open("/api/v1/" + path, data=data, headers={k: v for k, v in h.items() if v is not None})
        return status, json.loads(text)


def basic(user, password=PASSWORD):
    return "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()
