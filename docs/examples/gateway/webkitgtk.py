#!/usr/bin/python3
"""A WebKitGTK view whose requests all go through a gateway of Crumb.

    webkitgtk.py PROXY AUTHORITY URL

PROXY is the gateway's address, such as 127.0.0.1:8080; AUTHORITY the file of 'crumb gateway ca export'. Prints the title
of the page. WebKitGTK 2.40 or later with its bindings (gir1.2-webkit2-4.1 on Debian).
"""

import sys
from urllib.parse import urlsplit

import gi

gi.require_version("Gtk", "3.0")
gi.require_version("WebKit2", "4.1")
from gi.repository import Gio, GLib, Gtk, WebKit2  # noqa: E402


def view_through(proxy: str, authority: Gio.TlsCertificate) -> WebKit2.WebView:
    """A view that keeps nothing, with the gateway as its proxy, which trusts certificates of the authority."""
    data = WebKit2.WebsiteDataManager.new_ephemeral()
    data.set_network_proxy_settings(
        WebKit2.NetworkProxyMode.CUSTOM, WebKit2.NetworkProxySettings.new(f"http://{proxy}", None))
    context = WebKit2.WebContext.new_with_website_data_manager(data)

    def decide(view: WebKit2.WebView, url: str, certificate: Gio.TlsCertificate, _: Gio.TlsCertificateFlags) -> bool:
        host = urlsplit(url).hostname
        # Not the name alone: the certificate must be one of the authority for this host.
        if certificate.verify(Gio.NetworkAddress.new(host, 443), authority) != Gio.TlsCertificateFlags.NO_FLAGS:
            return False
        context.allow_tls_certificate_for_host(certificate, host)
        view.load_uri(url)
        return True

    view = WebKit2.WebView(web_context=context)
    view.connect("load-failed-with-tls-errors", decide)
    return view


def main(proxy: str, authority: str, url: str) -> int:
    view = view_through(proxy, Gio.TlsCertificate.new_from_file(authority))
    failures: list[str] = []

    def failed(_: WebKit2.WebView, event: WebKit2.LoadEvent, failed_url: str, error: GLib.Error) -> bool:
        failures.append(f"{failed_url}: {error.message}")
        Gtk.main_quit()
        return True

    view.connect("notify::title", lambda view, _: (print(view.get_title(), flush=True), Gtk.main_quit()))
    view.connect("load-failed", failed)
    window = Gtk.Window()
    window.add(view)
    window.show_all()
    view.load_uri(url)
    Gtk.main()
    for failure in failures:
        print(failure, file=sys.stderr)
    return 1 if failures else 0


sys.exit(main(*sys.argv[1:]))
