"""A single-page app as a bundler builds it: chunks with a hash in the name, most of them loaded when a page asks for them."""

import base64
import hashlib
import json
import struct
import zlib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

#: A font of Debian (`fonts-dejavu-core`).
FONT = Path("/usr/share/fonts/truetype/dejavu/DejaVuSansMono.ttf")
COLORS = {1: (38, 89, 196), 2: (196, 89, 38)}
#: What the page loads at once, what its document names for later, what a click loads, and what nothing loads early.
AT_ONCE, NAMED, CLICKED, UNSEEN = "home", "help", "orders", "account"

_DOCUMENT = """<!doctype html><html lang="en"><meta charset="utf-8"><title>Shop</title><link rel="icon" href="data:,">
<link rel="stylesheet" crossorigin href="{index.css}"><link rel="modulepreload" crossorigin href="{vendor.js}">
<link rel="modulepreload" crossorigin href="{help.js}">
<script type="module" crossorigin src="{index.js}"></script>
<body><h1>Shop, build {BUILD}</h1><img id="photo" alt="photo" width="96" height="96"><ul id="parts"></ul></body></html>
"""
_STYLE = """@font-face { font-family: Shop; src: url({mono.ttf}) }
body { font: 16px Shop; margin: 24px; background: #eef url({logo.svg}) no-repeat right 24px top 24px }
h1 { color: rgb{COLOR} }"""
_ORDERS_STYLE = "li.orders { color: rgb{COLOR}; font-weight: bold }"
_LOGO = """<svg xmlns="http://www.w3.org/2000/svg" width="120" height="120"><circle cx="60" cy="60" r="56" fill="rgb{COLOR}"/>
<text x="60" y="78" font-size="56" text-anchor="middle" fill="white">{BUILD}</text></svg>"""
_VENDOR = """export const build = {BUILD};
export function note(name, value) {
  window.shop.parts[name] = value;
  const line = document.createElement("li");
  line.className = name;
  line.textContent = `${name}: ${value}`;
  document.getElementById("parts").append(line);
}"""
_ROUTE = """import { note, build } from "{vendor.js}";
export function draw() { note("{ROUTE}", `build ${build} of {BUILD}`); }"""
_ORDERS = """import { note, build } from "{vendor.js}";
import { terms } from "{terms.js}";
export function draw() { note("orders", `build ${build} and ${terms} of {BUILD}`); }"""
_TERMS = "export const terms = {BUILD};"
_WORKER = """addEventListener("install", () => skipWaiting());
addEventListener("activate", (event) => event.waitUntil(clients.claim()));
addEventListener("fetch", (event) => event.respondWith(
  event.request.url.endsWith("/version") ? new Response("{VERSION}") : fetch(event.request)));"""
_HOME = """import { note, build } from "{vendor.js}";
export async function draw() {
  const photo = document.getElementById("photo");
  photo.src = "{photo.png}";
  await photo.decode().then(() => note("photo", "there"), () => note("photo", "missing"));
  note("home", `build ${build} of {BUILD}`);
}"""
_INDEX = """import { note, build } from "{vendor.js}";
const routes = {
  home: () => import("{home.js}"), help: () => import("{help.js}"), account: () => import("{account.js}"),
  orders: () => new Promise((loaded, failed) => {
    const style = document.createElement("link");
    Object.assign(style, {rel: "stylesheet", href: "{orders.css}", onload: loaded, onerror: failed});
    document.head.append(style);
  }).then(() => import("{orders.js}")),
};
async function ask(name) {
  const response = await fetch(`/api/${name}`);
  note(name, response.ok ? await response.text() : `status ${response.status}`);
}
window.shop = {build, parts: {}, done: false, async show(name) {
  await routes[name]().then((route) => route.draw()).catch(() => note(name, "does not load"));
}};
await Promise.allSettled([
  window.shop.show("home"), ask("stored"), ask("live"),
  // WebKit may run scripts before it has read the style sheet that names the font.
  new Promise((loaded) => document.readyState === "complete" ? loaded() : addEventListener("load", loaded))
    .then(() => document.fonts.load("16px Shop"))
    .then((fonts) => fonts.length ? "there" : "missing", () => "missing").then((state) => note("font", state)),
]);
window.shop.done = true;"""


@dataclass(frozen=True)
class File:
    """What a path of the app leads to."""

    content_type: str
    body: bytes

    @property
    def tag(self) -> str:
        """The entity tag."""
        return f'"{hashlib.sha256(self.body).hexdigest()[:16]}"'


@dataclass(frozen=True)
class Build:
    """One build of the app."""

    number: int
    document: File
    #: The chunks, by their paths, and the paths, by the names in the sources.
    chunks: dict[str, File]
    paths: dict[str, str]

    def chunks_of(self, *routes: str) -> set[str]:
        """The paths of all files of some routes."""
        return {path for name, path in self.paths.items() if name.partition(".")[0] in routes}

    @property
    def seen(self) -> set[str]:
        """The paths of the chunks that a page loads at once, or at a click."""
        return set(self.chunks) - self.chunks_of(UNSEEN)

    @property
    def terms(self) -> str:
        """The path of the chunk whose hash could be a word. It is part of the route that is loaded by a click."""
        return self.paths["terms.js"]


def hashed_name(name: str, body: bytes, is_evident: bool = True) -> str:
    """The name that a chunk gets, as Vite writes it: 8 characters of Base64 for URLs.

    A hash is evident if it has digits, small and capital letters that take turns. One of letters only could be a word.
    """
    stem, _, extension = name.partition(".")
    for salt in range(10_000):
        text = base64.urlsafe_b64encode(hashlib.sha256(body + salt.to_bytes(2)).digest()).decode()[:8]
        if text.isalpha() if not is_evident else _is_evident(text):
            return f"{stem}-{text}.{extension}"
    raise AssertionError(name)


def _is_evident(text: str) -> bool:
    kinds = ["digit" if c.isdigit() else "small" if c.islower() else "capital" for c in text if c.isalnum()]
    return len(kinds) == 8 and len(set(kinds)) == 3 and sum(a != b for a, b in zip(kinds, kinds[1:])) >= 4


@cache
def build(number: int) -> Build:
    """A build of the app. Every chunk of it but the font has another name in each build."""
    chunks: dict[str, File] = {}
    paths: dict[str, str] = {}

    def fill(text: str) -> bytes:
        for name, value in {**paths, "BUILD": str(number), "COLOR": str(COLORS[number])}.items():
            text = text.replace("{" + name + "}", value)
        return text.encode()

    def add(name: str, content_type: str, body: bytes, is_evident: bool = True) -> None:
        paths[name] = f"/assets/{hashed_name(name, body, is_evident)}"
        chunks[paths[name]] = File(content_type, body)

    add("mono.ttf", "font/ttf", FONT.read_bytes())
    add("logo.svg", "image/svg+xml", fill(_LOGO))
    add("photo.png", "image/png", _png(COLORS[number]))
    add("index.css", "text/css", fill(_STYLE))
    add("orders.css", "text/css", fill(_ORDERS_STYLE))
    add("vendor.js", "text/javascript", fill(_VENDOR))
    add("home.js", "text/javascript", fill(_HOME))
    add("terms.js", "text/javascript", fill(_TERMS), is_evident=False)
    add("orders.js", "text/javascript", fill(_ORDERS))
    for route in (NAMED, UNSEEN):
        add(f"{route}.js", "text/javascript", fill(_ROUTE.replace("{ROUTE}", route)))
    add("index.js", "text/javascript", fill(_INDEX))
    return Build(number, File("text/html; charset=utf-8", fill(_DOCUMENT)), chunks, paths)


def answer_of_api(path: str) -> bytes:
    """What the app's server answers to its scripts: text that does not change."""
    return json.dumps({"answer": path.rpartition("/")[2]}).encode()


def worker(version: int) -> File:
    """A service worker that passes all requests on, and tells its version."""
    return File("text/javascript", _WORKER.replace("{VERSION}", str(version)).encode())


def _png(color: tuple[int, int, int]) -> bytes:
    """A square of one color."""
    side = 96

    def part(kind: bytes, octets: bytes) -> bytes:
        return struct.pack(">I", len(octets)) + kind + octets + struct.pack(">I", zlib.crc32(kind + octets))

    rows = (b"\0" + bytes(color) * side) * side
    return (b"\x89PNG\r\n\x1a\n" + part(b"IHDR", struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0))
            + part(b"IDAT", zlib.compress(rows)) + part(b"IEND", b""))
