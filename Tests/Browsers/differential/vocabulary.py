"""The words that generated Set-Cookie lines are made of. `{...}` stands for what depends on the case.

Weights are by repetition: what sites really send is the greater part, so that odd things meet ordinary ones.
"""

#: Cookie names. Few, so that cookies of one name meet.
PLAIN_NAMES = [b"a", b"b", b"c"]
ODD_NAMES = [
    b"A", b"a b", b"a\tb", b'"a"', b"a,b", b"$Version", b"a/b@[]{}", b"\xc3\xa9", b"\xff", b"\xe2\x98\x83", b"{long}",
    b"a\\", b"Path", b"Secure",
]
PREFIXED_NAMES = [
    b"__Secure-a", b"__secure-a", b"__SECURE-a", b"__Host-a", b"__host-a", b"__HOST-a", b"__Http-a", b"__HTTP-a",
    b"__Host-Http-a", b"__host-http-a", b"__Secure-", b"__Host-", b"__Hosta", b"_Host-a", b"__Host-Secure-a",
]

#: Values; `{v}` is unlike any other of the case, so that what comes back can be told apart.
PLAIN_VALUES = [b"{v}"]
ODD_VALUES = [
    b'"{v}"', b'"{v}', b'{v}"', b'"{v} b"', b'"{v}; b"', b"{v} b", b"{v}=b", b"={v}", b"{v}==", b"{v},b", b" {v} ",
    b"\t{v}\t", b"{v}\tb", b"{v}\xc3\xa9", b"{v}\xff", b"\xe2\x98\x83{v}", b"{v}\\", b"{v}%3B", b"", b" ", b'""',
    b"{v}\x01", b"{v}\x7f", b"{v}\x1f", b"\x08{v}", b"{v}\x80", b"{v}\xa0", b"\xa0{v}", b"\xef\xbb\xbf{v}", b"{v}'b'",
    b"{v}<b>", b"{v}\x0b", b"{v}\x0c",
]
#: Octets of name and value together.
SIZES = [4094, 4095, 4096, 4097, 4098, 5000]

#: Whole lines that are no ordinary pair with attributes.
BARE_LINES = [
    b"{v}", b"={v}", b" = {v}", b"", b"=", b";", b"; Path=/", b"=; Path=/", b"{v}; Path=/", b"={v}={v}", b"a", b"a;",
    b"a=", b" a = {v} ", b"=__Secure-{v}", b"__Host-{v}", b"=__Http-{v}=b", b"__secure-{v}; Secure; Path=/",
    b"a={v};;;Path=/", b"a={v}; =; Path=/", b"a={v};Path=/;Secure;HttpOnly", b"a={v} ; Path = / ; Max-Age = 100",
    b"a={v}, b={v}", b"a={v}; Path=/, b={v}; Path=/", b"Set-Cookie: a={v}", b"a={v}; $Path=/x", b"a={v}; Version=1",
    b"a={v}; Comment=\"x; Domain=other.test\"", b"a={v}; Priority=High", b"\xef\xbb\xbfa={v}", b"a\x01={v}",
    b"a={v};\x01",
    b"a={v}; Path=/\x01", b"a={v}; x=\x7f", b"a={v}; Path=\t/\t",
]

#: Attributes by kind; `{site}`, `{host}`, `{suffix}` are the case's.
PATHS = [
    b"Path=/", b"Path=/", b"Path=/", b"Path=/a", b"Path=/a/", b"Path=/a/b", b"Path=/A", b"Path", b"Path=", b"Path=a",
    b"Path=//", b"Path=/a//", b"Path=/a%20b", b"Path=/a b", b"Path=\"/\"", b"Path=\"/a\"", b"Path=/\xc3\xa9", b"Path=?",
    b"Path=/a?x", b"Path=.", b"Path=/ ", b"Path=/{x1022}", b"Path=/{x1023}", b"Path=/{x1024}", b"Path={x1025}",
    b"PATH=/a",
    b"path = /a", b"Path=/ab", b"Path=/a/b/c", b"Path=*", b"Path=http://{host}/a",
]
DOMAINS = [
    b"Domain={site}", b"Domain={site}", b"Domain={host}", b"Domain={host}", b"Domain=.{site}", b"Domain=.{host}",
    b"Domain=..{site}", b"Domain={site}.", b"Domain=.{site}.", b"Domain={SITE}", b"Domain=", b"Domain", b"Domain=.",
    b"Domain={suffix}", b"Domain=.{suffix}", b"Domain=sub.{host}", b"Domain=sibling.{site}", b"Domain=other.test",
    b"Domain=x{site}", b"Domain=127.0.0.1", b"Domain=\"{site}\"", b"Domain={site}:80", b"Domain=http://{site}/",
    b"Domain={site}/", b"Domain= {site} ", b"Domain=\xc3\xa9.{site}", b"Domain=xn--9ca.{site}", b"Domain=*.{site}",
    b"Domain={site}\x80", b"Domain={site},other.test", b"domain={site}", b"DOMAIN={host}", b"Domain=%77.{site}",
    b"Domain={x1024}", b"Domain={x1025}",
]
MAX_AGES = [
    b"Max-Age=100", b"Max-Age=100000", b"Max-Age=0", b"Max-Age=-1", b"Max-Age=-0", b"Max-Age=+100", b"Max-Age=1e5",
    b"Max-Age=100.5", b"Max-Age=100s", b"Max-Age=x", b"Max-Age=", b"Max-Age", b"Max-Age=99999999999999999999",
    b"Max-Age=-99999999999999999999", b"Max-Age=\"100\"", b"Max-Age=\"0\"", b"max-age=0", b"Max-Age= 0 ", b"Max-Age=00",
    b"Max-Age=--1", b"Max-Age=-", b"Max-Age=0x10", b"Max-Age=-1x", b"Max-Age=0 1", b"Max-Age=2147483648",
    b"Max-Age=\xd9\xa1",
    b"Max-Age=-9223372036854775808", b"Max-Age=0.9",
]
#: A time that is past shows whether the date was understood; one to come, whether it outdoes another attribute.
PAST_DATES = [
    b"Thu, 01 Jan 1970 00:00:00 GMT", b"Thu, 01-Jan-1970 00:00:01 GMT", b"Thu, 01 Jan 1970 00:00:00",
    b"01 Jan 1970 00:00:00",
    b"Thu Jan  1 00:00:00 1970", b"1 jan 70 0:0:0", b"Mon, 01-Jan-90 10:00:00 GMT", b"01-Jan-69 00:00:00",
    b"01-Jan-70 00:00:00",
    b"01-Jan-99 00:00:00", b"01-Jan-00 00:00:00", b"Sunday, 06-Nov-94 08:49:37 GMT", b"Sun Nov  6 08:49:37 1994",
    b"\"Thu, 01 Jan 1970 00:00:00 GMT\"", b"Fri, 31 Dec 1600 23:59:59 GMT", b"Mon, 01 Jan 1601 00:00:00 GMT",
    b"Thu, 01 Jan 1970 00:00:00 +0900", b"Thu, 01 Jan 1970 24:00:00 GMT", b"Thu, 01 Jan 1970 23:60:00 GMT",
    b"Thu, 01 Jan 1970 23:59:60 GMT", b"Thu, 32 Jan 1970 00:00:00 GMT", b"Thu, 00 Jan 1970 00:00:00 GMT",
    b"Thu, 31 Feb 1970 00:00:00 GMT", b"Thu, 30 Feb 2000 00:00:00 GMT", b"Thu, 29 Feb 2001 00:00:00 GMT",
    b"Thu, 01 January 1970 00:00:00 GMT", b"Thu, 01 Janx 1970 00:00:00 GMT", b"Thu, 01 Ja 1970 00:00:00 GMT",
    b"01 01 1970 00:00:00", b"1970-01-01T00:00:00Z", b"1970 Jan 01 00:00:00", b"00:00:00 1970 Jan 1",
    b"Jan 1 00:00:00 1970",
    b"Thu, 001 Jan 1970 00:00:00 GMT", b"Thu, 01 Jan 970 00:00:00 GMT", b"Thu, 01 Jan 01970 00:00:00 GMT",
    b"Thu, 01 Jan 1970 0:0:0 GMT", b"Thu, 01 Jan 1970 000:00:00 GMT", b"Thu, 01 Jan 1970 00:00 GMT",
    b"Thu, 01 Jan 1970",
    b"Thu, 01 Jan 1970 00:00:00.000 GMT", b"Thu, 01 Jan 1970 00-00-00 GMT", b"Thu,01/Jan/1970,00:00:00", b"0", b"-1",
    b"",
    b"Thu, 01 Jan 1970 00:00:00 GMT; x", b"Thu, 01 Jan 1970 10:00:00 PM", b"Thu, 01 Jan 1970\t00:00:00", b"Jan", b"GMT",
    b"Wed, 01 Jan 70 00:00:00 1970", b"1st Jan 1970 00:00:00", b"01 Jan 1970x 00:00:00", b"01 Jan 1970 00:00:00x",
    b"01 Jan 1970 x00:00:00", b"01 Jan 1970 00:00:00:00", b"01 J\xc3\xa4n 1970 00:00:00", b"01.Jan.1970 00:00:00",
    b"01_Jan_1970_00:00:00", b"01Jan1970 00:00:00", b"{x1025}01 Jan 1970 00:00:00",
]
FUTURE_DATES = [
    b"Fri, 31 Dec 2100 23:59:59 GMT", b"Fri, 31 Dec 9999 23:59:59 GMT", b"Fri, 31 Dec 10000 23:59:59 GMT",
    b"Tue, 19 Jan 2038 03:14:08 GMT", b"01-Jan-68 00:00:00", b"Sat, 01 Jan 2050 00:00:00 GMT", b"garbage",
]
SAME_SITES = [
    b"SameSite=Lax", b"SameSite=Strict", b"SameSite=None", b"SameSite=None; Secure", b"SameSite=None; Secure",
    b"SameSite=lax", b"samesite=STRICT", b"SameSite=none; secure", b"SameSite", b"SameSite=", b"SameSite=x",
    b"SameSite=\"Lax\"",
    b"SameSite=Default", b"SameSite= Strict ", b"SameSite=Lax; SameSite=Strict", b"SameSite=Strict; SameSite=x",
    b"SameSite=Strict; SameSite=None; Secure", b"SameSite=None; SameSite=Strict",
]
FLAGS = [
    b"Secure", b"Secure", b"Secure", b"HttpOnly", b"HttpOnly", b"secure", b"SECURE", b"Secure=", b"Secure=false",
    b"Secure=x",
    b"httponly", b"HttpOnly=0", b" Secure ", b"Secur", b"Partitioned; Secure", b"Partitioned", b"partitioned; secure",
    b"Partitioned=x; Secure; SameSite=None", b"Secure; Partitioned; SameSite=None", b"\"Secure\"",
]

#: What only a script can write: a response cannot hold it.
SCRIPT_LINES = [
    "a={v}\nb", "a={v}\rb", "a={v}\x00b", "a={v}; Path=/\n", "a={v}\r\nSet-Cookie: b={v}", "a={v}\u2028", "\ud7ffa={v}",
    "a={v}\U0001f36a", "\u00e9={v}", "a={v}; Path=/\u00e9", "a={v}; Domain=\u00e9.{site}", "\x00a={v}",
    "a={v};\x00Path=/",
]

#: Paths of requests, as browsers write them in a request line.
REQUEST_PATHS = [
    "/", "/", "/a", "/a/", "/a/b", "/a/b/", "/a/b/c", "/ab", "/A", "/a%20b", "/%C3%A9", "/a//b", "/a;b", "/a.b",
]
