"""Lets `crumb browse` sign in, and begin again with nothing but the jar."""

import os
import subprocess
import sys
from pathlib import Path

from restart.login_server import HOME_URL, HOST, LOGIN_URL, SIGNED_IN, LoginServer
from server.certificate import make_tls_context
from server.proxy import ProxyServer

#: What makes each browser load a page and end.
ONCE = {"chromium": ["--headless=new", "--disable-gpu", "--dump-dom"],
        "firefox": ["--headless", "--screenshot", "page.png"]}


def browse(binary: Path, engine: str, folder: Path, port: int, url: str) -> subprocess.CompletedProcess[bytes]:
    """Runs `crumb browse` to its end."""
    environment = {**os.environ, "CRUMB_DATABASE": str(folder / "crumb.sqlite"), "XDG_RUNTIME_DIR": str(folder),
                   "CRUMB_KEY_FILE": str(folder / "crumb.key"), "HOME": str(folder), "NO_PROXY": ""}
    more = ["--no-sandbox"] if engine == "chromium" and os.geteuid() == 0 else []
    return subprocess.run(
        [str(binary), "browse", "--engine", engine, "--log", "--proxy", f"http://127.0.0.1:{port}", "--ca-file",
         str(folder / "certificate.pem"), url, "--", *ONCE[engine], *more],
        env=environment, cwd=folder, capture_output=True, check=False, timeout=180)


def tell_browse_story(binary: Path, engine: str, folder: Path) -> list[str]:
    """What is not as it should be when one signs in with a browser and begins again with another profile."""
    failures = []
    server = LoginServer()
    with ProxyServer(server.answer, make_tls_context(folder, [HOST])) as proxy:
        for step, url in (("sign in", LOGIN_URL), ("begin again", HOME_URL), ("begin once more", HOME_URL)):
            ended = browse(binary, engine, folder, proxy.port, url)
            state, _ = server.next_visit(5)
            if state != SIGNED_IN or ended.returncode != 0:
                words = ended.stderr.decode(errors="replace")[-1500:]
                failures.append(f"{step}: {state.decode()}, status {ended.returncode}: {words}")
    left = [path.name for path in folder.glob("crumb-browse-*")]
    if left:
        failures.append(f"profiles that were not removed: {left}")
    print(f"gateway: crumb browse with {engine}: {'FAILURES' if failures else 'signed in, and again: ok'}")
    return failures


def run_browse(binary: Path, engines: list[str], folder: Path) -> bool:
    """Whether `crumb browse` keeps a session with every browser that it knows."""
    passed = True
    for engine in engines:
        if engine not in ONCE:
            continue
        place = folder / f"browse-{engine}"
        place.mkdir()
        failures = tell_browse_story(binary, engine, place)
        for failure in failures:
            print(f"    {failure}", file=sys.stderr)
        passed &= not failures
    return passed
