"""nginx with the example configuration of `deploy/`, on ports of its own and with a certificate made for it.

Run as a program, for tests in a browser, it prints its address as `https://HOST:PORT`, and ends with its input.
"""

import os
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from tests.support.scale import HANG_SECONDS

EXAMPLE = Path(__file__).parents[2] / "deploy/nginx.conf"
NAME = "pilothouse.example.org"
BASE_PATH = "/pilothouse"
MAIN = """
daemon off;
pid {folder}/nginx.pid;
error_log {folder}/error.log;
events {{}}
http {{
    access_log off;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    include {folder}/site.conf;
}}
"""


class Proxy(NamedTuple):
    port: int
    """The port for TLS."""
    plain_port: int
    certificate: Path
    errors: Path
    """The log of errors."""


def nginx_program() -> str:
    program = shutil.which("nginx", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin")
    assert program is not None, "install nginx: make nginx"
    return program


@contextmanager
def nginx(upstream_port: int) -> Iterator[Proxy]:
    """Run nginx in front of a server on this machine."""
    with tempfile.TemporaryDirectory(prefix="pilothouse-nginx-") as name, _listening() as tls, _listening() as plain:
        folder = Path(name)
        folder.chmod(0o755)  # started by root, nginx works as nobody
        proxy = Proxy(tls.getsockname()[1], plain.getsockname()[1], folder / "cert.pem", folder / "error.log")
        _make_certificate(folder)
        (folder / "nginx.conf").write_text(MAIN.format(folder=folder))
        (folder / "site.conf").write_text(_site(proxy, folder, upstream_port))
        descriptors = (tls.fileno(), plain.fileno())
        process = subprocess.Popen(
            [nginx_program(), "-p", name, "-e", str(proxy.errors), "-c", str(folder / "nginx.conf")],
            pass_fds=descriptors,
            # nginx takes over the sockets, as at an upgrade of a running nginx: they are open before it starts.
            env={**os.environ, "NGINX": "".join(f"{each};" for each in descriptors)},
        )
        try:
            yield proxy
            assert process.poll() is None, proxy.errors.read_text()
        finally:
            process.terminate()
            process.wait(timeout=HANG_SECONDS)


def _listening() -> socket.socket:
    listener = socket.create_server(("127.0.0.1", 0))
    listener.setblocking(False)  # nginx expects that of a socket that it takes over
    return listener


def _make_certificate(folder: Path) -> None:
    key, certificate = folder / "key.pem", folder / "cert.pem"
    names = f"subjectAltName=DNS:{NAME},IP:127.0.0.1"
    kind = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")
    files = ("-keyout", str(key), "-out", str(certificate))
    subprocess.run(
        ["openssl", "req", "-x509", *kind, *files, "-days", "2", "-subj", f"/CN={NAME}", "-addext", names],
        check=True,
        capture_output=True,
        timeout=HANG_SECONDS,
    )


def _site(proxy: Proxy, folder: Path, upstream_port: int) -> str:
    """The example, with the addresses and files of this machine."""
    text = EXAMPLE.read_text()
    for old, new in (
        ("    listen [::]:80;\n", ""),
        ("    listen [::]:443 ssl http2;\n", ""),
        ("listen 80;", f"listen 127.0.0.1:{proxy.plain_port};"),
        ("listen 443 ssl http2;", f"listen 127.0.0.1:{proxy.port} ssl http2;"),
        ("/etc/ssl/certs/pilothouse.pem", str(folder / "cert.pem")),
        ("/etc/ssl/private/pilothouse.key", str(folder / "key.pem")),
        ("http://127.0.0.1:8484;", f"http://127.0.0.1:{upstream_port};"),
    ):
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    return text


if __name__ == "__main__":
    with nginx(int(sys.argv[1])) as running:
        print(f"https://127.0.0.1:{running.port}", flush=True)
        sys.stdin.read()
