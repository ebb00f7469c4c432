"""What dumpcap records of curl and nginx, over HTTP/1.1 and HTTP/2, with TLS. tshark reads it for crumb."""

import os
import signal
import subprocess
from collections.abc import Iterator

from capture import Capture, ToolFailure, Workbench
from command_line_captures import free_port, wait_for_listener
from engines.waiting import wait_for
from login_site import HOST

_CONFIGURATION = """
daemon off; pid {folder}/nginx.pid; error_log {folder}/nginx-errors.log; {user}
events {{}}
http {{
    access_log off;
    client_body_temp_path {folder}/nginx-body; proxy_temp_path {folder}/nginx-proxy;
    fastcgi_temp_path {folder}/nginx-fastcgi; uwsgi_temp_path {folder}/nginx-uwsgi; scgi_temp_path {folder}/nginx-scgi;
    server {{
        listen 127.0.0.1:{port} ssl http2;
        ssl_certificate {certificate}/certificate.pem;
        ssl_certificate_key {certificate}/key.pem;
        # A response may have more header lines than the defaults hold.
        proxy_buffer_size 64k; proxy_buffers 4 64k; proxy_busy_buffers_size 64k;
        location / {{ proxy_pass http://127.0.0.1:{site}; }}
    }}
}}
"""


def tshark(bench: Workbench) -> Iterator[Capture]:
    """Packet captures with a key log, with their keys inside, with another key log, and without any."""
    port = _start_server(bench)
    for name, option in (("HTTP/1.1", "--http1.1"), ("HTTP/2", "--http2")):
        packets, keys = f"{option[2:]}.pcapng", f"{option[2:]}.keys"
        _record(bench, port, option, packets, keys)
        yield Capture(f"tshark: {name} with a key log", ("--tls-keys", keys, packets))
        bench.run("editcap", "--inject-secrets", f"tls,{bench.path(keys)}", packets, f"inside-{packets}")
        yield Capture(f"tshark: {name} with keys in the capture", (f"inside-{packets}",))
        yield Capture(f"tshark: {name} without keys", (packets,), refusal="--tls-keys FILE")
    yield Capture("tshark: the keys of another recording", ("--tls-keys", "http1.1.keys", "http2.pcapng"),
                  refusal="no key was found for 1 TLS connection")


def _start_server(bench: Workbench) -> int:
    """nginx speaks TLS and HTTP/2 before the site."""
    port = free_port()
    configuration = bench.folder / "nginx.conf"
    configuration.write_text(_CONFIGURATION.format(
        folder=bench.folder, port=port, site=bench.proxy_port, certificate=bench.folder.parent,
        # Another user could not read the certificate's key.
        user="user root;" if os.geteuid() == 0 else ""))
    process = bench.processes.start(
        ["nginx", "-p", str(bench.folder), "-c", str(configuration), "-e", bench.path("nginx-errors.log")], "nginx")
    wait_for_listener(process, port, "nginx")
    return port


def _record(bench: Workbench, port: int, version: str, packets: str, keys: str) -> None:
    """Has dumpcap look on while curl asks for the site over one connection."""
    path = bench.folder / packets
    name = f"dumpcap-{packets}"
    process = bench.processes.start(
        ["dumpcap", "-q", "-i", "lo", "-f", f"tcp port {port}", "-w", str(path)], name)

    def has_begun() -> bool | None:
        if process.poll() is not None:
            raise ToolFailure(f"dumpcap does not start: {bench.processes.log(name).read_text()}")
        return path.exists() and path.stat().st_size > 0 or None

    def has_all() -> bool | None:
        """Whether both sides have ended the connection."""
        listed = subprocess.run(["tshark", "-n", "-r", str(path), "-Y", "tcp.flags.fin == 1"], capture_output=True,
                                check=False)
        return listed.stdout.count(b"\n") >= 2 or None

    wait_for(has_begun, "dumpcap")
    bench.run("curl", "--silent", "--location", "--insecure", "--noproxy", "*", version, "--connect-to",
              f"{HOST}:443:127.0.0.1:{port}", bench.url, out="body", SSLKEYLOGFILE=bench.path(keys))
    wait_for(has_all, "the end of the connection in the capture")
    process.send_signal(signal.SIGINT)
    process.wait(20)
