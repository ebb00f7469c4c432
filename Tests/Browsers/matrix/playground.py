"""The server's side of the script matrix: a page that loads something in every way there is."""

import threading

from server.messages import Request, Response

#: What the page loads, and the path of each: cookies differ by path.
RESOURCES = {
    "style": "/account/orders/style", "script": "/", "image": "/account/image", "fetch": "/account/orders/api",
    "xhr": "/other/api", "api": "/api/session", "frame": "/account/frame",
}
#: What the page's markup asks for, before any of its scripts can run.
MARKUP = frozenset({"style", "script", "image"})

PAGE = """<!doctype html><title>page</title>
<link rel=stylesheet href="{style}"><script src="{script}"></script>
<body><img src="{image}">
<script>
const settled = (element, properties) => new Promise(done => {{
  Object.assign(element, properties).onload = element.onerror = done;
  setTimeout(done, 10000);
  if (element instanceof Element) document.body.append(element); else element.send();
}});
addEventListener("load", async () => {{
  await fetch("{fetch}").catch(() => 0);
  const request = new XMLHttpRequest();
  request.open("GET", "{xhr}");
  await settled(request);
  await fetch("{api}").catch(() => 0);
  await settled(document.createElement("iframe"), {{src: "{frame}"}});
  await fetch("{seen}", {{method: "POST", body: document.cookie, credentials: "omit"}});
}});
</script></body>"""
GIF = bytes.fromhex("47494638396101000100800000ffffff00000021f90401000000002c00000000010001000002024401003b")
BODIES = {"style": (b"text/css", b"body {}"), "script": (b"text/javascript", b"0"), "image": (b"image/gif", GIF)}


class Playground:
    """Notes what comes with each request of one page load."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._load = ""
        self._cookies: dict[str, bytes] = {}
        self._done = threading.Event()

    def begin(self, load: str) -> None:
        """Takes up a load; requests of others are answered and not noted."""
        with self._lock:
            self._load, self._cookies = load, {}
            self._done.clear()

    def finish(self, timeout: float = 30) -> dict[str, bytes]:
        """The Cookie field of each request, and as `document.cookie` what scripts see."""
        self._done.wait(timeout)
        with self._lock:
            return dict(self._cookies)

    def answer(self, request: Request) -> Response | None:
        """The page, and what it loads."""
        parameters = request.parameters
        load, what = parameters.get("load"), parameters.get("what")
        if load is None or what is None:
            return None
        if what == "document.cookie":
            self._note(load, what, request.body)
            self._done.set()
            return Response(status=204)
        self._note(load, what, request.cookie)
        if what == "page":
            addresses = {name: f"{path}?load={load}&what={name}" for name, path in RESOURCES.items()}
            addresses["seen"] = f"/?load={load}&what=document.cookie"
            return Response(body=PAGE.format(**addresses).encode())
        kind, body = BODIES.get(what, (b"text/html; charset=utf-8", b"<!doctype html>"))
        return Response(body=body, content_type=kind)

    def _note(self, load: str, what: str, cookies: bytes) -> None:
        with self._lock:
            if load == self._load:
                self._cookies.setdefault(what, cookies)
