"""A few sites whose pages request each other in every way that cookie rules tell apart."""

import re
import threading
import time
from collections import defaultdict

from engines import EngineFailure

from server.messages import Request, Response

SHOP, API = "https://www.site-a.test", "https://api.site-a.test"
OTHER, PLAIN = "https://www.site-b.test", "http://www.plain.test"
HOSTS = ("site-a.test", "site-b.test", "plain.test")

#: The cookies that servers and pages set.
NAMES = {b"none", b"lax", b"strict", b"default", b"part", b"visible", b"script"}
#: For how long no request comes from a page that has loaded, in seconds: after all have come, and where some have not.
SILENCE, PATIENCE = 1.5, 10

PAGE = """<!doctype html><title>page</title><body>
<style>@font-face{font-family:f;src:url({OTHER}/r?l=font)} body{font-family:f;background:url({OTHER}/r?l=background)}</style>
text <img src="/r?l=image"><img src="{API}/r?l=image-same-site"><img src="{OTHER}/r?l=image-cross">
<img src="{OTHER}/r?l=image-anonymous" crossorigin="anonymous">
<img src="{OTHER}/r?l=image-credentials" crossorigin="use-credentials">
<img src="{OTHER}/r?l=image-no-referrer" referrerpolicy="no-referrer">
<img src="/to?l=away&to={OTHER}/r?l=image-redirected-away"><img src="{OTHER}/to?l=back&to={SHOP}/r?l=image-redirected-back">
<script src="{OTHER}/js?l=script"></script><script type="module" src="{OTHER}/js?l=module"></script>
<iframe src="{OTHER}/frame?l=frame-cross"></iframe><iframe src="/frame?l=frame-same"></iframe>
<iframe sandbox="allow-scripts" src="/frame?l=frame-sandboxed"></iframe>
<iframe name="target"></iframe>
<form id="form" method="post" target="target" action="{OTHER}/frame?l=frame-post"><input name="x" value="1"></form>
<script>
const get = (label, url, options) => fetch(url + "/r?l=" + label, options).catch(() => {});
window.done = 0;
(async () => {
  await get("fetch", "");
  await get("fetch-omit", "", {credentials: "omit"});
  await get("fetch-same-site", "{API}");
  await get("fetch-same-site-include", "{API}", {credentials: "include"});
  await get("fetch-cross", "{OTHER}");
  await get("fetch-cross-include", "{OTHER}", {credentials: "include"});
  await get("fetch-cross-omit", "{OTHER}", {credentials: "omit"});
  await get("fetch-cross-no-cors", "{OTHER}", {mode: "no-cors", credentials: "include"});
  await get("fetch-cross-preflight", "{OTHER}", {credentials: "include", headers: {"X-Y": "1"}});
  await get("fetch-post", "", {method: "POST", body: "x"});
  navigator.sendBeacon("{OTHER}/r?l=beacon", "x");
  for (const [label, url] of [["socket", "{SHOP}"], ["socket-same-site", "{API}"], ["socket-cross", "{OTHER}"]])
    try { new WebSocket(url.replace("https", "wss") + "/r?l=" + label) } catch {}
  new EventSource("{OTHER}/r?l=events", {withCredentials: true}).onerror = event => event.target.close();
  new Worker("/worker?l=worker");
  document.getElementById("form").submit();
  window.done = 1;
})();
</script>""".replace("{SHOP}", SHOP).replace("{API}", API).replace("{OTHER}", OTHER).encode()
#: The labels of what the page requests. A browser may leave some out.
LABELS = {label.decode() for label in re.findall(rb'(?:\?l=|get\("|\[")([a-z-]+)', PAGE)}

WORKER = """const get = (label, url, options) => fetch(url + "/r?l=" + label, options).catch(() => {});
get("worker.fetch", ""); get("worker.fetch-omit", "", {credentials: "omit"});
get("worker.fetch-cross", "{OTHER}"); get("worker.fetch-cross-include", "{OTHER}", {credentials: "include"});
""".replace("{OTHER}", OTHER).encode()

FRAME = """<!doctype html><title>frame</title><img src="/r?l={LABEL}.image"><img src="{SHOP}/r?l={LABEL}.image-top">
<script>fetch("{SHOP}/r?l={LABEL}.fetch-top", {credentials: "include"}).catch(() => {});
fetch("/r?l={LABEL}.fetch").catch(() => {});</script>""".replace("{SHOP}", SHOP)


class Site:
    """Sets one cookie of each class on every host, HttpOnly but for one, and notes which come back.

    The value says whether a page in a tab has set the cookie, so that cookies which a browser keeps for a frame in another
    site's page alone can be told from the site's own.
    """

    def __init__(self) -> None:
        self._lock = threading.Condition()
        self._last = 0.0
        #: What is requested now, in the words of the story.
        self.round = "seed"
        #: The cookies of each request.
        self.seen: dict[tuple[str, str, str, str], set[bytes]] = defaultdict(set)
        #: The names of cookies that no server has set.
        self.strange: set[bytes] = set()

    def answer(self, request: Request) -> Response | None:
        """Notes the request and answers it."""
        host = request.parts.netloc
        if not host.endswith(HOSTS):
            return None
        label = request.parameters.get("l", request.parts.path)
        pairs = {pair.split(b"=")[0]: pair for pair in request.cookie.split(b"; ") if pair}
        with self._lock:
            self.seen[(self.round, request.method, host, label)] |= {
                pair for name, pair in pairs.items() if name in NAMES}
            self.strange |= pairs.keys() - NAMES
            self._last = time.monotonic()
            self._lock.notify_all()
        fields = self._cors(request)
        cookies = self._cookies(request)
        path = request.parts.path
        if request.method == "OPTIONS":
            return Response(204, fields)
        if path == "/to":
            location = request.url.split("to=", 1)[1].encode()
            return Response(302, (*fields, (b"Location", location)), set_cookie=cookies)
        # Firefox may load no image for a style that a page before had, too: all URLs are new in each round.
        bodies = {"/page": PAGE.replace(b"?l=", b"?round=%s&l=" % self.round.encode()),
                  "/frame": FRAME.replace("{LABEL}", label).encode(),
                  "/seed": b"<!doctype html><title>seed</title><body>seed"}
        if path in bodies:
            return Response(200, fields, bodies[path], set_cookie=cookies)
        if path in ("/js", "/worker"):
            return Response(200, fields, WORKER if path == "/worker" else b"1;", b"text/javascript", cookies)
        return Response(200, fields, b"x", b"text/plain", cookies)

    def wait_for(self, label: str) -> None:
        """Waits for a request of the present round."""
        with self._lock:
            found = self._lock.wait_for(
                lambda: any(key[0] == self.round and key[3] == label for key in self.seen), timeout=60)
        if not found:
            raise EngineFailure(f"no request comes for {label}")

    def wait_for_silence(self) -> None:
        """Waits until no request of a page has come for a while, longer where some of its requests have not come at all."""
        with self._lock:
            while (rest := self._last + self._silence() - time.monotonic()) > 0:
                self._lock.wait(rest)

    def _silence(self) -> float:
        return SILENCE if {key[3] for key in self.seen if key[0] == self.round} >= LABELS else PATIENCE

    @staticmethod
    def _cors(request: Request) -> tuple[tuple[bytes, bytes], ...]:
        origins = request.values(b"Origin")
        if not origins:
            return ()
        return ((b"Access-Control-Allow-Origin", origins[0]), (b"Access-Control-Allow-Credentials", b"true"),
                (b"Access-Control-Allow-Headers", b"X-Y"),
                # Else a preflight request is due in each round only if these are more than five seconds apart.
                (b"Access-Control-Max-Age", b"0"))

    @staticmethod
    def _cookies(request: Request) -> tuple[bytes, ...]:
        secure = b"; Secure" if request.parts.scheme == "https" else b""
        is_own = not secure or request.values(b"Sec-Fetch-Dest") == [b"document"]
        attributes = {b"none": b"HttpOnly; SameSite=None", b"lax": b"HttpOnly; SameSite=Lax",
                      b"strict": b"HttpOnly; SameSite=Strict", b"default": b"HttpOnly", b"visible": b"SameSite=Lax"}
        if secure:
            attributes[b"part"] = b"HttpOnly; SameSite=None; Partitioned"
        there = {pair.split(b"=")[0] for pair in request.cookie.split(b"; ")}
        return tuple(name + (b"=own; Path=/; " if is_own else b"=other; Path=/; ") + more + secure
                     for name, more in attributes.items()
                     if name not in there and (is_own or name in (b"none", b"default", b"part")))
