#!/usr/bin/env python3
"""Asks Chromium and Firefox again for every host in browsers.json, and prints the rows whose answers are others now.

    ask-browsers.py [--write] [HOSTS.json]

HOSTS.json is an array of further hosts to ask for. With --write the answers go into browsers.json; the column that
holds our own answer keeps what it has, and for a new host has what the first browser says: look at it.
Needs chromium, chromedriver and firefox-esr; starts both headless with empty profiles and leads them nowhere.
"""
import http.client, json, os, signal, socket, subprocess, sys, tempfile, time

ROWS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "browsers.json")
SCRIPT = """return JSON.stringify(JSON.parse(arguments[0]).map(host => {
  try { return new URL("https://" + host + "/").hostname } catch { return null }
}))"""


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def start(command, port, home):
    process = subprocess.Popen(command, env={**os.environ, "HOME": home}, stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    for _ in range(600):
        try:
            return process, socket.create_connection(("127.0.0.1", port), 90)
        except OSError:
            if process.poll() is not None:
                break
            time.sleep(0.1)
    sys.exit(f"{command[0]} does not start")


def stop(process):
    os.killpg(process.pid, signal.SIGTERM)
    process.wait(20)


def ask_chromium(hosts, home):
    port = free_port()
    process, probe = start(["chromedriver", f"--port={port}"], port, home)
    probe.close()

    def call(method, path, body=None):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=90)
        connection.request(method, path, None if body is None else json.dumps(body))
        value = json.loads(connection.getresponse().read())["value"]
        if isinstance(value, dict) and "error" in value:
            sys.exit(f"chromedriver: {value['message']}")
        return value

    try:
        arguments = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
                     "--disable-background-networking", "--no-proxy-server", f"--user-data-dir={home}/chromium",
                     "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"]
        session = call("POST", "/session",
                       {"capabilities": {"alwaysMatch": {"goog:chromeOptions": {"args": arguments}}}})
        path = f"/session/{session['sessionId']}"
        answers = call("POST", path + "/execute/sync", {"script": SCRIPT, "args": [json.dumps(hosts)]})
        call("DELETE", path)
        return json.loads(answers), "Chromium " + session["capabilities"]["browserVersion"]
    finally:
        stop(process)


def ask_firefox(hosts, home):
    # Over Marionette, its own protocol: a number, a colon, that many octets of JSON.
    port = free_port()
    profile = f"{home}/firefox"
    os.mkdir(profile)
    with open(f"{profile}/user.js", "w") as preferences:
        preferences.write(f'user_pref("marionette.port", {port});\n')
        preferences.write('user_pref("network.proxy.type", 1);\nuser_pref("network.proxy.http", "127.0.0.1");\n'
                          'user_pref("network.proxy.http_port", 1);\nuser_pref("network.proxy.ssl", "127.0.0.1");\n'
                          'user_pref("network.proxy.ssl_port", 1);\n')
    process, connection = start(["firefox-esr", "--headless", "--no-remote", "--marionette", "--profile", profile,
                                 "about:blank"], port, home)
    stream = connection.makefile("rwb")

    def receive():
        digits = b""
        while not digits.endswith(b":"):
            octet = stream.read(1)
            if not octet:
                sys.exit("firefox hangs up")
            digits += octet
        return json.loads(stream.read(int(digits[:-1])))

    def call(name, **parameters):
        message = json.dumps([0, 1, name, parameters]).encode()
        stream.write(str(len(message)).encode() + b":" + message)
        stream.flush()
        _, _, error, result = receive()
        if error:
            sys.exit(f"firefox: {error['message']}")
        return result

    try:
        receive()
        version = call("WebDriver:NewSession")["capabilities"]["browserVersion"]
        answers = call("WebDriver:ExecuteScript", script=SCRIPT, args=[json.dumps(hosts)])["value"]
        return json.loads(answers), "Firefox " + version
    finally:
        stop(process)


def main():
    arguments = [argument for argument in sys.argv[1:] if argument != "--write"]
    with open(ROWS) as file:
        rows = json.load(file)
    known = {row[0] for row in rows}
    for name in arguments:
        with open(name) as file:
            rows += [[host] for host in dict.fromkeys(json.load(file)) if host not in known]
    hosts = [row[0] for row in rows]
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as home:
        chromium, chromium_version = ask_chromium(hosts, home)
        firefox, firefox_version = ask_firefox(hosts, home)
    changed = 0
    for index, row in enumerate(rows):
        ours = row[1] if len(row) > 1 else chromium[index]
        answers = [chromium[index], firefox[index]]
        new = row[:1] + ([ours] if answers == [ours, ours] else [ours] + answers)
        if new != row:
            changed += 1
            print(json.dumps(row), "->", json.dumps(new))
            rows[index] = new
    print(f"{chromium_version}, {firefox_version}: {len(rows)} hosts, {changed} changed")
    if "--write" in sys.argv[1:]:
        with open(ROWS, "w") as file:
            file.write("[\n" + ",\n".join(json.dumps(row, separators=(",", ":")) for row in rows) + "\n]\n")


main()
