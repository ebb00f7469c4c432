"""Reads an export as others do, and prints the cookies as JSON in the members of `crumb list --json`.

    foreign_reader.py READER FILE

Runs under the interpreter that has the packages of PyPI.
"""

import datetime
import email.utils
import http.cookiejar
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from urllib.parse import urlsplit


def moment(seconds: float | None) -> dict[str, str]:
    """The member that says when a cookie ends, where it does."""
    if not seconds or seconds < 0:
        return {}
    return {"expires": datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc).isoformat()}


def python(file: str) -> Iterator[dict]:
    """Python's own cookie jar."""
    jar = http.cookiejar.MozillaCookieJar(file)
    jar.load(ignore_discard=True, ignore_expires=True)
    for cookie in jar:
        yield {"name": cookie.name, "value": cookie.value, "domain": cookie.domain.removeprefix("."),
               "hostOnly": not cookie.domain_specified, "path": cookie.path, "secure": cookie.secure,
               "httpOnly": cookie.has_nonstandard_attr("HTTPOnly"), **moment(cookie.expires)}


def curl(file: str) -> Iterator[dict]:
    """libcurl, which loads the file and writes down what it has."""
    with tempfile.TemporaryDirectory() as folder:
        jar = os.path.join(folder, "jar")
        subprocess.run(["curl", "--disable", "--silent", "--cookie", file, "--cookie-jar", jar, "file:///dev/null"],
                       check=True)
        with open(jar, encoding="utf-8") as lines:
            for line in lines:
                text = line.rstrip("\n")
                if not text or text.startswith("# "):
                    continue
                domain, tail, path, secure, expires, name, value = text.removeprefix("#HttpOnly_").split("\t")
                yield {"name": name, "value": value, "domain": domain.removeprefix("."), "hostOnly": tail == "FALSE",
                       "path": path, "secure": secure == "TRUE", "httpOnly": text.startswith("#HttpOnly_"),
                       **moment(int(expires))}


def haralyzer(file: str) -> Iterator[dict]:
    """haralyzer's reading of a HAR."""
    from haralyzer import HarParser

    parser = HarParser.from_file(file)
    for entry in parser.har_data["entries"]:
        for header in entry["response"]["headers"]:
            if header["name"].lower() == "set-cookie":
                yield received(header["value"], entry["request"]["url"])


def mitmproxy(file: str) -> Iterator[dict]:
    """mitmproxy's reading of a HAR."""
    from mitmproxy.io import FlowReader

    with open(file, "rb") as stream:
        for flow in FlowReader(stream).stream():
            for line in flow.response.headers.get_all("set-cookie"):
                yield received(line, flow.request.url)


def received(line: str, url: str) -> dict:
    """The cookie that a Set-Cookie line from `url` is, by the parts that the line has."""
    pair, *parts = line.split(";")
    name, _, value = pair.partition("=")
    attributes = {key.strip().lower(): text.strip() for key, _, text in (part.partition("=") for part in parts)}
    expires = attributes.get("expires")
    cookie = {"name": name.strip(), "value": value.strip(), "path": attributes["path"],
              "domain": attributes.get("domain", urlsplit(url).hostname).removeprefix("."),
              "hostOnly": "domain" not in attributes, "secure": "secure" in attributes,
              "httpOnly": "httponly" in attributes,
              **moment(email.utils.parsedate_to_datetime(expires).timestamp() if expires else None)}
    if "samesite" in attributes:
        cookie["sameSite"] = attributes["samesite"]
    if "partitioned" in attributes:
        cookie["partitionKey"] = f"https://{'.'.join(str(urlsplit(url).hostname).split('.')[-2:])}"
    return cookie


def playwright(file: str) -> Iterator[dict]:
    """A context of Playwright's that was made from the file."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as library:
        browser = library.chromium.launch(executable_path="/usr/bin/chromium")
        for cookie in browser.new_context(storage_state=file).cookies():
            yield {**{name: cookie[name] for name in ("name", "value", "path", "secure", "httpOnly")},
                   "domain": cookie["domain"].removeprefix("."), "hostOnly": not cookie["domain"].startswith("."),
                   **({"partitionKey": cookie["partitionKey"]} if cookie.get("partitionKey") else {}),
                   **moment(cookie["expires"])}
        browser.close()


READERS = {reader.__name__: reader for reader in (python, curl, haralyzer, mitmproxy, playwright)}

if __name__ == "__main__":
    print(json.dumps(list(READERS[sys.argv[1]](sys.argv[2]))))
