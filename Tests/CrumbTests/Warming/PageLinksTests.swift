import CookieModel
import Testing

@testable import CrumbCommands

@Suite("The links of pages and stylesheets")
struct PageLinksTests {
    /// A link as text: the reference, what it is for, and how it is requested unless it is without CORS and with cookies.
    private static func text(_ link: PageLink) -> String {
        var words = [link.reference.description, link.destination.rawValue]
        if link.isCORS { words.append("cors") }
        switch link.credentials {
        case .include: if link.isCORS { words.append("include") }
        case .sameOrigin: break
        case .omit: words.append("omit")
        }
        return words.joined(separator: " ")
    }

    static let pages: [(html: String, links: [String])] = [
        ("", []), ("<", []), ("<script", []), ("<!-- <script src=a></script>", []), ("a < b > c", []),
        ("<script src=a.js></script><SCRIPT SRC='b.js'></SCRIPT>", ["a.js script", "b.js script"]),
        ("<script src=\"a.js\" crossorigin></script>", ["a.js script cors"]),
        ("<script src=a.js crossorigin=use-credentials></script>", ["a.js script cors include"]),
        ("<script type=module src=m.js></script>", ["m.js script cors"]),
        ("<script nomodule src=old.js></script><script type=application/json src=d></script>", []),
        ("<script>document.write('<img src=a>')</script><img src=b>", ["b image"]),
        ("<script>x</scripty><img src=a></script ><img src=b>", ["b image"]),
        ("<noscript><img src=a></noscript><textarea><img src=b></textarea><title><img src=c></title>", []),
        ("<!--><img src=a><!-- --><!DOCTYPE <img src=b><?x <img src=c><img src=d>", ["a image", "d image"]),
        ("<link rel=stylesheet href=a.css><link rel='alternate stylesheet' href=b.css>", ["a.css style"]),
        ("<link rel='shortcut icon' href=/i.ico>", ["/i.ico image"]),
        ("<link rel=manifest href=m.json>", ["m.json manifest cors omit"]),
        ("<link rel=manifest href=m.json crossorigin=use-credentials>", ["m.json manifest cors include"]),
        ("<link rel=modulepreload href=m.js>", ["m.js script cors"]),
        ("<link rel=preload as=font href=f crossorigin>", ["f font cors"]),
        ("<link rel=preload as=fetch href=d>", ["d empty"]),
        ("<link rel=preload as=image imagesrcset='a 1x, b 2x'>", ["a image", "b image"]),
        ("<link rel=preload as=video href=v><link rel=prefetch href=p><link rel=stylesheet>", []),
        ("<img src=a srcset='b 1x, c 2x,d,e 100w'>", ["a image", "b image", "c image", "d,e image"]),
        ("<img srcset=' a, b 2x, , c'>", ["a image", "b image", "c image"]),
        ("<img src='' srcset><img src=' '>", []),
        ("<picture><source srcset=a.avif><img src=a.png></picture>", ["a.avif image", "a.png image"]),
        ("<video poster=p.jpg src=v.mp4><source src=w.mp4></video>", ["p.jpg image"]),
        ("<input type=IMAGE src=a><input src=b>", ["a image"]),
        ("<p style='background: url(&quot;a b.png&quot;)'>", ["a b.png image"]),
        ("<style>@import 'a.css'; b { background: url(b.png) }</style>", ["a.css style", "b.png image"]),
        ("<img src='a?b=1&amp;c=2&#38;d&#x26;e&copy;&#xD800;'>", ["a?b=1&c=2&d&e&copy;&#xD800; image"]),
        ("<img/src=a/><img src = b alt=\"<img src=c>\"><img =src=d src=e src=f>", ["a/ image", "b image", "e image"]),
    ]

    @Test("A page's links are those that a browser with scripts requests", arguments: pages)
    func page(html: String, links: [String]) {
        #expect(PageLinks(html: Array(html.utf8)).links.map(Self.text) == links)
    }

    static let sheets: [(css: String, links: [String])] = [
        ("", []), ("url(", []), ("/* url(a) ", []), ("@import", []), ("a{b:url(c", ["c image"]),
        (
            "@import 'a.css';@IMPORT url(b.css) screen; @import url( \"c.css\" ) layer(x);",
            ["a.css style", "b.css style", "c.css style"]
        ),
        ("@charset \"utf-8\"; @namespace url(http://www.w3.org/1999/xhtml); a { content: 'url(b)' }", []),
        ("a{background:URL( a.png ),url('b.png')}", ["a.png image", "b.png image"]),
        ("a{background:/*url(x)*/url(a.png)} b{c:myurl(d)} e{f:u rl(g)}", ["a.png image"]),
        ("a{b:url(#mask)} c{d:url()} e{f:url(g h)} i{j:url(k)}", ["k image"]),
        ("a{b:url(c\\ d\\29 e\\'f)}", ["c d)e'f image"]),
        ("a{b:\"c\n url(d)}", ["d image"]),
        (
            "@font-face{src:url(a.eot);src:url(a.eot?#iefix) format('x'),url(a.woff2) format('woff2'),url(a.ttf)} b{c:url(d)}",
            ["a.woff2 font cors", "d image"]
        ),
        ("@media x { @font-face { src: local(A), url(a.woff) } b { c: url(d) } }", ["a.woff font cors", "d image"]),
    ]

    @Test("A stylesheet's links are its imports, its images, and one file of each font", arguments: sheets)
    func sheet(css: String, links: [String]) {
        #expect(PageLinks(css: Array(css.utf8)).links.map(Self.text) == links)
    }

    @Test("The base and the icon of a page are known")
    func properties() {
        let page = PageLinks(html: Array("<base target=x><base href=/a/><base href=/b/><link rel=icon href=i>".utf8))
        #expect(page.base == "/a/" && page.hasIcon)
        #expect(PageLinks(html: []).base == nil && !PageLinks(html: []).hasIcon)
    }

    /// Parts of which a page that is meant to take long may consist.
    static let parts = [
        "<", "<!--", "<a ", "<a b=", "<a b='", "<script>", "<script></script", "<style>", "<style>/*</style>", "</",
        "<?",
        "<img srcset='", "<img srcset='a,", "a,", ",", "&", "&amp;", "<img src='&", "<p style='url('>", "<title></titl",
        "<style>url(", "url(", "url('", "@import ", "@font-face{", "/*", "\\", "'", "<img src=a>", "u", "\u{E9}",
    ]

    @Test("Twice the input takes twice the work, whatever it consists of", arguments: parts)
    func work(part: String) {
        for make in [{ PageLinks(html: $0).steps }, { PageLinks(css: $0).steps }] {
            let text = Array(repeating: Array(part.utf8), count: 2000).flatMap(\.self)
            let (once, twice) = (make(text), make(text + text))
            #expect(once <= 40 * text.count)
            #expect(twice <= 2 * once + 100, "\(once) \(twice)")
        }
    }
}
