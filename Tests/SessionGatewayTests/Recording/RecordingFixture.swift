import Foundation
import Testing

@testable import SessionGateway

/// A folder for recordings, removed with the test.
final class RecordingFolder: Sendable {
    private let folder = FileManager.default.temporaryDirectory.appending(path: "recording-\(UUID().uuidString)").path

    init() {
        try? FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(atPath: folder)
    }

    func path(_ name: String) -> String { "\(folder)/\(name)" }

    func recording(_ name: String, withSecrets hasSecrets: Bool) throws -> TrafficRecording {
        try TrafficRecording(path: path(name), withSecrets: hasSecrets) { Issue.record("\($0)") }
    }

    /// A replay of a HAR with these entries.
    func replay(_ entries: String..., creator: String = "test") throws -> TrafficReplay {
        let text =
            #"{"log":{"version":"1.2","creator":{"name":"\#(creator)","version":"1"},"entries":[\#(entries.joined(separator: ","))]}}"#
        let path = path("\(UUID().uuidString).har")
        try Data(text.utf8).write(to: URL(filePath: path))
        return try TrafficReplay(path: path)
    }
}

/// The entries of a HAR as another reader has them.
struct HARFile {
    struct Entry {
        let request: [String: Any]
        let response: [String: Any]

        var content: [String: Any] { response["content"] as? [String: Any] ?? [:] }

        func requestText(_ name: String) -> String? { request[name] as? String }

        func fields(of message: String, _ name: String) -> [String] {
            let headers = (message == "request" ? request : response)["headers"] as? [[String: String]] ?? []
            return headers.filter { $0["name"]?.lowercased() == name }.compactMap { $0["value"] }
        }
    }

    let entries: [Entry]

    init(_ path: String) throws {
        // Foundation refuses a surrogate without its pair.
        let text = try String(contentsOfFile: path, encoding: .utf8).replacing("\\uDC", with: "\\u00")
        let document = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: [String: Any]]
        entries = (document?["log"]?["entries"] as? [[String: Any]] ?? []).map { entry in
            Entry(
                request: entry["request"] as? [String: Any] ?? [:],
                response: entry["response"] as? [String: Any] ?? [:])
        }
    }
}

extension GatewayFixture {
    /// Runs `body` while a gateway for programs records.
    func run(
        recording: TrafficRecording? = nil, replay: TrafficReplay? = nil, offline isOffline: Bool = false,
        _ body: @escaping @Sendable (GatewayAddress) async throws -> Void
    ) async throws {
        var settings = GatewaySetup.forTools
        settings.recording = recording
        settings.replay = replay
        settings.isOffline = isOffline
        try await run(settings, body)
    }
}
