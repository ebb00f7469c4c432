"""The handler of a view's own schemes: `ResourceHandler` of WebViewDecoration, in Python.

It refuses what that refuses, maps the URL back, sends the request through the laboratory's proxy, and shares responses of
the page's origin with the page.
"""

import http.client
import ssl
import threading
from urllib.parse import urlsplit

import gi

gi.require_version("Soup", "3.0")
gi.require_version("WebKit2", "4.1")
from gi.repository import Gio, GLib, Soup, WebKit2  # noqa: E402

Fields = list[tuple[str, str]]

#: The fields of a request that are about the handler's scheme.
OF_SCHEME = {"origin", "referer", "host", "cookie", "connection", "upgrade-insecure-requests"}
#: The fields of a response that an engine must not get. The length is that of the body.
OF_SERVER = {"set-cookie", "clear-site-data", "connection", "keep-alive", "transfer-encoding", "alt-svc",
             "strict-transport-security", "content-length"}


class SchemeHandler:
    """Answers the requests of a context for the schemes that begin with a prefix.

    `settings` has the `prefix`, the origin of the `page`, and whether the schemes are registered as `secure`.
    """

    def __init__(self, context: WebKit2.WebContext, settings: dict, proxy_port: int):
        self._prefix, self._page, self._proxy_port = settings["prefix"], settings["page"], proxy_port
        #: The requests as they came, and whether they were refused.
        self.seen: list[dict] = []
        security = context.get_security_manager()
        for scheme in ("https", "http"):
            context.register_uri_scheme(self._prefix + scheme, self._answer)
            if settings["secure"]:
                # Pages over https load nothing but images from other schemes.
                security.register_uri_scheme_as_secure(self._prefix + scheme)
                security.register_uri_scheme_as_cors_enabled(self._prefix + scheme)

    def _answer(self, request: WebKit2.URISchemeRequest) -> None:
        fields: dict[str, str] = {}
        request.get_http_headers().foreach(lambda name, value: fields.update({name.lower(): value}))
        method, url = request.get_http_method(), request.get_uri().removeprefix(self._prefix)
        view = request.get_web_view()
        is_refused = self._refuses(method, url, fields, view.get_uri() or "" if view else "")
        self.seen.append({"method": method, "url": url, "refused": is_refused, "origin": fields.get("origin")})
        if is_refused:
            request.finish_error(GLib.Error("refused"))
        elif method == "OPTIONS":
            asked = fields.get("access-control-request-headers")
            self._finish(request, 204, self._shared([]) + [("Access-Control-Allow-Methods", "GET, HEAD")]
                         + ([("Access-Control-Allow-Headers", asked)] if asked else []), b"")
        else:
            threading.Thread(target=self._load, args=(request, method, url, fields), daemon=True).start()

    def _refuses(self, method: str, url: str, fields: dict[str, str], page: str) -> bool:
        origin, target = fields.get("origin"), origin_of(url)
        return ("@" in urlsplit(url).netloc or origin_of(page) != self._page or origin not in (None, self._page)
                or (origin is not None and target != self._page) or "upgrade-insecure-requests" in fields
                or not url.startswith("https:") or not (method in ("GET", "HEAD") or
                                                        (method == "OPTIONS" and target == self._page)))

    def _shared(self, headers: Fields) -> Fields:
        names = ", ".join(sorted({name.lower() for name, _ in headers}))
        return headers + [("Access-Control-Allow-Origin", self._page), ("Access-Control-Allow-Credentials", "true"),
                          ("Access-Control-Expose-Headers", names), ("Cross-Origin-Resource-Policy", "cross-origin")]

    def _load(self, request: WebKit2.URISchemeRequest, method: str, url: str, fields: dict[str, str]) -> None:
        parts = urlsplit(url)
        connection = http.client.HTTPSConnection("127.0.0.1", self._proxy_port, context=unverified())
        connection.set_tunnel(parts.hostname or "", parts.port or 443)
        try:
            # The laboratory's server is told who asks.
            connection.request(method, parts._replace(scheme="", netloc="", fragment="").geturl() or "/", headers={
                **{name: value for name, value in fields.items() if name not in OF_SCHEME}, "X-Through": "handler"})
            response = connection.getresponse()
            body = response.read()
        except (OSError, http.client.HTTPException) as error:
            GLib.idle_add(request.finish_error, GLib.Error(str(error)))
            return
        headers = [(name, value) for name, value in response.getheaders()
                   if name.lower() not in OF_SERVER and not name.lower().startswith("access-control-")]
        headers.append(("Content-Security-Policy", "sandbox"))
        if origin_of(url) == self._page:
            headers = self._shared(headers)
        GLib.idle_add(self._finish, request, response.status, headers, body)

    @staticmethod
    def _finish(request: WebKit2.URISchemeRequest, status: int, headers: Fields, body: bytes) -> None:
        response = WebKit2.URISchemeResponse.new(Gio.MemoryInputStream.new_from_bytes(GLib.Bytes.new(body)), len(body))
        response.set_status(status, None)
        message = Soup.MessageHeaders.new(Soup.MessageHeadersType.RESPONSE)
        for name, value in headers:
            message.append(name, value)
            if name.lower() == "content-type":
                response.set_content_type(value)
        response.set_http_headers(message)
        request.finish_with_response(response)


def origin_of(url: str) -> str:
    """Scheme, host and port of a URL that has no default port."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"


def unverified() -> ssl.SSLContext:
    """A context that takes the laboratory's certificate."""
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context
