import CookieModel
import Foundation
import RequestDecoration
import SessionStore
import TestSupport
import Testing
import URLSessionDecoration

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite("A session's own delegate")
struct RedirectDecorationDelegateTests {
    /// Runs one task and waits until the delegate has told its end.
    private func run(
        _ request: URLRequest, _ fixture: URLSessionFixture
    ) async throws -> Result<[ExchangeHop], any Error> {
        let (ends, continuation) = AsyncStream<Result<[ExchangeHop], any Error>>.makeStream()
        let delegate = RedirectDecorationDelegate(
            decorator: fixture.decorator(), now: { URLSessionFixture.now },
            completion: { _, result in
                continuation.yield(result)
                continuation.finish()
            })
        let session = URLSession(
            configuration: .ephemeral.withoutClientCookies, delegate: delegate, delegateQueue: nil)
        defer { session.finishTasksAndInvalidate() }
        try delegate.task(for: request) { session.dataTask(with: $0) }.resume()
        for await end in ends { return end }
        throw CancellationError()
    }

    @Test("Each answer is stored before the next request is decorated")
    func chain() async throws {
        let chain = try CrossSiteChain()
        let fixture = try URLSessionFixture()
        var request = try URLSessionFixture.request(chain.url("a", "/1"))
        request.setValue("Bearer own", forHTTPHeaderField: "Authorization")
        request.setValue("mine=1", forHTTPHeaderField: "Cookie")
        let hops = try await run(request, fixture).get()
        #expect(hops.map(\.status) == [307, 307, 302, 303, 200])
        #expect(
            chain.asked.map { $0.request.text("cookie") } == [["mine=1"], ["mine=1; a=1"], [], [], ["a=2"]])
        #expect(chain.asked.map { $0.request.text("authorization") } == [["Bearer own"], ["Bearer own"], [], [], []])
        #expect(Set(try fixture.jar.cookies().readable.map(\.pair)) == ["a=2", "deep=1", "b=1", "c=1", "end=1"])
    }

    @Test("A body that the platform would lose at a redirect ends there")
    func body() async throws {
        let chain = try CrossSiteChain()
        let fixture = try URLSessionFixture()
        let end = try await run(try URLSessionFixture.post(chain.url("a", "/1")), fixture)
        #if canImport(FoundationNetworking)
            let error = #expect(throws: RedirectError.self) { try end.get() }
            #expect(error?.code == .bodyNotRepeatable && chain.asked.count == 1)
        #else
            #expect(try end.get().count == 5)
        #endif
        #expect(try fixture.jar.cookies().readable.map(\.pair).contains("a=1"))
    }

    @Test("Loops end with an error, redirects to an app with the answer, stored once")
    func ends() async throws {
        let chain = try CrossSiteChain()
        let fixture = try URLSessionFixture()
        let loop = try await run(try URLSessionFixture.request(chain.url("a", "/loop")), fixture)
        let error = #expect(throws: RedirectError.self) { try loop.get() }
        #expect(error?.code == .loop)
        let app = try await run(try URLSessionFixture.request(chain.url("b", "/app")), fixture).get()
        #expect(app.map(\.status) == [302] && app[0].receipt.decisions.map(\.outcome) == [.stored])
    }

    @Test("A task with a completion handler is finished by it, once")
    func completionHandler() async throws {
        let chain = try CrossSiteChain()
        let fixture = try URLSessionFixture()
        let delegate = RedirectDecorationDelegate(decorator: fixture.decorator(), now: { URLSessionFixture.now })
        let session = URLSession(
            configuration: .ephemeral.withoutClientCookies, delegate: delegate, delegateQueue: nil)
        defer { session.finishTasksAndInvalidate() }
        let request = try URLSessionFixture.request(chain.url("c", "/4"))
        let (ends, continuation) = AsyncStream<Void>.makeStream()
        let task = try delegate.task(for: request) { decorated in
            session.dataTask(with: decorated) { _, _, _ in continuation.finish() }
        }
        task.resume()
        for await _ in ends {}
        #expect(try delegate.finish(task)?.map(\.status) == [303, 200])
        #expect(try delegate.finish(task) == nil)
        #expect(Set(try fixture.jar.cookies().readable.map(\.pair)) == ["c=1", "end=1"])
    }
}
