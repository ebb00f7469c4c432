"""The cookies of the script matrix: each name once, so that what arrives can be told apart.

A row is the host that sets it, the path of the URL that sets it, and the line. `{site}` is the page's site.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    """A Set-Cookie line and where it comes from."""

    #: `app.` is the page's own host.
    subdomain: str
    path: str
    line: bytes


def _rows(subdomain: str, path: str, *lines: bytes) -> list[Row]:
    return [Row(subdomain, path, line) for line in lines]


PLAIN = [
    # Values.
    *_rows("app.", "/", b"plain=1", b"empty=", b"equals=a=b==", b"leading_equals==x", b"space=a b", b'quoted="a b"',
           b'half_quoted="a', b"comma=a,b", b"percent=a%20b%3B", b"backslash=a\\b", b"apostrophe='a'", b"angle=<b>&amp",
           b"script=</script>", b"dollar=${x}`", b"tab_inside=a\tb", b"colon=a:b|c", b'braces={"a":[1,2]}',
           b"long=" + b"x" * 3000, b"longest=" + b"y" * 4089),
    # Text beyond ASCII, and octets that are no text.
    *_rows("app.", "/", b"latin=caf\xc3\xa9", b"snowman=\xe2\x98\x83", b"astral=\xf0\x9f\x8d\xaa",
           b"rtl=\xd7\x90\xd7\x91", b"separator=a\xe2\x80\xa8b", b"combining=e\xcc\x81", b"\xc3\xbcml\xc3\xa4ut=1",
           b"bytes=\xff\xfe"),
    # Names.
    *_rows("app.", "/", b"UPPER=1", b"upper=2", b"a.b-c_d=1", b"na me=1", b'"name"=1', b"$dollar=1", b"n@me[0]=1",
           b"nameless"),
    # Hosts.
    *_rows("app.", "/", b"host_only=1", b"domain_page=1; Domain=app.{site}", b"domain_site=1; Domain={site}",
           b"domain_dot=1; Domain=.{site}"),
    *_rows("", "/", b"site_only=1", b"site_wide=1; Domain={site}"),
    # Paths.
    *_rows("app.", "/", b"root=1; Path=/", b"account=1; Path=/account", b"account_slash=1; Path=/account/",
           b"orders=1; Path=/account/orders", b"api=1; Path=/api", b"elsewhere=1; Path=/other",
           b"upper_path=1; Path=/Account"),
    *_rows("app.", "/account/login", b"default_path=1"),
    # Lifetimes.
    *_rows("app.", "/", b"session=1", b"day=1; Max-Age=86400", b"year=1; Max-Age=31536000",
           b"dated=1; Expires=Fri, 31 Dec 2100 23:59:59 GMT", b"for_ever=1; Max-Age=99999999999", b"over=1; Max-Age=0"),
    # SameSite.
    *_rows("app.", "/", b"lax=1; SameSite=Lax", b"strict=1; SameSite=Strict"),
    # What no script may see.
    *_rows("app.", "/", b"hidden=secret1; HttpOnly", b"hidden_day=secret2; HttpOnly; Max-Age=86400",
           b"hidden_site=secret3; HttpOnly; Domain={site}", b"hidden_strict=secret4; HttpOnly; SameSite=Strict"),
]

SECURE = [
    *_rows("app.", "/", b"secure=1; Secure", b"secure_lax=1; Secure; SameSite=Lax", b"none=1; Secure; SameSite=None",
           b"__Secure-prefix=1; Secure; Path=/account", b"__Host-prefix=1; Secure; Path=/",
           b"__Secure-site=1; Secure; Domain={site}", b"partitioned=1; Secure; SameSite=None; Partitioned",
           b"__Host-partitioned=1; Secure; Path=/; SameSite=None; Partitioned",
           b"hidden_secure=secret5; Secure; HttpOnly; SameSite=None",
           b"__Host-hidden=secret6; Secure; Path=/; HttpOnly"),
]

#: What the script must say it leaves out, and why.
OMISSIONS = {
    b"hidden": "http-only", b"hidden_day": "http-only", b"hidden_site": "http-only", b"hidden_strict": "http-only",
    b"hidden_secure": "http-only", b"__Host-hidden": "http-only", b"bytes": "octets-not-utf8",
}

#: What the script must say it sets for paths that the page cannot see.
UNVERIFIABLE = {b"api", b"elsewhere", b"upper_path"}


@dataclass(frozen=True)
class Page:
    """A page, and the cookies of its site."""

    scheme: str
    site: str
    rows: tuple[Row, ...]

    @property
    def url(self) -> str:
        return f"{self.scheme}://app.{self.site}/account/orders/"

    def resource(self, path: str) -> str:
        """A URL of the page's host."""
        return f"{self.scheme}://app.{self.site}{path}"

    def responses(self) -> list[tuple[str, list[bytes]]]:
        """The lines by the URL that they come from."""
        found: dict[str, list[bytes]] = {}
        for row in self.rows:
            url = f"{self.scheme}://{row.subdomain}{self.site}{row.path}"
            found.setdefault(url, []).append(row.line.replace(b"{site}", self.site.encode()))
        return list(found.items())


PAGES = [Page("https", "shop.test", tuple(PLAIN + SECURE)), Page("http", "plain.test", tuple(PLAIN)),
         # To this machine, http counts as secure in some browsers and in Crumb.
         Page("http", "localhost", tuple(PLAIN + SECURE))]
