"""A few sites whose pages request each other in every way that cookie rules tell apart."""

import threading
from collections import defaultdict

from server.messages import Request, Response

SHOP, API = "https://www.site-a.test", "https://api.site-a.test"
OTHER, PLAIN = "https://www.site-b.test", "http://www.plain.test"
HOSTS = ("site-a.test", "site-b.test", "plain.test")

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
  document.getElementById("form").submit();
  setTimeout(() => { window.done = 1; }, 2500);
})();
</script>""".replace("{SHOP}", SHOP).replace("{API}", API).replace("{OTHER}", OTHER).encode()

FRAME = """<!doctype html><title>frame</title><img src="/r?l={LABEL}.image"><img src="{SHOP}/r?l={LABEL}.image-top">
<script>fetch("{SHOP}/r?l={LABEL}.fetch-top", {credentials: "include"}).catch(() => {});
fetch("/r?l={LABEL}.fetch").catch(() => {});</script>""".replace("{SHOP}", SHOP)


class Site:
    """Sets one cookie of each class on every host, all of them HttpOnly, and notes which come back."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
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
        names = {pair.split(b"=")[0] for pair in request.cookie.split(b"; ") if pair}
        known = {b"none", b"lax", b"strict", b"default", b"part", b"visible", b"script"}
        with self._lock:
            self.seen[(self.round, request.method, host, label)] |= names & known
            self.strange |= names - known
        fields = self._cors(request)
        cookies = self._cookies(request)
        path = request.parts.path
        if request.method == "OPTIONS":
            return Response(204, fields)
        if path == "/to":
            location = request.url.split("to=", 1)[1].encode()
            return Response(302, (*fields, (b"Location", location)), set_cookie=cookies)
        bodies = {"/page": PAGE, "/frame": FRAME.replace("{LABEL}", label).encode(),
                  "/seed": b"<!doctype html><title>seed</title><body>seed"}
        if path in bodies:
            return Response(200, fields, bodies[path], set_cookie=cookies)
        if path == "/js":
            return Response(200, fields, b"1;", b"text/javascript", cookies)
        return Response(200, fields, b"x", b"text/plain", cookies)

    @staticmethod
    def _cors(request: Request) -> tuple[tuple[bytes, bytes], ...]:
        origins = request.values(b"Origin")
        if not origins:
            return ()
        return ((b"Access-Control-Allow-Origin", origins[0]), (b"Access-Control-Allow-Credentials", b"true"),
                (b"Access-Control-Allow-Headers", b"X-Y"))

    @staticmethod
    def _cookies(request: Request) -> tuple[bytes, ...]:
        secure = b"; Secure" if request.parts.scheme == "https" else b""
        lines = [b"none=1; Path=/; HttpOnly; SameSite=None" + secure, b"lax=1; Path=/; HttpOnly; SameSite=Lax" + secure,
                 b"strict=1; Path=/; HttpOnly; SameSite=Strict" + secure, b"visible=1; Path=/; SameSite=Lax" + secure]
        if secure:
            lines.append(b"part=1; Path=/; HttpOnly; SameSite=None; Secure; Partitioned")
        return tuple(lines)
