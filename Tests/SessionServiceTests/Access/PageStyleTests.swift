import Crypto
import Foundation
import OAuth2Login
import SessionOperations
import Testing
import WebPages

@testable import SessionService

@Suite("The style of pages")
struct PageStyleTests {
    @Test("A page of one message has the style that its security policy allows, and nothing else from elsewhere")
    func policy() throws {
        let page = MessagePage(title: "Done", paragraphs: ["All of it."], note: "a detail").html
        let start = try #require(page.range(of: "<style>")?.upperBound)
        let end = try #require(page.range(of: "</style>")?.lowerBound)
        let digest = Data(SHA256.hash(data: Data(page[start..<end].utf8))).base64EncodedString()
        #expect(MessagePage.securityPolicy.contains("style-src 'sha256-\(digest)';"))
        #expect(!page.contains("url(") && !page.contains("@import") && !page.contains(" style="))
    }

    @Test("Markup in the texts of a page is shown, not interpreted")
    func escaping() {
        let text = #"<b class="x">&"#
        let page = MessagePage(title: text, paragraphs: [text, text], note: text).html
        #expect(!page.contains("<b ") && page.components(separatedBy: "&lt;b class=&quot;x&quot;&gt;&amp;").count == 6)
    }

    @Test("The style sheet of the inspector begins with the style of the pages at the end of a login")
    func shared() {
        #expect(String(decoding: InspectorPages.style, as: UTF8.self).hasPrefix(MessagePage.style))
        #expect(LoginPage.done.html.contains(MessagePage.style))
        #expect(LoginPage.fields.contains { $0.value.hasPrefix(MessagePage.securityPolicy) })
    }
}

@Suite("Markup with texts in it")
struct HTMLTests {
    @Test("Literals are markup, and texts are text, also if an accent follows a character of syntax")
    func escaping() {
        let text = "<b title='\"\u{301}'>&amp;"
        let escaped = "&lt;b title=&#39;&quot;\u{301}&#39;&gt;&amp;amp;"
        let html: HTML = "<p title=\"\(text)\">\(text)</p>"
        #expect(html.markup == "<p title=\"\(escaped)\">\(escaped)</p>")
    }

    @Test("Markup is interpolated as it is; nothing for nil, one after the other for a list, and digits for a number")
    func parts() {
        let parts: [HTML] = ["<i>", "\("<")", "</i>"]
        let missing: HTML? = nil
        let html: HTML = "<p>\(parts)\(missing)\(parts.first)\(-12)\("")</p>"
        #expect(html.markup == "<p><i>&lt;</i><i>-12</p>")
    }
}
