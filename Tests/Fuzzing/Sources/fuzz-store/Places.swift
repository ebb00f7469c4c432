import CookieModel

/// The requests that a script can name with two bytes: few, so that they have to do with each other.
enum Places {
    private static let urls: [RequestURL] = [
        "https://example.com/", "https://www.example.com/a/b", "http://example.com/", "http://www.example.com/a/",
        "wss://a.b.example.com/a/b/c?d", "ws://example.com:8080/a", "https://example.com./", "https://other.test/",
        "https://example.co.uk/", "https://co.uk/", "https://crumb.github.io/a", "http://github.io/",
        "http://localhost:3000/", "http://app.localhost/a", "http://127.0.0.1/", "https://127.0.0.1/a", "http://[::1]/",
        "https://a.b.kawasaki.jp/", "https://b.kawasaki.jp/", "http://kawasaki.jp/", "https://city.kawasaki.jp/",
        "https://com/", "http://xn--mnchen-3ya.example/%C3%BC", "https://192.0.2.1/",
    ].compactMap { try? RequestURL($0 as String) }

    /// The place that a letter from `A` on names, or any other byte.
    private static func url(_ byte: UInt8) -> RequestURL? {
        let index = Int(byte &- UInt8(ascii: "A"))
        return urls.isEmpty ? nil : urls[index % urls.count]
    }

    /// A request for the place `url`: the low half of `access` says how it is made, the high half how much further in
    /// the table the second place stands that some ways need.
    static func context(url: UInt8, access: UInt8) -> RequestContext? {
        guard let target = Places.url(url), let other = Places.url(url &+ access >> 4) else { return nil }
        var context = RequestContext(url: target)
        switch access & 15 {
        case 1: context.interface = .script
        case 2: context.method = "POST"
        case 3: context = RequestContext(url: target, topLevel: target)
        case 4: context = RequestContext(url: target, topLevel: other)
        case 5: context = RequestContext(url: target, topLevel: other, initiator: .origin(other))
        case 6: context = RequestContext(url: target, topLevel: target, initiator: .origin(other))
        case 7: context = RequestContext(url: target, topLevel: other, initiator: .opaque)
        case 8: context = RequestContext(url: target, topLevel: other, isTopLevelNavigation: true)
        case 9:
            context = RequestContext(url: target, topLevel: other, isTopLevelNavigation: true)
            context.method = "POST"
        case 10: context = RequestContext(url: target, topLevel: other, initiator: .user, isTopLevelNavigation: true)
        case 11:
            context = RequestContext(url: target, topLevel: other)
            context.interface = .script
        case 12: context.redirects = [other]
        default: break
        }
        return context
    }
}
