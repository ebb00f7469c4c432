"""The self-signed certificate that the proxy shows for every host."""

import ssl
import subprocess
from collections.abc import Sequence
from pathlib import Path


def is_address(host: str) -> bool:
    """Whether a host is an IPv4 address."""
    return host[-1].isdigit()


def make_tls_context(folder: Path, names: Sequence[str] = ("*.test", "*.example")) -> ssl.SSLContext:
    """Makes a key and a certificate in `folder`, with the openssl command, and the context that serves them.

    Browsers are told not to verify it, so that one certificate does for all hosts. The gateway verifies it.
    """
    key, certificate = folder / "key.pem", folder / "certificate.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
         "-keyout", str(key), "-out", str(certificate), "-days", "2", "-subj", "/CN=browser laboratory",
         "-addext", "subjectAltName=" + ",".join(f"{'IP' if is_address(name) else 'DNS'}:{name}" for name in names)],
        check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    # HTTP/1.1 alone: its header lines go over the wire as they are.
    context.set_alpn_protocols(["http/1.1"])
    return context
