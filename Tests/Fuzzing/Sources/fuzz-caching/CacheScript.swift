@testable import HTTPCaching
@testable import WebPrimitives

/// A script of requests, responses and time, out of any bytes.
///
/// Each line is a step: the first byte says which, the two next ones what kind, and the rest is fields as in
/// `Vary: Cookie|Age: 1`. Every byte means something, so that no input is wasted.
struct CacheScript {
    /// One thing that happens.
    enum Step {
        /// A client sends a request.
        case request(CacheRequest)
        /// The server answers the last request.
        case response(status: Int, fields: MessageFields, Body)
        /// The server fails.
        case failure(ServerFailure)
        /// Time passes, or the clock is set back.
        case advance(seconds: Int64)
    }

    /// The body of a response, without its octets.
    struct Body {
        let length: Int64
        let isComplete: Bool
    }

    private static let stepLimit = 24
    private static let fieldLimit = 12
    private static let methods: [Octets] = ["GET", "HEAD", "GET", "POST", "PUT", "OPTIONS", "get", "X"]
    private static let urls: [RequestURL] = [
        "https://a.example/", "https://a.example/?a=1&b=2", "https://a.example/?b=2&a=1", "https://a.example/x.js",
        "http://a.example/", "https://b.example/", "https://a.example/index-DiwrgT4a.js", "https://a.example/?a=2",
    ].compactMap { try? RequestURL($0 as String) }
    private static let statuses = [
        200, 200, 304, 206, 404, 500, 503, 302, 204, 412, 416, 201, 100, 599, 410, 401,
    ]
    private static let durations: [Int64] = [0, 1, 10, 59, 61, 3600, 86_400, 1 << 31, -1, -61, -86_400, .max, .min]

    let steps: [Step]

    init(_ input: [UInt8]) {
        steps = input.split(separator: UInt8(ascii: "\n")).prefix(CacheScript.stepLimit)
            .compactMap { CacheScript.step(Array($0)) }
    }

    private static func step(_ line: [UInt8]) -> Step? {
        guard let kind = line.first, !urls.isEmpty else { return nil }
        let (first, second) = (line.count > 1 ? Int(line[1]) : 0, line.count > 2 ? Int(line[2]) : 0)
        let fields = fields(line.dropFirst(3))
        switch kind {
        case UInt8(ascii: ">"):
            return .request(
                CacheRequest(
                    method: methods[second % methods.count], url: urls[first % urls.count], fields: fields))
        case UInt8(ascii: "+"): return .advance(seconds: durations[((first &- 0x30) & 255) % durations.count])
        case UInt8(ascii: "!"): return .failure(first % 2 == 0 ? .unreachable : .error)
        default:
            // `0` and the next 15 characters are complete bodies with 0 to 15 octets, those after them incomplete ones.
            let shape = second &- 0x30
            let body = Body(length: Int64(shape & 15), isComplete: shape & 16 == 0)
            return .response(status: statuses[(first &- 0x30) & 15], fields: fields, body)
        }
    }

    private static func fields(_ text: ArraySlice<UInt8>) -> MessageFields {
        MessageFields(
            text.split(separator: UInt8(ascii: "|")).prefix(fieldLimit).map { line in
                let colon = line.firstIndex(of: UInt8(ascii: ":")) ?? line.endIndex
                return MessageFields.Field(
                    Octets(Array(line[..<colon])), Octets(Array(line[colon...].dropFirst())))
            })
    }
}
