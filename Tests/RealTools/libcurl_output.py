"""Prints what a current libcurl reports of a transfer, in the form of `curl -v` and `curl --trace`.

Usage: libcurl_output.py verbose|trace URL

PyPI's pycurl brings a libcurl that is much younger than Debian's, and its progress meter as well.
"""

import sys
from collections.abc import Iterator

import pycurl

HEADINGS = {pycurl.INFOTYPE_HEADER_OUT: "=> Send header", pycurl.INFOTYPE_HEADER_IN: "<= Recv header",
            pycurl.INFOTYPE_DATA_OUT: "=> Send data", pycurl.INFOTYPE_DATA_IN: "<= Recv data",
            pycurl.INFOTYPE_SSL_DATA_OUT: "=> Send SSL data", pycurl.INFOTYPE_SSL_DATA_IN: "<= Recv SSL data"}


def verbose(kind: int, data: bytes) -> Iterator[bytes]:
    """The lines of `-v`."""
    marks = {pycurl.INFOTYPE_TEXT: b"* ", pycurl.INFOTYPE_HEADER_IN: b"< ", pycurl.INFOTYPE_HEADER_OUT: b"> "}
    if mark := marks.get(kind):
        yield from (mark + line for line in data.splitlines(keepends=True))
    elif kind in (pycurl.INFOTYPE_DATA_IN, pycurl.INFOTYPE_SSL_DATA_IN):
        yield b"{ [%d bytes data]\n" % len(data)
    else:
        yield b"} [%d bytes data]\n" % len(data)


def trace(kind: int, data: bytes, width: int = 16) -> Iterator[bytes]:
    """The lines of `--trace`."""
    if kind == pycurl.INFOTYPE_TEXT:
        yield b"== Info: " + data
        return
    yield f"{HEADINGS[kind]}, {len(data)} bytes (0x{len(data):x})\n".encode()
    for offset in range(0, len(data), width):
        row = data[offset:offset + width]
        shown = bytes(octet if 0x20 <= octet < 0x7F else ord(".") for octet in row)
        yield b"%04x: %-48s%s\n" % (offset, b"".join(b"%02x " % octet for octet in row), shown)


def main() -> None:
    """Sends one request, and follows its redirects."""
    form = {"verbose": verbose, "trace": trace}[sys.argv[1]]

    def report(kind: int, data: bytes) -> None:
        sys.stderr.buffer.writelines(form(kind, data))
        sys.stderr.buffer.flush()

    transfer = pycurl.Curl()
    for option, value in ((pycurl.URL, sys.argv[2]), (pycurl.VERBOSE, True), (pycurl.FOLLOWLOCATION, True),
                          (pycurl.NOPROGRESS, False), (pycurl.SSL_VERIFYPEER, False), (pycurl.SSL_VERIFYHOST, False),
                          (pycurl.DEBUGFUNCTION, report), (pycurl.WRITEFUNCTION, lambda data: None)):
        transfer.setopt(option, value)
    transfer.perform()


if __name__ == "__main__":
    main()
