public import WebPrimitives

/// One item of a page's `localStorage`, where many sites store a login.
///
/// The value is as secret as a cookie's: no description shows it.
public struct WebStorageItem: Sendable, Hashable {
    /// The scheme, host and port of the pages that see the item, as `RequestURL.origin` writes them.
    public let origin: String
    /// The key, as a string of JavaScript in WTF-8: UTF-8, in which a surrogate without its pair is three octets.
    public let key: Octets
    /// The value, encoded as the key is.
    public let value: Octets

    /// The maximum number of octets of keys and values of one origin in a jar.
    package static let originOctetLimit = 5 << 20
    /// The maximum number of items of one origin in a jar.
    package static let originItemLimit = 10_000
    /// The maximum number of octets of keys and values in a jar.
    package static let jarOctetLimit = 50 << 20
    /// The maximum number of items in a jar.
    package static let jarItemLimit = 100_000

    /// Creates an item of an origin.
    ///
    /// - Returns: `nil` if the origin is not one of `http` or `https`: no other has a storage that outlives its page.
    public init?(origin: String, key: Octets, value: Octets) {
        guard let url = try? RequestURL(origin), url.scheme == .https || url.scheme == .http else { return nil }
        self.init(of: url, key: key, value: value)
    }

    /// An item of the origin of a page.
    package init(of page: RequestURL, key: Octets, value: Octets) {
        origin = page.origin
        self.key = key
        self.value = value
    }

    /// How many octets of the limits the item takes.
    package var octetCount: Int { key.count + value.count }
}

extension WebStorageItem: ValueHiding {
    /// The kind of the item, without its contents.
    public var description: String { "localStorage item" }
}
