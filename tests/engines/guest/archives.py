"""Debian archives on 127.0.0.1, with tiny packages, that have, lack, cut or falsify files."""

import contextlib
import hashlib
import http.server
import json
import subprocess
import threading
from functools import partial

SNAPSHOT = "20260101T000000Z"


class Archive(http.server.SimpleHTTPRequestHandler):
    """Serves a folder, but some files other than they are, by what their names contain. What is
    asked for below /elsewhere is redirected.
    """

    protocol_version = "HTTP/1.1"

    def __init__(self, *args, asked, lacks=(), cuts=(), falsifies=(), **options):
        self.asked, self.lacks, self.cuts, self.falsifies = asked, lacks, cuts, falsifies
        super().__init__(*args, **options)

    def do_GET(self):
        self.asked.append(self.path)
        if self.path.startswith("/elsewhere/"):
            self.send_response(302)
            self.send_header("Location", self.path.removeprefix("/elsewhere"))
            self.send_header("Content-Length", "0")
            self.end_headers()
        elif any(name in self.path for name in self.lacks):
            self.send_error(404)
        elif any(name in self.path for name in self.cuts):
            self.answer(lambda content: content[: len(content) // 2])
        elif any(name in self.path for name in self.falsifies):
            self.answer(lambda content: content[:-1] + bytes([content[-1] ^ 1]))
        else:
            super().do_GET()

    def answer(self, changed):
        with open(self.translate_path(self.path), "rb") as file:
            content = file.read()
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(changed(content))
        self.close_connection = True

    def log_message(self, *_):
        pass


def with_answers(folder, pool):
    """What Debian's snapshot archive answers to debsnap about the packages of a pool, as files of
    a folder to serve.
    """
    for path in pool.rglob("*.deb"):
        name, version, architecture = path.stem.split("_")
        told = {"name": name, "binary_version": version, "source": name, "version": version}
        answer(folder / "mr/binary" / name, {"result": [told]})
        digest = hashlib.sha1(path.read_bytes()).hexdigest()
        found = {
            "result": [{"hash": digest, "architecture": architecture}],
            "fileinfo": {digest: [{"name": path.name}]},
        }
        answer(folder / "mr/package" / name / version / "binfiles" / name / version, found)
        (folder / "file").mkdir(exist_ok=True)
        (folder / "file" / digest).write_bytes(path.read_bytes())


def answer(path, content):
    path.mkdir(parents=True)
    (path / "index.html").write_text(json.dumps(content))


def configure_apt(monkeypatch, folder, *more):
    """Have apt read a configuration in a folder, which asks this machine directly; -> its file."""
    lines = 'Acquire::http::Proxy "DIRECT";', 'Acquire::Retries "0";', *more
    (folder / "apt.conf").write_text("".join(f"{line}\n" for line in lines))
    monkeypatch.setenv("APT_CONFIG", str(folder / "apt.conf"))
    return folder / "apt.conf"


@contextlib.contextmanager
def serve(folder, **behaviour):
    """Serve a folder; gives its address, and the paths that were asked for, as they come."""
    asked = []
    handler = partial(Archive, directory=folder, asked=asked, **behaviour)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}", asked
        finally:
            server.shutdown()
            thread.join()


def make_package(pool, name, version="1.0+a~1-1", architecture="amd64", fields="", **files):
    """A Debian package with these files, in a pool; gives its path."""
    tree = pool.parent / "trees" / f"{name}_{version}"
    files = {"usr/share/doc/" + name + "/copyright": f"Copyright of {name}\n", **files}
    control = f"Package: {name}\nVersion: {version}\nArchitecture: {architecture}\n{fields}"
    files["DEBIAN/control"] = (
        f"{control}Maintainer: Nobody <nobody@example.org>\nDescription: tiny\n"
    )
    for path, content in files.items():
        (tree / path).parent.mkdir(parents=True, exist_ok=True)
        (tree / path).write_bytes(content if isinstance(content, bytes) else content.encode())
    (tree / "DEBIAN").chmod(0o755)  # dpkg-deb wants it so, whatever the umask says
    folder = pool / "main" / name[0] / name
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}_{version}_{architecture}.deb"
    command = ["dpkg-deb", "--root-owner-group", "-Znone", "-b", tree, path]
    subprocess.run(command, check=True, capture_output=True)
    return path


def entry(path, pool):
    """What a lock says of a file."""
    content = path.read_bytes()
    return {
        "path": str(path.relative_to(pool.parent)),
        "size": len(content),
        "sha256": hashlib.sha256(content).hexdigest(),
    }
