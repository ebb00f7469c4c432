"""Whether browsers refuse certificates of an authority for hosts beyond its name constraints.

`crumb browse` has a browser trust an authority like this one, and relies on that. The laboratory's other tests do not show
it: they tell browsers to accept every certificate. The gateway itself makes no certificate beyond the constraints, so this
authority is made by openssl.
"""

import os
import ssl
import subprocess
import threading
from functools import partial
from pathlib import Path

from engines.display import start_display
from engines.processes import Processes
from engines.waiting import run_together
from server.messages import Request, Response
from server.proxy import ProxyServer

INSIDE, OUTSIDE = "www.inside.test", "www.outside.test"
BUNDLE = "/etc/ssl/certs/ca-certificates.crt"
MINI_BROWSER = "/usr/lib/x86_64-linux-gnu/webkit2gtk-4.1/MiniBrowser"
#: How long a browser has for a page, in seconds.
PATIENCE = 20


def make_authority(folder: Path, is_constrained: bool) -> ssl.SSLContext:
    """An authority, in `authority.pem`, and the context of a server with a certificate of it for both hosts."""
    constraints = ["-addext", f"nameConstraints=critical,permitted;DNS:{INSIDE.partition('.')[2]}"] if is_constrained else []
    curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]

    def openssl(*words: str) -> None:
        subprocess.run(["openssl", *words], cwd=folder, check=True, capture_output=True)

    openssl("req", "-x509", *curve, "-keyout", "authority.key", "-out", "authority.pem", "-days", "2", "-subj",
            "/CN=browser laboratory", "-addext", "keyUsage=critical,keyCertSign", *constraints)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    contexts: dict[str, ssl.SSLContext] = {}
    for host in (INSIDE, OUTSIDE):
        (folder / "extensions").write_text(f"subjectAltName=critical,DNS:{host}\nextendedKeyUsage=serverAuth\n")
        openssl("req", *curve, "-keyout", f"{host}.key", "-out", f"{host}.request", "-subj", "/")
        openssl("x509", "-req", "-in", f"{host}.request", "-CA", "authority.pem", "-CAkey", "authority.key",
                "-CAcreateserial", "-days", "2", "-extfile", "extensions", "-out", f"{host}.pem")
        contexts[host] = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        contexts[host].load_cert_chain(folder / f"{host}.pem", folder / f"{host}.key")

    def choose(stream: ssl.SSLSocket, name: str, _: ssl.SSLContext) -> None:
        if name in contexts:
            stream.context = contexts[name]

    context.load_cert_chain(folder / f"{INSIDE}.pem", folder / f"{INSIDE}.key")
    context.sni_callback = choose
    return context


def command(name: str, folder: Path, authority: Path, port: int, url: str) -> list[str]:
    """What starts a browser that trusts an authority as `crumb browse` has it trusted."""
    profile = folder / "profile"
    profile.mkdir()
    if name == "webkit":
        bundle = folder / "authorities.pem"
        bundle.write_bytes(Path(BUNDLE).read_bytes() + authority.read_bytes())
        return ["bwrap", "--die-with-parent", "--unshare-pid", "--dev-bind", "/", "/", "--proc", "/proc", "--ro-bind",
                str(bundle), BUNDLE, "--", MINI_BROWSER, f"--proxy=http://127.0.0.1:{port}", "--private",
                "--exit-after-load", url]
    database = folder / ".pki/nssdb" if name == "chromium" else profile
    database.mkdir(parents=True, exist_ok=True)
    for words in (["-N", "--empty-password"], ["-A", "-n", "lab", "-t", "C,,", "-i", str(authority)]):
        subprocess.run(["certutil", "-d", f"sql:{database}", *words], check=True, capture_output=True)
    if name == "chromium":
        root = ["--no-sandbox"] if os.geteuid() == 0 else []
        return ["/usr/bin/chromium", "--headless=new", "--disable-gpu", "--no-first-run", "--disable-background-networking",
                "--disable-component-update", f"--user-data-dir={profile}", f"--proxy-server=http://127.0.0.1:{port}",
                *root, "--dump-dom", url]
    (profile / "user.js").write_text("".join(
        f'user_pref("network.proxy.{key}", {value});\n' for key, value in (
            ("type", 1), ("http", '"127.0.0.1"'), ("http_port", port), ("ssl", '"127.0.0.1"'), ("ssl_port", port))))
    return ["/usr/bin/firefox-esr", "--headless", "--no-remote", "--profile", str(profile), "--screenshot",
            str(folder / "page.png"), url]


def loads(name: str, folder: Path, url: str, is_constrained: bool) -> bool:
    """Whether a browser sends its request for a page to the server."""
    folder.mkdir()
    loaded = threading.Event()
    host = url.split("/")[2]

    def answer(request: Request) -> Response | None:
        if request.parts.hostname != host:
            return None
        loaded.set()
        return Response(body=b"<!doctype html><title>loaded</title>")

    processes = Processes(folder)
    with ProxyServer(answer, make_authority(folder, is_constrained)) as proxy:
        environment = {"DISPLAY": start_display(processes), "GDK_BACKEND": "x11", "NO_AT_BRIDGE": "1", "HOME": str(folder),
                       "GSETTINGS_BACKEND": "memory", "GIO_USE_VFS": "local", "MOZ_CRASHREPORTER_DISABLE": "1"}
        process = processes.start(command(name, folder, folder / "authority.pem", proxy.port, url), name, environment)
        try:
            process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            pass
        finally:
            processes.stop_all()
    return loaded.is_set()


def test_constraints(name: str, folder: Path) -> list[str]:
    """What is not as it should be, after a line with what was found."""
    folder.mkdir()
    rows = [(INSIDE, True, True), (OUTSIDE, True, False), (OUTSIDE, False, True)]
    found: dict[int, bool] = {}

    def run(index: int, host: str, is_constrained: bool) -> None:
        found[index] = loads(name, folder / str(index), f"https://{host}/", is_constrained)

    run_together([partial(run, index, host, is_constrained) for index, (host, is_constrained, _) in enumerate(rows)])
    failures = [f"constraints: {name} {'loads' if found.get(index) else 'does not load'} {host}, of an authority "
                f"{'for ' + INSIDE.partition('.')[2] if is_constrained else 'without constraints'}"
                for index, (host, is_constrained, expected) in enumerate(rows) if found.get(index) is not expected]
    print(f"gateway: {name} and certificates beyond the constraints of their authority: "
          f"{'FAILURES' if failures else 'refused: ok'}")
    return failures
