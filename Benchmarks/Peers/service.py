"""Drives the service and a bare one with wrk, in turns, and prints how they compare.

    service.py --crumb FILE --bare FILE --folder FOLDER [--seconds N] [--rounds N]

The figures are of the client's: requests answered each second, and the time that all but one of a hundred took at most.
"""

import argparse
import json
import os
import re
import socket
import subprocess
import time
import urllib.request
from pathlib import Path

CONNECTIONS = [1, 16, 256]


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return probe.getsockname()[1]


def wait_until_it_listens(port: int) -> None:
    for _ in range(400):
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        except OSError:
            time.sleep(0.05)
    raise SystemExit("a service does not start")


def lua(folder: Path, name: str, method: str, body: str, token: str) -> Path:
    """A script for wrk: the same request again and again; `%d` in the body is a running number."""
    script = folder / f"{name}.lua"
    quoted = json.dumps(body)
    script.write_text(f"""
wrk.method = "{method}"
wrk.headers["Content-Type"] = "application/json"
wrk.headers["Authorization"] = "Bearer {token}"
local body = {quoted}
local count = 0
local numbered = body:find("%%d") ~= nil
function request()
  if not numbered then return wrk.format(nil, nil, nil, body) end
  count = count + 1
  return wrk.format(nil, nil, nil, (body:gsub("%%d", tostring(count % 50))))
end
function done(summary, latency, requests)
  io.write(string.format("RESULT %.1f %.3f %d\\n", summary.requests / summary.duration * 1e6,
    latency:percentile(99) / 1000, summary.errors.status + summary.errors.connect + summary.errors.read
    + summary.errors.write + summary.errors.timeout))
end
""")
    return script


def load(script: Path, url: str, connections: int, seconds: float) -> tuple[float, float, int]:
    """Requests a second, the 99th percentile in milliseconds, failures."""
    threads = 1
    output = subprocess.run(["wrk", f"-t{threads}", f"-c{connections}", f"-d{max(1, round(seconds))}s", "-s", str(script), url],
                            capture_output=True, text=True, check=True).stdout
    match = re.search(r"RESULT ([\d.]+) ([\d.]+) (\d+)", output)
    assert match, output
    return float(match[1]), float(match[2]), int(match[3])


def resident(pid: int) -> float:
    """Megabytes that a process has in memory."""
    text = Path(f"/proc/{pid}/status").read_text()
    return int(re.search(r"VmRSS:\s+(\d+)", text)[1]) / 1024  # type: ignore[index]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--crumb", type=Path, required=True)
    parser.add_argument("--bare", type=Path, required=True)
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    folder = options.folder
    environment = {**os.environ, "CRUMB_DATABASE": str(folder / "crumb.sqlite"), "HOME": str(folder),
                   "CRUMB_KEY_FILE": str(folder / "key"), "XDG_RUNTIME_DIR": str(folder)}
    lines = "\r\n".join(f"Set-Cookie: name{n}=value-{n}-{'x' * 20}; Path=/; Secure; Max-Age=86400" for n in range(10))
    subprocess.run([options.crumb, "import", "--quiet", "--url", "https://www.shop.test/", "-"], check=True,
                   stdout=subprocess.DEVNULL, env=environment, input=f"HTTP/1.1 200 OK\r\n{lines}\r\n\r\n".encode())
    port, bare_port = free_port(), free_port()
    log = open(folder / "serve.log", "wb")
    service = subprocess.Popen(
        [options.crumb, "serve", "--listen", f"127.0.0.1:{port}"], env={**environment, "CRUMB_DURABILITY": "full"}, stderr=log)
    bare = None
    try:
        wait_until_it_listens(port)
        token = (folder / "crumb.sqlite.token").read_text().strip()
        body = json.dumps({"url": "https://www.shop.test/account"})
        path = "/v1/jars/default/decorate"
        request = urllib.request.Request(
            f"http://127.0.0.1:{port}{path}", body.encode(),
            {"Authorization": f"Bearer {token}", "Content-Type": "application/json"})
        answer = urllib.request.urlopen(request).read()
        (folder / "answer").write_bytes(answer)
        bare = subprocess.Popen([options.bare, str(bare_port), str(folder / "answer")])
        wait_until_it_listens(bare_port)
        script = lua(folder, "decorate", "POST", body, token)
        decorate_rate = 0.0
        print(f"answer of {len(answer)} octets, {options.rounds} rounds of {options.seconds} s; best of each")
        print("connections  bare/s  decorate/s  ratio  bare p99 ms  decorate p99 ms  ratio  failures")
        for connections in CONNECTIONS:
            bests = {bare_port: [0.0, 1e9, 0], port: [0.0, 1e9, 0]}
            for _ in range(options.rounds):
                for which in (bare_port, port):
                    rate, late, failures = load(script, f"http://127.0.0.1:{which}{path}", connections, options.seconds)
                    best = bests[which]
                    bests[which] = [max(best[0], rate), min(best[1], late), int(best[2]) + failures]
            (bare_rate, bare_late, _), (rate, late, failures) = bests[bare_port], bests[port]
            if connections == 16:
                decorate_rate = rate
            print(f"{connections:11} {bare_rate:7.0f} {rate:11.0f} {rate / bare_rate:6.2f} {bare_late:12.2f} "
                  f"{late:16.2f} {late / bare_late:6.2f} {failures:9}")
        body = json.dumps({"url": "https://www.shop.test/account", "status": 200, "headers": [
            {"name": "Set-Cookie", "value": "counter%d=1; Path=/; Secure; Max-Age=3600"}]})
        script = lua(folder, "responses", "POST", body, token)
        best = max((load(script, f"http://127.0.0.1:{port}/v1/jars/default/responses", 64, options.seconds)
                    for _ in range(options.rounds)))
        print(f"responses at 64 connections, durability full: {best[0]:.0f}/s, {best[0] / decorate_rate:.2f} of decorate "
              f"at 16, p99 {best[1]:.2f} ms, {best[2]} failures")
        print(f"memory: {resident(service.pid):.1f} MB")
    finally:
        service.terminate()
        if bare:
            bare.kill()
        service.wait()


if __name__ == "__main__":
    main()
