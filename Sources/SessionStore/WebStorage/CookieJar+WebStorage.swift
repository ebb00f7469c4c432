public import CookieModel

/// The `localStorage` of pages, stored with a jar's cookies.
extension CookieJar {
    /// The items of an origin, or of all origins one after the other, in the order in which they were added.
    ///
    /// - Returns: The items with their values, and second those whose stored value was changed or damaged, without
    ///   values.
    public func webStorage(
        ofOrigin origin: String? = nil
    ) throws(SessionStoreError) -> (readable: [WebStorageItem], unreadable: [WebStorageItem]) {
        let rows = try database.read { try WebStorageRows(database: $0, jarID: id).rows(ofOrigin: origin) }
        let sealer = database.sealer
        var readable: [WebStorageItem] = []
        var unreadable: [WebStorageItem] = []
        for row in rows {
            let value = sealer.open(row.sealed, at: WebStorageRows.place(id, row.origin, row.key))
            guard let item = WebStorageItem(origin: row.origin, key: row.key, value: value ?? []) else { continue }
            if value == nil { unreadable.append(item) } else { readable.append(item) }
        }
        return (readable, unreadable)
    }

    /// The origins with items, with the number of their items and of the octets of keys and values. Opens no value.
    package func webStorageOrigins() throws(SessionStoreError) -> [(origin: String, items: Int, octets: Int)] {
        try database.read { connection in
            try WebStorageRows(database: connection, jarID: id).origins().map {
                ($0.origin, $0.usage.items, $0.usage.octets)
            }
        }
    }

    /// Removes items: all of the jar, those of an origin, or one of an origin.
    ///
    /// - Returns: The number of items removed.
    @discardableResult
    package func removeWebStorage(ofOrigin origin: String?, key: Octets?) throws(SessionStoreError) -> Int {
        try database.write(.jar(id)) { connection in
            let count = try WebStorageRows(database: connection, jarID: id).delete(origin: origin, key: key)
            if count > 0 { try CaptureRows(database: connection, jarID: id).allowAgain() }
            return count
        }
    }
}

extension CookieJar {
    /// The items of the origins of pages, each origin's once, as ``webStorage(ofOrigin:)`` reads them.
    public func webStorage(
        of pages: [RequestURL]
    ) throws(SessionStoreError) -> (readable: [WebStorageItem], unreadable: [WebStorageItem]) {
        var found: (readable: [WebStorageItem], unreadable: [WebStorageItem]) = ([], [])
        var known: Set<String> = []
        for page in pages where known.insert(page.origin).inserted {
            let (readable, unreadable) = try webStorage(ofOrigin: page.origin)
            found.readable += readable
            found.unreadable += unreadable
        }
        return found
    }
}

extension CookieBatch {
    /// Stores an item of an origin's `localStorage`, replacing one with the same key.
    ///
    /// - Returns: whether the limits of `WebStorageItem` permitted it.
    public mutating func receive(_ item: WebStorageItem) throws(SessionStoreError) -> Bool {
        let rows = try writtenRows()
        return try SessionStoreError.catching(path) {
            let storage = WebStorageRows(database: rows.database, jarID: rows.jarID)
            guard try storageRoom.takes(item.octetCount, item.key, ofOrigin: item.origin, in: storage)
            else { return false }
            let sequence = try nextStorageSequence ?? storage.nextSequence()
            nextStorageSequence = sequence + 1
            let place = WebStorageRows.place(rows.jarID, item.origin, item.key)
            try storage.put(
                try sealer.seal(item.value, at: place), origin: item.origin, key: item.key, sequence: sequence)
            return true
        }
    }
}

/// Determines for which items of `localStorage` a jar has room, without storing them.
package struct WebStorageTrial {
    private var room = WebStorageRoom()

    package init() {}

    /// Whether the jar has room for an item, in addition to the items of earlier calls.
    ///
    /// - Parameter jar: the jar; `nil` if it does not exist.
    package mutating func receive(_ item: WebStorageItem, in jar: CookieJar?) throws(SessionStoreError) -> Bool {
        guard let jar else {
            return (try? room.takes(item.octetCount, item.key, ofOrigin: item.origin, in: nil)) ?? false
        }
        var room = room
        self.room = WebStorageRoom()
        defer { self.room = room }
        return try jar.database.read { connection in
            try room.takes(
                item.octetCount, item.key, ofOrigin: item.origin,
                in: WebStorageRows(database: connection, jarID: jar.id))
        }
    }
}
