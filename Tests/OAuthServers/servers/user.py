"""A user in a browser without a screen: cookies, forms, and redirects one by one."""

import html
import http.cookiejar
import re
import urllib.error
import urllib.parse
import urllib.request


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *arguments):
        return None


class User:
    """Keeps cookies, and stops at a redirect to where `is_end` says."""

    def __init__(self):
        self._opener = urllib.request.build_opener(
            urllib.request.ProxyHandler({}),
            urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar()),
            _NoRedirect(),
        )

    def request(self, url, data=None, method=None, headers=None):
        """Status, Location made absolute, and body."""
        request = urllib.request.Request(url, data=data, method=method, headers=headers or {})
        try:
            with self._opener.open(request, timeout=20) as answer:
                return answer.status, answer.headers.get("Location"), answer.read().decode(errors="replace")
        except urllib.error.HTTPError as answer:
            location = answer.headers.get("Location")
            location = urllib.parse.urljoin(url, location) if location else None
            return answer.code, location, answer.read().decode(errors="replace")

    def browse(self, url, is_end, answers, limit=12):
        """Follows redirects and submits forms with `answers` until a redirect leads to the end; its URL, else the page."""
        data = None
        for _ in range(limit):
            headers = {"Referer": url} if data else {}
            status, location, page = self.request(url, data, headers=headers)
            data = None
            if location:
                if is_end(location):
                    return location
                url = location
                continue
            form = re.search(r"<form\b([^>]*)>(.*?)</form>", page, re.S)
            if not form:
                return page
            action = re.search(r'action="([^"]*)"', form.group(1))
            fields = []
            used = False
            for field in re.findall(r"<(?:input|button)\b[^>]*>", form.group(2)):
                attributes = {name: html.unescape(value) for name, value in re.findall(r'(\w+)="([^"]*)"', field)}
                name = attributes.get("name")
                if not name:
                    continue
                if name in answers:
                    fields.append((name, answers[name]))
                    used = True
                elif attributes.get("type") == "hidden":
                    fields.append((name, attributes.get("value", "")))
            if not used:
                return page
            url = urllib.parse.urljoin(url, html.unescape(action.group(1)) if action else "") or url
            data = urllib.parse.urlencode(dict(fields)).encode()
        return page
