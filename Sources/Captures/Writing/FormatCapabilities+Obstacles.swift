import CookieModel

extension FormatCapabilities {
    /// Why the format cannot hold a cookie; `nil` if it can.
    func obstacle(to record: CookieRecord) -> ExportObstacle? {
        if octets != .any, !record.hasScope { return .scope }
        if !holdsNameless, record.name.isEmpty { return .nameless }
        if !admitsOctets(of: record) { return .octets }
        if needsText, ![record.name, record.value, record.path].allSatisfy({ $0.utf8String != nil }) {
            return .notText
        }
        if octets == .setCookie || octets == .browser, record.isTooLong { return .tooLong }
        if partitions != .all, let key = record.partitionKey,
            WebHost(record.domain).map(key.isOwnSite) != true
        {
            return .partition
        }
        return nil
    }

    private func admitsOctets(of record: CookieRecord) -> Bool {
        switch octets {
        case .any: true
        case .columns: ![record.name, record.value, record.path].contains { $0.contains(where: endsColumn) }
        case .header:
            ![record.name, record.value].contains { $0.contains { ASCII.isControl($0) || $0 == ASCII.semicolon } }
                && !record.name.contains(ASCII.equals)
        case .setCookie, .browser: record.isSetCookieText(allowingTabs: octets == .setCookie)
        }
    }
}

private func endsColumn(_ byte: UInt8) -> Bool {
    byte == 0 || byte == ASCII.tab || byte == ASCII.lineFeed || byte == ASCII.carriageReturn
}

extension CookieRecord {
    /// Whether host and path are such that a reader can tell who gets the cookie.
    fileprivate var hasScope: Bool {
        path.first == ASCII.slash && domain.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7F } && WebHost(domain) != nil
    }

    /// Whether name, value and path come back when they are parsed (section 5.6 of the draft).
    fileprivate func isSetCookieText(allowingTabs: Bool) -> Bool {
        guard !name.contains(ASCII.equals), !(name.isEmpty && value.isEmpty) else { return false }
        return [name, value, path].allSatisfy { part in
            guard let first = part.first, let last = part.last else { return true }
            return !ASCII.isBlank(first) && !ASCII.isBlank(last)
                && !part.contains { ASCII.isControl($0) || $0 == ASCII.semicolon || !allowingTabs && $0 == ASCII.tab }
        }
    }

    /// Whether parsers ignore the cookie, or its path, for their length (section 5.6 of the draft).
    fileprivate var isTooLong: Bool {
        name.count + value.count > SetCookie.nameAndValueLimit || path.count > SetCookie.attributeValueLimit
    }
}
