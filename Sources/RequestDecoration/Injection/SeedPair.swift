internal import CookieModel

extension InjectionScript {
    /// Name and value of a cookie where they lie, for as long as ``with(_:_:)`` runs.
    struct SeedPair {
        let name: UnsafeBufferPointer<UInt8>
        let value: UnsafeBufferPointer<UInt8>
        /// Whether a set-cookie-string says both as they are, and no rule asks for either: printable ASCII without what
        /// separates, short enough, and the name none of those with a prefix.
        let isPlain: Bool

        private init(name: UnsafeBufferPointer<UInt8>, value: UnsafeBufferPointer<UInt8>) {
            self.name = name
            self.value = value
            isPlain = SeedPair.isPlain(name, value)
        }

        /// Runs `body` on name and value of the cookie at `cookie`.
        static func with<Result>(
            _ cookie: UnsafePointer<Cookie>, _ body: (SeedPair) throws(Obstacle) -> Result
        ) throws(Obstacle) -> Result {
            try cookie.pointee.id.name.withSpan { name throws(Obstacle) in
                try cookie.pointee.value.withSpan { value throws(Obstacle) in
                    try name.withUnsafeBufferPointer { name throws(Obstacle) in
                        try value.withUnsafeBufferPointer { value throws(Obstacle) in
                            try body(SeedPair(name: name, value: value))
                        }
                    }
                }
            }
        }

        /// Whether both are text.
        var isUTF8: Bool {
            isPlain || [name, value].allSatisfy { String(validating: $0, as: UTF8.self) != nil }
        }

        /// Whether both are ASCII.
        var isASCII: Bool {
            isPlain || [name, value].allSatisfy { part in part.allAre { $0 < 0x80 } }
        }

        private static func isPlain(
            _ name: UnsafeBufferPointer<UInt8>, _ value: UnsafeBufferPointer<UInt8>
        ) -> Bool {
            guard let first = name.first, name.count + value.count <= SetCookie.nameAndValueLimit else { return false }
            if first == UInt8(ascii: "_"), name.count > 1, name[1] == first { return false }
            return name.allAre { !SeedPair.isOdd($0) && $0 != UInt8(ascii: "=") }
                && value.allAre { !SeedPair.isOdd($0) }
        }

        @inline(__always)
        private static func isOdd(_ octet: UInt8) -> Bool {
            octet &- 0x21 > 0x5D || octet == UInt8(ascii: ";")
        }
    }
}

extension UnsafeBufferPointer<UInt8> {
    /// Whether all octets are of a kind. Goes to the end in any case: a loop without another way out takes many at a time.
    @inline(__always)
    func allAre(_ isOfKind: (UInt8) -> Bool) -> Bool {
        var odd: UInt8 = 0
        for octet in self { odd |= isOfKind(octet) ? 0 : 1 }
        return odd == 0
    }
}
