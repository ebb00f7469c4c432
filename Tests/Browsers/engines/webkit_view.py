#!/usr/bin/python3
"""A WebKitGTK view that is told what to do: the nearest thing to a WKWebView on this platform.

    webkit_view.py SETTINGS

SETTINGS is a JSON object: `proxyPort`, where there is a proxy; `dataFolder` for a store that outlives the process, else
nothing is kept, and `textStorage` for a cookie file instead of a database; `thirdPartyCookies`; `scheme` for a handler of
schemes, as `webkit_scheme.py` has it. Commands come as JSON lines on standard input, each with an `id`; answers go to
standard output with the same `id` and a `value` or an `error`. A program of its own, since the main loop wants the main
thread, and since a test kills it.
"""

import base64
import json
import os
import sys
from collections.abc import Callable

import gi

gi.require_version("Gdk", "3.0")
gi.require_version("Gtk", "3.0")
gi.require_version("Soup", "3.0")
gi.require_version("WebKit2", "4.1")
from gi.repository import Gdk, Gio, GLib, Gtk, Soup, WebKit2  # noqa: E402

from webkit_scheme import SchemeHandler  # noqa: E402


class View:
    """One window with one page."""

    def __init__(self, settings: dict):
        folder = settings.get("dataFolder")
        manager = (WebKit2.WebsiteDataManager(base_data_directory=folder, base_cache_directory=folder) if folder
                   else WebKit2.WebsiteDataManager.new_ephemeral())
        manager.set_tls_errors_policy(WebKit2.TLSErrorsPolicy.IGNORE)
        if settings.get("proxyPort") is None:
            manager.set_network_proxy_settings(WebKit2.NetworkProxyMode.NO_PROXY, None)
        else:
            proxy = WebKit2.NetworkProxySettings.new(f"http://127.0.0.1:{settings['proxyPort']}", None)
            manager.set_network_proxy_settings(WebKit2.NetworkProxyMode.CUSTOM, proxy)
        context = WebKit2.WebContext.new_with_website_data_manager(manager)
        self._cookies = context.get_cookie_manager()
        if folder:
            name, storage = (("cookies.txt", WebKit2.CookiePersistentStorage.TEXT) if settings.get("textStorage")
                             else ("cookies.sqlite", WebKit2.CookiePersistentStorage.SQLITE))
            self._cookies.set_persistent_storage(os.path.join(folder, name), storage)
        self._cookies.set_accept_policy(
            WebKit2.CookieAcceptPolicy.ALWAYS if settings.get("thirdPartyCookies", True)
            else WebKit2.CookieAcceptPolicy.NO_THIRD_PARTY)
        scheme = settings.get("scheme")
        self._handler = SchemeHandler(context, scheme, settings["proxyPort"]) if scheme else None
        self._content = WebKit2.UserContentManager()
        self._view = WebKit2.WebView(web_context=context, user_content_manager=self._content)
        self._view.connect("web-process-terminated", lambda *_: Gtk.main_quit())
        self._window = Gtk.Window()
        self._window.set_default_size(800, 600)
        self._window.add(self._view)
        self._window.show_all()

    def handle(self, command: dict, answer: Callable[[object], None], fail: Callable[[str], None]) -> None:
        """Does what `command` says, and calls `answer` when it is done, or `fail` if a script fails."""
        match command["do"]:
            case "version":
                answer(".".join(str(part) for part in (
                    WebKit2.get_major_version(), WebKit2.get_minor_version(), WebKit2.get_micro_version())))
            case "navigate":
                request = WebKit2.URIRequest.new(command["url"])
                for name, value in command["fields"].items():
                    request.get_http_headers().append(name, value)
                self._view.load_request(request)
                answer(None)
            case "evaluate":
                self._evaluate(command["expression"], answer, fail)
            case "addDocumentScript":
                self._content.add_script(WebKit2.UserScript.new(
                    command["script"], WebKit2.UserContentInjectedFrames.ALL_FRAMES,
                    WebKit2.UserScriptInjectionTime.START, None, None))
                answer(None)
            case "screenshot":
                # The window shows a page a moment after its scripts have run.
                GLib.timeout_add(300, self._screenshot, answer)
            case "schemeRequests":
                answer(self._handler.seen if self._handler else [])
            case "addCookie":
                self._cookies.add_cookie(native_cookie(command["cookie"]), None,
                                         lambda manager, result: answer(manager.add_cookie_finish(result)))
            case "cookies":
                self._cookies.get_all_cookies(None, lambda manager, result: answer(
                    [native_fields(cookie) for cookie in manager.get_all_cookies_finish(result)]))
            case other:
                raise ValueError(f"no such command: {other}")

    def _screenshot(self, answer: Callable[[object], None]) -> bool:
        """Answers with what the window shows: the view's own snapshots need the bindings of Cairo."""
        shown = self._window.get_window()
        picture = Gdk.pixbuf_get_from_window(shown, 0, 0, shown.get_width(), shown.get_height())
        answer(base64.b64encode(picture.save_to_bufferv("png", [], [])[1]).decode())
        return False

    def _evaluate(self, expression: str, answer: Callable[[object], None], fail: Callable[[str], None]) -> None:
        def finish(view: WebKit2.WebView, result: Gio.AsyncResult) -> None:
            try:
                value = view.evaluate_javascript_finish(result)
            except GLib.Error as error:
                return fail(str(error))
            answer(json.loads(value.to_json(0) or "null"))

        self._view.evaluate_javascript(expression, -1, None, None, None, finish)


def native_cookie(fields: dict) -> Soup.Cookie:
    """A cookie for the native store; a leading dot of `domain` makes it go to subdomains too."""
    cookie = Soup.Cookie.new(fields["name"], fields["value"], fields["domain"], fields["path"],
                             fields.get("maxAge", -1))
    cookie.set_secure(fields["isSecure"])
    cookie.set_http_only(fields["isHTTPOnly"])
    policies = {"Strict": Soup.SameSitePolicy.STRICT, "Lax": Soup.SameSitePolicy.LAX}
    cookie.set_same_site_policy(policies.get(fields.get("sameSite", ""), Soup.SameSitePolicy.NONE))
    return cookie


def native_fields(cookie: Soup.Cookie) -> dict:
    """What the native store says of a cookie, in the members that `native_cookie` takes."""
    expires = cookie.get_expires()
    fields = {"name": cookie.get_name(), "value": cookie.get_value(), "domain": cookie.get_domain(),
              "path": cookie.get_path(), "isSecure": cookie.get_secure(), "isHTTPOnly": cookie.get_http_only()}
    policies = {Soup.SameSitePolicy.STRICT: "Strict", Soup.SameSitePolicy.LAX: "Lax"}
    # The store has one word for None and for nothing said.
    if (policy := policies.get(cookie.get_same_site_policy())) is not None:
        fields["sameSite"] = policy
    if expires is not None:
        fields["expires"] = expires.to_unix()
    return fields


def main() -> None:
    view = View(json.loads(sys.argv[1]))
    buffer = b""

    def say(number: int, outcome: dict) -> None:
        print(json.dumps({"id": number, **outcome}), flush=True)

    def perform(line: bytes) -> None:
        command = json.loads(line)
        try:
            view.handle(command, lambda value: say(command["id"], {"value": value}),
                        lambda error: say(command["id"], {"error": error}))
        except (GLib.Error, ValueError, KeyError) as error:
            say(command["id"], {"error": str(error)})

    def read(_channel: GLib.IOChannel, _condition: GLib.IOCondition) -> bool:
        nonlocal buffer
        octets = os.read(0, 1 << 20)
        if not octets:
            Gtk.main_quit()
            return False
        buffer += octets
        *lines, buffer = buffer.split(b"\n")
        for line in lines:
            perform(line)
        return True

    GLib.io_add_watch(GLib.IOChannel.unix_new(0), GLib.PRIORITY_DEFAULT, GLib.IOCondition.IN | GLib.IOCondition.HUP,
                      read)
    Gtk.main()


main()
