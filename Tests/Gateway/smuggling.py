"""Messages that two parsers could read differently, through a gateway to nginx: refused, or read as one request."""

import os
import shutil
import signal
import socket
import subprocess
import time

HIDDEN = "GET /hidden HTTP/1.1\r\nHost: a.test\r\n\r\n"
CHUNKED = f"0\r\n\r\n{HIDDEN}"

# What is behind the first line and the Host field, and the body. A line feed alone is written as such.
REFUSED = {
    "both lengths": f"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n{CHUNKED}",
    "both, the other way round": f"Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n{CHUNKED}",
    "two lengths": f"Content-Length: 0\r\nContent-Length: {len(HIDDEN)}\r\n\r\n{HIDDEN}",
    "the same length twice": f"Content-Length: {len(HIDDEN)}\r\nContent-Length: {len(HIDDEN)}\r\n\r\n{HIDDEN}",
    "a list of lengths": f"Content-Length: 0, {len(HIDDEN)}\r\n\r\n{HIDDEN}",
    "a signed length": f"Content-Length: +{len(HIDDEN)}\r\n\r\n{HIDDEN}",
    "a length in hexadecimal": f"Content-Length: 0x10\r\n\r\n{HIDDEN}",
    "a negative length": f"Content-Length: -1\r\n\r\n{HIDDEN}",
    "a length beyond 64 bits": f"Content-Length: 18446744073709551616\r\n\r\n{HIDDEN}",
    "no length": f"Content-Length: \r\n\r\n{HIDDEN}",
    "an unknown coding": f"Transfer-Encoding: xchunked\r\n\r\n{CHUNKED}",
    "a coding before chunked": f"Transfer-Encoding: gzip, chunked\r\n\r\n{CHUNKED}",
    "chunked twice": f"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n{CHUNKED}",
    "identity": f"Transfer-Encoding: identity\r\nContent-Length: 0\r\n\r\n{HIDDEN}",
    "chunked in quotes": f"Transfer-Encoding: \"chunked\"\r\n\r\n{CHUNKED}",
    "a vertical tab before chunked": f"Transfer-Encoding: \x0bchunked\r\n\r\n{CHUNKED}",
    "white space before the colon": f"Transfer-Encoding : chunked\r\n\r\n{CHUNKED}",
    "a tab before the colon": f"Content-Length\t: {len(HIDDEN)}\r\n\r\n{HIDDEN}",
    "white space before the name": f" Transfer-Encoding: chunked\r\n\r\n{CHUNKED}",
    "a folded line": f"X: y\r\n Transfer-Encoding: chunked\r\n\r\n{CHUNKED}",
    "a folded value": f"Transfer-Encoding:\r\n chunked\r\n\r\n{CHUNKED}",
    "a line feed alone": f"X: y\nTransfer-Encoding: chunked\r\n\r\n{CHUNKED}",
    "a carriage return alone": f"X: y\rTransfer-Encoding: chunked\r\n\r\n{CHUNKED}",
    "a null octet in a value": f"X: y\x00Transfer-Encoding: chunked\r\n\r\n{CHUNKED}",
    "a null octet in a name": f"Content\x00-Length: 3\r\n\r\n{HIDDEN}",
    "a name that is no token": f"Content Length: {len(HIDDEN)}\r\n\r\n{HIDDEN}",
    "no name": f": chunked\r\n\r\n{HIDDEN}",
    "no colon": f"Transfer-Encoding chunked\r\n\r\n{HIDDEN}",
    "another host": f"Host: b.test\r\n\r\n{HIDDEN}",
    "a chunk without a size": f"Transfer-Encoding: chunked\r\n\r\n\r\n{HIDDEN}",
    "a chunk with a signed size": f"Transfer-Encoding: chunked\r\n\r\n+0\r\n\r\n{HIDDEN}",
    "a chunk with a prefix": f"Transfer-Encoding: chunked\r\n\r\n0x0\r\n\r\n{HIDDEN}",
    "a chunk with a size beyond 64 bits": f"Transfer-Encoding: chunked\r\n\r\n10000000000000000\r\n{HIDDEN}",
    "a chunk that is longer than its size": f"Transfer-Encoding: chunked\r\n\r\n3\r\nabcd\r\n{CHUNKED}",
    "a chunk's size with a line feed alone": f"Transfer-Encoding: chunked\r\n\r\n0\n\r\n{HIDDEN}",
    "a chunk's data with a line feed alone": f"Transfer-Encoding: chunked\r\n\r\n1\r\na\n0\r\n\r\n{HIDDEN}",
    "a line feed in a chunk extension": f"Transfer-Encoding: chunked\r\n\r\n0;a\nb\r\n\r\n{HIDDEN}",
}

# What has one meaning only. The hidden request is content.
PASSED = {
    "a length": f"Content-Length: {len(HIDDEN)}\r\n\r\n{HIDDEN}",
    "chunks": f"Transfer-Encoding: chunked\r\n\r\n{len(HIDDEN):x}\r\n{HIDDEN}\r\n0\r\n\r\n",
    "chunks in other letters": f"Transfer-Encoding: CHUNKED\r\n\r\n{len(HIDDEN):x}\r\n{HIDDEN}\r\n0\r\n\r\n",
    "a chunk extension": f"Transfer-Encoding: chunked\r\n\r\n{len(HIDDEN):x};a=\"b\"\r\n{HIDDEN}\r\n0\r\n\r\n",
    "a size with zeros": f"Transfer-Encoding: chunked\r\n\r\n0000{len(HIDDEN):x}\r\n{HIDDEN}\r\n0\r\n\r\n",
    "a framing field in a trailer": "Transfer-Encoding: chunked\r\n\r\n0\r\nContent-Length: 3\r\n\r\n",
    "framing fields that Connection names": f"Connection: Content-Length\r\nContent-Length: {len(HIDDEN)}\r\n\r\n{HIDDEN}",
}

CONFIGURATION = """
daemon off; pid {folder}/pid; error_log {folder}/error.log;
events {{}}
http {{
    log_format line '$request_method $request_uri $status';
    access_log {folder}/access.log line;
    client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy; fastcgi_temp_path {folder}/f;
    uwsgi_temp_path {folder}/u; scgi_temp_path {folder}/s;
    server {{ listen 127.0.0.1:{port}; location / {{ proxy_pass http://127.0.0.1:{port}/sink; }} location /sink {{ return 200 ok; }} }}
}}
"""


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def answer(address, message):
    """What comes back for a message, whose client then waits for no more."""
    host, _, port = address.rpartition(":")
    with socket.create_connection((host, int(port)), timeout=5) as client:
        client.sendall(message.encode("latin-1"))
        client.shutdown(socket.SHUT_WR)
        received = b""
        try:
            while piece := client.recv(1 << 16):
                received += piece
        except OSError:
            pass
    return received


def check_smuggling(address, folder, check):
    folder = f"{folder}/nginx"
    os.makedirs(folder)
    port = free_port()
    with open(f"{folder}/nginx.conf", "w") as file:
        file.write(CONFIGURATION.format(folder=folder, port=port))
    nginx = subprocess.Popen([shutil.which("nginx") or "/usr/sbin/nginx", "-c", f"{folder}/nginx.conf"])
    try:
        for _ in range(100):
            try:
                socket.create_connection(("127.0.0.1", port)).close()
                break
            except OSError:
                time.sleep(0.05)
        start = f"POST http://127.0.0.1:{port}/first HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n"
        for name, rest in REFUSED.items():
            received = answer(address, start + rest)
            check(f"refused: {name}", received.startswith(b"HTTP/1.1 400") and received.count(b"HTTP/1.1 ") == 1, received)
        for name, rest in PASSED.items():
            received = answer(address, start + rest)
            check(f"passed: {name}", received.startswith(b"HTTP/1.1 200") and received.count(b"HTTP/1.1 ") == 1, received)
    finally:
        nginx.send_signal(signal.SIGQUIT)
        nginx.wait(timeout=10)
    with open(f"{folder}/access.log") as file:
        lines = file.read().splitlines()
    check("nginx has not seen a hidden request", not any("/hidden" in line for line in lines), lines)
    firsts = [line for line in lines if " /first " in line and line.endswith(" 200")]
    check("nginx has seen each that passed, once", len(firsts) == len(PASSED), lines)
