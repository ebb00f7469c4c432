import CookieModel
import Foundation
import RequestDecoration
import SessionStore
import Testing
import WebViewDecoration

@Suite("The main actor of a web view") @MainActor
struct WebViewThreadsTests {
    private let stub = WebViewStub()

    @Test("While another process holds the lock of the jar's file, the main actor goes on")
    func isNotBlocked() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "crumb-web-view-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = folder.appending(path: "crumb.sqlite").path
        let key = SealingKey()
        let clock = StoreClock.fixed(WebViewStub.now)
        let jar = try await SessionDatabase.open(path: path, keys: .key(key), busyTimeout: 3600, clock: clock).jar()
        let context = RequestContext(url: try RequestURL("https://www.example.com/"))
        try await jar.receive(ReceivedResponse(context: context, setCookie: ["sid=1; HttpOnly"]))
        let other = try await SessionDatabase.open(path: path, keys: .key(key), clock: clock).jar()
        let mayEnd = DispatchSemaphore(value: 0)
        await withCheckedContinuation { isHeld in
            Thread {
                _ = try? other.withBatch { batch throws(SessionStoreError) in
                    try batch.receive(
                        CookieRecord(name: "held", value: "1", domain: "other.example", isHostOnly: true, path: "/"))
                    isHeld.resume()
                    mayEnd.wait()
                }
            }.start()
        }
        let session = WebViewSession(jar: jar, store: stub, scripts: stub, host: stub)
        stub.set("page", "1")
        var isDone = false
        let synchronization = Task {
            defer { isDone = true }
            return try await session.synchronize()
        }
        await Task {}.value
        // What needs no write is possible meanwhile.
        #expect(try await jar.retrieve(for: context).cookieString == "sid=1")
        #expect(await session.decide(.action(NavigationAction(url: "tel:112"))).steps.count == 2)
        #expect(!isDone)
        mayEnd.signal()
        #expect(try await synchronization.value.count == 2)
        #expect(stub.values == ["sid": "1", "page": "1"])
        #expect(try await jar.cookieString(for: context) == "sid=1; page=1")
        #expect(stub.events.filter { $0.hasPrefix("error") }.isEmpty)
    }

    @Test("Its time is that of the jar's database")
    func time() async throws {
        let time = ManualTime(WebViewStub.now)
        let jar = try await SessionDatabase.inMemory(clock: .manual(time)).jar()
        let context = RequestContext(url: try RequestURL("https://www.example.com/"))
        try await jar.receive(ReceivedResponse(context: context, setCookie: ["a=1; Max-Age=60", "b=1"]))
        let session = WebViewSession(jar: jar, store: stub, scripts: stub, host: stub)
        time.advance(bySeconds: 61)
        try await session.synchronize()
        #expect(stub.values == ["b": "1"])
    }
}
