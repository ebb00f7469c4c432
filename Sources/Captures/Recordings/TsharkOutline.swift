import CookieModel

/// Where responses stand in what `tshark -T json -J http` makes of a packet capture: a layer `http` in each packet, with a
/// member `http.set_cookie` for each line, all with that one name.
struct TsharkOutline: JSONOutline {
    enum Context: Sendable {
        case document
        case packets
        case packet
    }

    static let start = Context.document

    private let source: String
    private(set) var entryCount = 0
    private var hasPackets = false

    init(source: String) {
        self.source = source
    }

    mutating func part(
        named name: Span<UInt8>, holding container: JSONContainer?, in context: Context
    ) -> JSONPart<Context> {
        switch (context, container) {
        case (.document, .array):
            hasPackets = true
            return .enter(.packets)
        case (.packets, _): return .take(.packet)
        default: return .skip
        }
    }

    mutating func take(
        _ value: JSONValue, as context: Context, named name: Octets, isWhole: Bool, into items: inout [CaptureItem]
    ) {
        entryCount += 1
        let place = CapturePlace(source: source, entry: entryCount)
        guard isWhole else { return items.append(.failure(.entryTooLarge(at: place))) }
        guard let layers = value.object?["_source"]?.object?["layers"]?.object else {
            return items.append(.failure(.entryMalformed("It is no packet with layers.", at: place)))
        }
        for layer in layers.all("http") {
            guard let layer = layer.object, layer["http.response"] != nil || !layer.all("http.set_cookie").isEmpty
            else { continue }
            takeResponse(layer, at: place, into: &items)
        }
    }

    mutating func finish(isWhole: Bool, into items: inout [CaptureItem]) {
        guard isWhole, !hasPackets else { return }
        let finding = "The input is JSON without packets, so it is not tshark's."
        items.append(.failure(.inputUnrecognized(finding, at: CapturePlace(source: source))))
    }

    private func takeResponse(_ layer: JSONObject, at place: CapturePlace, into items: inout [CaptureItem]) {
        guard let url = layer["http.response_for.uri"]?.text else {
            return items.append(
                .failure(.entryMalformed("Its request is not in the packet capture, so its URL is unknown.", at: place)))
        }
        var lines = SetCookieLines()
        for value in layer.all("http.set_cookie") {
            switch value {
            case .string(let line): line.withSpan { lines.append($0) }
            case .tooLong: items.append(.failure(.fieldTooLong(at: place)))
            default: items.append(.failure(.lineMalformed("A Set-Cookie value is not a string.", at: place)))
            }
        }
        // The status stands within a member that is named by the whole status line.
        let status = layer.values.lazy.compactMap { $0.object?["http.response.code"]?.text }.first.flatMap { Int($0) }
        items.append(
            .response(
                CapturedResponse(
                    url: url, status: status ?? 0,
                    time: layer["http.date"]?.octets.flatMap { $0.withSpan { CookieDate.parse($0) } },
                    setCookie: lines.octets, place: place)))
    }
}
