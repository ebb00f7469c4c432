"""What curl, wget, HTTPie and mitmproxy write."""

import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

from capture import Capture, ToolFailure, Workbench
from capture_site import PLAIN
from engines.waiting import wait_for
from login_site import HOST
from tools import Curl, HTTPie, Wget

LIBCURL = str(Path(__file__).with_name("libcurl_output.py"))
# Debian's recorder of HARs for mitmproxy 8, which could not yet write them itself.
HAR_DUMP = Path("/usr/share/doc/mitmproxy/examples/contrib/har_dump.py")


def curl(bench: Workbench) -> Iterator[Capture]:
    """All that curl tells, with redirects and a proxy's own answers between."""
    def run(*words: str, out: str = "body", err: str = "talk", speaks: bool = False) -> None:
        bench.run("curl", *(() if speaks else ("--silent",)), "--location", "--insecure", *words, bench.url,
                  out=out, err=err)

    url = ("--url", bench.url)
    run("-i", out="i")
    yield Capture("curl -i", ("i", *url))
    run("-i", "--suppress-connect-headers", out="s")
    yield Capture("curl -i --suppress-connect-headers", ("s", *url))
    run("-D", "d")
    yield Capture("curl --dump-header", ("d", *url))
    run("-v", err="v")
    yield Capture("curl -v", ("v",))
    run("-v", err="meter", speaks=True)
    yield Capture("curl -v, with its progress meter", ("meter",))
    run("-v", "-#", err="bar", speaks=True)
    yield Capture("curl -v -#", ("bar",))
    for form in ("verbose", "trace"):
        bench.run(str(bench.python), LIBCURL, form, bench.url, err=f"current-{form}")
        yield Capture(f"current libcurl, {form}", (f"current-{form}",))
    run("--trace-ascii", "ta", "--trace-time")
    # A dot for every octet that is not ASCII.
    yield Capture("curl --trace-ascii", ("ta",), otherwise={"umlaut": {"value": "Gr....e"}})
    run("--trace", "t")
    yield Capture("curl --trace", ("t",))
    run("-o", "b", "-w", "%{header_json}", out="hj")
    # curl 7.88 loses the backslash of an escape, and takes octets for signed numbers.
    octets = "".join(f"uffffff{octet:02x}" if octet > 0x7F else chr(octet) for octet in "Grüße".encode())
    yield Capture("curl --write-out '%{header_json}'", ("hj", "--url", f"https://{HOST}/login"),
                  frozenset({"redirected"}), otherwise={"umlaut": {"value": octets}})
    run("--cookie-jar", "jar")
    yield Capture("curl --cookie-jar", ("jar",), frozenset(Curl.unwritten), Curl.unsaid)


def wget(bench: Workbench) -> Iterator[Capture]:
    """What wget tells, its cookies and its archive."""
    def run(*words: str) -> None:
        bench.run("wget", "--no-config", "--no-check-certificate", "--no-hsts", "-O", "body", *words, bench.url)

    run("-S", "-o", "told")
    yield Capture("wget -S", ("told",))
    run("--keep-session-cookies", "--save-cookies", "cookies")
    yield Capture("wget --save-cookies", ("cookies",), frozenset(Wget.unwritten), Wget.unsaid)
    run("--no-warc-compression", "--warc-file", "plain")
    yield Capture("wget --no-warc-compression --warc-file", ("plain.warc",))
    run("--warc-file", "packed")
    yield Capture("wget --warc-file", ("packed.warc.gz",))
    run("-S", "-d", "-o", "debugged")
    yield Capture("wget -S -d", ("debugged",))


def httpie(bench: Workbench) -> Iterator[Capture]:
    """What HTTPie prints, and its session."""
    words = ("http", "--ignore-stdin", "--verify=no", f"--proxy=https:{bench.proxy}", "--follow")
    bench.run(*words, "--all", "--headers", bench.url, out="headers")
    # It takes the octets of a field for Latin-1 and prints UTF-8.
    yield Capture("http --headers", ("headers", "--url", bench.url),
                  otherwise={"umlaut": {"value": "Grüße".encode().decode("latin-1")}})
    bench.run(*words, f"--session={bench.path('session.json')}", bench.url)
    yield Capture("http --session", ("session.json",), unsaid=HTTPie.unsaid)


def mitmproxy(bench: Workbench) -> Iterator[Capture]:
    """Debian's mitmproxy between curl and the site: what it records is written as HAR by two of its generations."""
    folder = f"confdir={bench.path('mitmproxy')}"
    flows = bench.path("flows")
    _record(bench, bench.url, "--set", folder, "--mode", f"upstream:{bench.proxy}", "--ssl-insecure", "-w", flows)
    bench.run(str(bench.python.parent / "mitmdump"), "--quiet", "--set", folder, "-nr", flows, "--set",
              "hardump=new.har")
    yield Capture("mitmdump --set hardump", ("new.har",))
    if HAR_DUMP.exists():
        # It fails behind a proxy, so that the site is asked directly.
        origin = f"http://127.0.0.1:{bench.proxy_port}"
        har = bench.path("old.har")
        _record(bench, f"{origin}{PLAIN}", "--set", folder, "-s", str(HAR_DUMP), "--set", f"hardump={har}")
        yield Capture("mitmdump 8 -s har_dump.py", (har,), origin=origin, paths=(PLAIN,))


def _record(bench: Workbench, url: str, *arguments: str) -> None:
    """Has mitmdump look on while curl asks for `url`."""
    port = free_port()
    process = bench.processes.start(
        ["mitmdump", "--quiet", "--listen-host", "127.0.0.1", "--listen-port", str(port), *arguments], "mitmdump")
    wait_for_listener(process, port, "mitmdump")
    bench.run("curl", "--silent", "--location", "--insecure", "--noproxy", "", "--proxy", f"http://127.0.0.1:{port}",
              url, out="body")
    bench.processes.stop(process, grace=20)


def free_port() -> int:
    """A port of the loopback that nothing listens on."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return probe.getsockname()[1]


def wait_for_listener(process: subprocess.Popen[bytes], port: int, name: str) -> None:
    """Waits until the program listens."""
    def is_listening() -> bool | None:
        if process.poll() is not None:
            raise ToolFailure(f"{name} does not start")
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return True
        except OSError:
            return None

    wait_for(is_listening, name)
