"""A server on loopback that speaks the comments API of GitHub and of GitLab, as their documentation describes it."""

import json
import re
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

TOKEN = "t0ken-of-the-job"


class CodeHost:
    """The comments of one pull request, and what was asked of the server."""

    def __init__(self):
        self.comments = []
        self.asked = []
        # Replaces the reply to every request: a status.
        self.status = None
        # GitHub's token of a job may not ask who it is.
        self.login = None
        self.url = ""

    def add(self, body, login="github-actions[bot]", kind="Bot"):
        user = {"login": login, "username": login, "type": kind}
        self.comments.append({"id": 1000 + len(self.comments), "body": body, "user": user, "author": user})
        return self.comments[-1]

    def answer(self, method, path, query, headers, body):
        if self.status:
            return self.status, {"message": TOKEN}
        if TOKEN not in (headers.get("Authorization", "").removeprefix("Bearer "), headers.get("PRIVATE-TOKEN")):
            return 401, {"message": "Bad credentials"}
        if path.endswith("/user"):
            return (200, {"login": self.login, "username": self.login}) if self.login else (403, {})
        one = re.fullmatch(r"/repos/o/r/issues/comments/(\d+)|/projects/5/merge_requests/12/notes/(\d+)", path)
        if one and method in ("PATCH", "PUT"):
            [comment] = [each for each in self.comments if each["id"] == int(one[1] or one[2])]
            comment["body"] = body["body"]
            return 200, comment
        if path in ("/repos/o/r/issues/12/comments", "/projects/5/merge_requests/12/notes"):
            if method == "POST":
                return 201, self.add(body["body"], self.login or "github-actions[bot]")
            size, page = int(query["per_page"][0]), int(query["page"][0])
            return 200, self.comments[size * (page - 1) : size * page]
        return 404, {"message": "Not Found"}


@contextmanager
def running_host():
    """The server, until the block ends."""
    host = CodeHost()

    class Handler(BaseHTTPRequestHandler):
        def _reply(self):
            parts = urlsplit(self.path)
            size = int(self.headers.get("Content-Length") or 0)
            body = json.loads(self.rfile.read(size)) if size else None
            host.asked.append((self.command, parts.path))
            status, content = host.answer(self.command, parts.path, parse_qs(parts.query), self.headers, body)
            data = json.dumps(content).encode()
            self.send_response(status)
            if status == 302:
                self.send_header("Location", f"{host.url}/elsewhere")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        do_GET = do_POST = do_PATCH = do_PUT = _reply  # noqa: N815

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    host.url = f"http://127.0.0.1:{server.server_port}"
    try:
        yield host
    finally:
        server.shutdown()
        server.server_close()


def github(host, **more):
    """The variables of a job for pull request 12."""
    return {
        "GITHUB_API_URL": host.url,
        "GITHUB_REPOSITORY": "o/r",
        "GITHUB_REF": "refs/pull/12/merge",
        "GITHUB_TOKEN": TOKEN,
        **more,
    }


def gitlab(host, **more):
    """The variables of a job for merge request 12."""
    return {
        "CI_API_V4_URL": host.url,
        "CI_PROJECT_ID": "5",
        "CI_MERGE_REQUEST_IID": "12",
        "RAGSTONE_GITLAB_TOKEN": TOKEN,
        **more,
    }
