"""Makes captures to read, and reads them as others do: Python's json module, and libcurl's cookie engine.

Usage: captures.py har FILE MEGABYTES | netscape FILE LINES | read-har FILE | read-netscape FILE
The readers say in a line of JSON how many CPU seconds they took.
"""

import ctypes
import ctypes.util
import json
import random
import sys
import time


def write_har(path, megabytes):
    """Entries as developer tools write them: indented, with timings and bodies of all sizes up to 100 kB."""
    generator = random.Random(2026)
    words = ["<div class=\"row\">", "function(e){return e}", "lorem ipsum dolor", "\t\n", "é", "{\"id\":17}"]
    header = {"name": "Content-Type", "value": "text/html; charset=utf-8"}
    with open(path, "w", encoding="utf-8") as file:
        file.write('{"log":{"version":"1.2","creator":{"name":"x","version":"1"},"pages":[],"entries":[\n')
        size = 0
        index = 0
        while size < megabytes * 1_000_000:
            body = "".join(generator.choices(words, k=generator.choice([0, 20, 200, 2000, 6000])))
            cookies = [
                {"name": "Set-Cookie", "value": f"c{index % 50}={generator.getrandbits(128):x}; Path=/; HttpOnly"}
                for _ in range(generator.choice([0, 0, 0, 1, 3]))
            ]
            entry = {
                "startedDateTime": "2026-11-21T02:56:21.123Z", "time": generator.random() * 100,
                "request": {
                    "method": "GET", "url": f"https://www{index % 1000}.example.com/page/{index}?q=1",
                    "httpVersion": "HTTP/2", "headers": [header] * 12, "cookies": [], "queryString": [],
                    "headersSize": -1, "bodySize": 0},
                "response": {
                    "status": 200, "statusText": "OK", "httpVersion": "HTTP/2", "headers": [header] * 10 + cookies,
                    "cookies": [], "content": {"size": len(body), "mimeType": "text/html", "text": body},
                    "redirectURL": "", "headersSize": -1, "bodySize": len(body)},
                "cache": {}, "timings": {"send": 0.1, "wait": 12.5, "receive": 3.25},
                "_initiator": {"type": "parser"},
            }
            text = ("," if index else "") + json.dumps(entry, indent=2, ensure_ascii=False) + "\n"
            size += file.write(text)
            index += 1
        file.write("]}}\n")


def write_netscape(path, count):
    """Ten cookies a site, as a browser's export has them."""
    with open(path, "w", encoding="ascii") as file:
        file.write("# Netscape HTTP Cookie File\n\n")
        for index in range(count):
            mark = "#HttpOnly_" if index % 3 == 0 else ""
            file.write(
                f"{mark}.site{index // 10}.example\tTRUE\t/\t{'TRUE' if index % 2 else 'FALSE'}\t1893456000\t"
                f"name{index % 10}\t{index:032x}\n")


def read_har(path):
    start = time.process_time()
    with open(path, "rb") as file:
        entries = json.load(file)["log"]["entries"]
    seconds = time.process_time() - start
    lines = sum(header["name"] == "Set-Cookie" for entry in entries for header in entry["response"]["headers"])
    return {"seconds": seconds, "responses": len(entries), "cookies": lines}


def read_netscape(path):
    curl = ctypes.CDLL(ctypes.util.find_library("curl") or "libcurl.so.4")
    curl.curl_easy_init.restype = ctypes.c_void_p
    cookie_file, cookie_list = 10031, 10135
    handle = ctypes.c_void_p(curl.curl_easy_init())
    curl.curl_easy_setopt(handle, cookie_file, ctypes.c_char_p(path.encode()))
    start = time.process_time()
    curl.curl_easy_setopt(handle, cookie_list, ctypes.c_char_p(b"RELOAD"))
    seconds = time.process_time() - start
    # Its list of what it loaded takes time by the square of its length, and is left alone.
    return {"seconds": seconds}


if __name__ == "__main__":
    task, path = sys.argv[1], sys.argv[2]
    if task == "har":
        write_har(path, int(sys.argv[3]))
    elif task == "netscape":
        write_netscape(path, int(sys.argv[3]))
    else:
        print(json.dumps(read_har(path) if task == "read-har" else read_netscape(path)))
