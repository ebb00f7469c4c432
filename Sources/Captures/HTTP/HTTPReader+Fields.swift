import CookieModel

// The lines of a header block.
extension HTTPReader {
    /// Adds a folded line to the field before it.
    mutating func fold(_ line: Span<UInt8>, into items: inout [CaptureItem]) {
        let place = CapturePlace(source: source, entry: head?.index, line: lines.number)
        guard let length = field?.count else {
            // Behind the status line, or behind a line that was left out: nothing that it belongs to.
            items.append(.failure(.fieldMalformed(at: place)))
            return
        }
        let text = line.trimmingBlanks(0..<line.count)
        guard length + 1 + text.count <= CaptureLimits.fieldByteCount else {
            items.append(.failure(.lineTooLong(at: CapturePlace(source: source, entry: head?.index, line: fieldLine))))
            field = nil
            return
        }
        field?.append(ASCII.space)
        field?.append(line.extracting(text))
    }

    /// The field line at hand is complete.
    mutating func endField(into items: inout [CaptureItem]) {
        guard let line = field else { return }
        field = nil
        if head?.take(line.span) == false {
            items.append(
                .failure(.fieldMalformed(at: CapturePlace(source: source, entry: head?.index, line: fieldLine))))
        }
    }

    /// The header block is complete: gives the response out and decides what may come next.
    mutating func endBlock(into items: inout [CaptureItem]) {
        endField(into: &items)
        guard let head else { return }
        self.head = nil
        let place = CapturePlace(source: source, entry: head.index, line: head.line)
        if head.isFromProxy, !head.setCookie.isEmpty { items.append(.failure(.proxyCookies(at: place))) }
        if head.setCookie.isOverfull { items.append(.failure(.responseTooLarge(at: place))) }
        items.append(
            .response(
                CapturedResponse(
                    url: url ?? "", urlOrigin: urlOrigin, status: head.status, time: head.date,
                    setCookie: head.isFromProxy ? [] : head.setCookie.octets, place: place)))
        mayContinue = follow(head.sequel)
        stage = .boundary(bodyLength: head.bodyLength ?? .max)
    }

    /// Moves to the URL of the response that may come next; false where none may.
    private mutating func follow(_ sequel: ResponseHead.Sequel) -> Bool {
        switch sequel {
        case .none:
            return false
        case .sameURL:
            return true
        case .location(let reference):
            guard let url, let base = try? RequestURL(url), let next = try? base.resolving(reference) else {
                return false
            }
            self.url = next.description
            urlOrigin = .redirect
            return true
        }
    }
}
