import Foundation
import Hummingbird
import Logging

/// A web service that reads a request and answers the same bytes each time: what any answer costs at least.
///
/// Usage: bare-service PORT FILE
@main
struct BareService {
    static func main() async throws {
        let arguments = CommandLine.arguments
        guard arguments.count == 3, let port = Int(arguments[1]),
            let answer = FileManager.default.contents(atPath: arguments[2])
        else {
            FileHandle.standardError.write(Data("usage: bare-service PORT FILE\n".utf8))
            exit(64)
        }
        let body = ByteBuffer(bytes: answer)
        let router = Router()
        router.post("v1/jars/{jar}/decorate") { request, _ in
            _ = try await request.body.collect(upTo: 1 << 20)
            return Response(
                status: .ok, headers: [.contentType: "application/json"], body: ResponseBody(byteBuffer: body))
        }
        try await Application(
            router: router, configuration: .init(address: .hostname("127.0.0.1", port: port)),
            logger: Logger(label: "bare") { _ in SwiftLogNoOpLogHandler() }
        ).runService()
    }
}
