import Captures
import CookieModel
import CookieScenarios
import HTTPTypes
import Hummingbird
import NIOCore
import SessionWire

extension SessionAPI {
    /// How long one scenario may be.
    private static let scenarioByteCount = 1 << 20

    var simulateRoutes: [ServiceRoute] {
        [ServiceRoute(.simulate, use: simulate)]
    }

    /// Runs scenarios, a line each, on throw-away jars, and answers each with a line as it comes.
    private func simulate(_ request: Request, _ context: ServiceRequestContext) async throws -> Response {
        let now = now()
        return Response(
            status: .ok, headers: [.contentType: "application/x-ndjson", .cacheControl: "no-store"],
            body: ResponseBody { writer in
                var lines = ScenarioLines(limit: SessionAPI.scenarioByteCount)
                for try await chunk in request.body {
                    let answers = try await answers(to: lines.take(chunk.readableBytesView), now)
                    if answers.readableBytes > 0 { try await writer.write(answers) }
                }
                let answers = try await answers(to: lines.finish(), now)
                if answers.readableBytes > 0 { try await writer.write(answers) }
                try await writer.finish(nil)
            })
    }

    /// A line for each scenario.
    private func answers(to lines: [[UInt8]], _ now: Timestamp) async throws -> ByteBuffer {
        guard !lines.isEmpty else { return ByteBuffer() }
        let publicSuffixes = policy.publicSuffixes
        return try await blocking {
            var answers = ByteBuffer()
            for line in lines {
                answers.writeBytes(
                    ScenarioLine.run(
                        line, realTime: now, publicSuffixes: publicSuffixes, refusingUnknownMembers: true,
                        checkedBy: { try StrictJSON.check($0) }
                    ).answer)
                answers.writeInteger(UInt8(ascii: "\n"))
            }
            return answers
        }
    }
}

/// Cuts the body into lines that are not empty.
private struct ScenarioLines {
    let limit: Int
    private var rest: [UInt8] = []
    /// Whether the current line is longer than it may be, so that its rest is passed over.
    private var isTooLong = false

    init(limit: Int) {
        self.limit = limit
    }

    /// The lines that are complete with these octets.
    mutating func take(_ bytes: some Collection<UInt8>) -> [[UInt8]] {
        var lines: [[UInt8]] = []
        var pieces = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)[...]
        let last = pieces.popLast()
        for piece in pieces {
            append(piece)
            lines += finish()
        }
        if let last { append(last) }
        return lines
    }

    /// The line that has no end.
    mutating func finish() -> [[UInt8]] {
        defer { (rest, isTooLong) = ([], false) }
        // A line that is too long gets the answer of an invalid scenario, in its place.
        if isTooLong { return [Array("too long".utf8)] }
        return rest.allSatisfy { $0 == 0x20 || (0x09...0x0D).contains($0) } ? [] : [rest]
    }

    private mutating func append(_ piece: some Collection<UInt8>) {
        guard !isTooLong else { return }
        isTooLong = rest.count + piece.count > limit
        if isTooLong { rest = [] } else { rest += piece }
    }
}
