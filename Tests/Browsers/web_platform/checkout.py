"""A checkout of web-platform-tests: which tests it has, and the server that it brings along."""

import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.request import urlopen

from engines import EngineFailure, Processes
from engines.processes import free_ports
from engines.waiting import wait_for
from server.certificate import make_tls_context

#: The hosts of the tests. All names below them lead to the loopback, but for those that tests need to fail.
HOSTS = ("web-platform.test", "not-web-platform.test")
SUBDOMAINS = ("www", "www1", "www2", "xn--n8j6ds53lwwkrqhv28a", "xn--lve-6lad")
#: The names that lead to the loopback.
NAMES = ("localhost", *HOSTS, *(f"{label}.{host}" for host in HOSTS for label in SUBDOMAINS),
         *(f"{outer}.{inner}.{host}" for host in HOSTS for inner in SUBDOMAINS for outer in SUBDOMAINS))

#: Runs with the checkout's own modules. They have names of their own for everything, so they stay out of this process.
_LIST = """
import json, os, sys
root, folders = sys.argv[1], sys.argv[2:]
sys.path.insert(0, os.path.join(root, "tools"))
import localpaths
from manifest.sourcefile import SourceFile
found = []
for folder in folders:
    place = os.path.join(root, folder)
    paths = [place] if os.path.isfile(place) else [
        os.path.join(parent, name) for parent, _, names in os.walk(place) for name in names]
    for path in sorted(paths):
        kind, items = SourceFile(root, os.path.relpath(path, root), "/").manifest_items()
        if kind == "testharness":
            found += [[item.url, item.https, item.h2, item.subdomain, item.timeout == "long"] for item in items]
print(json.dumps(found))
"""
_SERVE = """
import os, sys
root, resources = sys.argv[1:3]
del sys.argv[1:3]
os.chdir(root)
sys.path[:0] = [root, os.path.join(root, "tools")]
from tools.serve import serve
def routes(*words):
    builder = serve.get_route_builder(*words)
    for name in os.listdir(resources):
        builder.add_static(os.path.join(resources, name), {}, "text/javascript", "/resources/" + name)
    return builder
serve.run(route_builder=routes, **vars(serve.get_parser().parse_args()))
"""
#: What takes the place of files of the checkout that are there for this.
RESOURCES = Path(__file__).with_name("resources")


@dataclass(frozen=True)
class Test:
    """A page of tests; `path` has the variant as its query."""

    path: str
    scheme: str
    host: str
    #: The server's name for the port.
    port: str
    is_long: bool


class Checkout:
    """The folder of a checkout."""

    def __init__(self, folder: Path):
        self.folder = folder.resolve()
        if not (self.folder / "tools/serve/serve.py").is_file():
            raise EngineFailure(f"{folder} is no checkout of web-platform-tests: it has no tools/serve/serve.py")

    def tests(self, folders: Sequence[str]) -> list[Test]:
        """All tests of testharness.js in folders, or of single files."""
        for name in folders:
            if not (self.folder / name).exists():
                raise EngineFailure(f"the checkout has no {name}")
        completed = subprocess.run(
            [sys.executable, "-c", _LIST, str(self.folder), *folders], stdout=subprocess.PIPE, check=True)
        tests = []
        for path, is_https, is_h2, is_subdomain, is_long in json.loads(completed.stdout):
            scheme, port = ("https", "h2") if is_h2 else ("https", "https") if is_https else ("http", "http")
            tests.append(Test(path, scheme, f"www.{HOSTS[0]}" if is_subdomain else HOSTS[0], port, is_long))
        return tests


class Server:
    """The checkout's server on free ports of the loopback, with a certificate of its own."""

    def __init__(self, checkout: Checkout, processes: Processes):
        folder = processes.folder
        make_tls_context(folder, [name for host in HOSTS for name in (
            host, f"*.{host}", *(f"*.{label}.{host}" for label in SUBDOMAINS))])
        #: The certificate, which is an authority, too.
        self.certificate = folder / "certificate.pem"
        numbers = iter(free_ports(7))
        ports = {"http": [next(numbers), next(numbers)], "https": [next(numbers), next(numbers)], "h2": [next(numbers)],
                 "ws": [next(numbers)], "wss": [next(numbers)]}
        self._ports = {name: values[0] for name, values in ports.items()}
        configuration = folder / "server.json"
        configuration.write_text(json.dumps({
            "server_host": "127.0.0.1", "check_subdomains": False, "ports": ports, "logging": {"level": "warning"},
            "ssl": {"type": "pregenerated", "pregenerated": {
                "host_key_path": str(folder / "key.pem"), "host_cert_path": str(self.certificate)}}}))
        self._process = processes.start([sys.executable, "-c", _SERVE, str(checkout.folder), str(RESOURCES), "--config",
                                         str(configuration)], "server", {"PYTHONDONTWRITEBYTECODE": "1"})
        wait_for(self._answers, f"the server of {checkout.folder} (see {processes.log('server')})", timeout=300)

    def url(self, test: Test) -> str:
        """Where a browser finds a test."""
        return f"{test.scheme}://{test.host}:{self._ports[test.port]}{test.path}"

    def _answers(self) -> bool | None:
        if self._process.poll() is not None:
            raise EngineFailure("the server of web-platform-tests does not start")
        try:
            with urlopen(f"http://127.0.0.1:{self._ports['http']}/resources/testharness.js", timeout=5):
                return True
        except OSError:
            return None
