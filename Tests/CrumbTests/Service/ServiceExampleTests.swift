import Foundation
import TestSupport
import Testing

@Suite("The examples of clients of the service")
struct ServiceExampleTests {
    private static let answer = #"{"excluded":[],"fields":[{"name":"cookie","value":"sid=1"}],"included":["sid"]}"#
    private static let folder = Repository.root.appending(path: "docs/examples/service").path

    @Test("Each gets the same answer, the second time too", arguments: ["curl.sh", "client.py", "Client.swift"])
    func answers(example: String) throws {
        let service = try RunningService(.network)
        let program =
            switch example {
            case "curl.sh": ["/bin/sh", "-eu", "\(Self.folder)/curl.sh"]
            case "client.py": ["python3", "\(Self.folder)/client.py"]
            default: [RunningProcess.built("service-client")]
            }
        var environment = service.home.environment
        environment["CRUMB_SERVICE"] = service.address
        environment["CRUMB_SERVICE_TOKEN_FILE"] = service.tokenFile
        for _ in 0..<2 {
            let result = try RunningProcess(
                program[0], program.dropFirst() + ["demo"], environment: environment, scratch: service.home.path
            ).wait()
            #expect(result.status == 0 && result.text == Self.answer, "\(result.text)\(result.messages)")
        }
    }

    @Test("The guide shows them unchanged", arguments: ["curl.sh", "client.py", "Client.swift"])
    func guide(example: String) throws {
        let guide = try String(contentsOf: Repository.root.appending(path: "docs/service-clients.md"), encoding: .utf8)
        let source = try String(contentsOfFile: "\(Self.folder)/\(example)", encoding: .utf8)
        #expect(guide.contains("\n\(source)```"))
    }
}
