import Testing

@testable import Captures

@Suite("Bounded memory")
struct BoundedMemoryTests {
    /// Pushes pieces in and says what came out and how many bytes were held at most.
    struct Run {
        var reader: CaptureReader
        var peak = 0
        var responses = 0
        var lines = 0
        var failures: [CaptureError] = []

        mutating func push(_ text: String) { push(Array(text.utf8)) }

        mutating func push(_ bytes: [UInt8]) {
            reader.read(bytes.span) { item in
                switch item {
                case .response(let response):
                    responses += 1
                    lines += response.setCookie.count
                case .failure(let error): failures.append(error)
                case .cookie, .storage: break
                }
            }
            peak = max(peak, reader.bufferedByteCount)
        }

        mutating func finish() {
            reader.finish { item in
                if case .failure(let error) = item { failures.append(error) }
            }
        }
    }

    @Test("A HAR of 50 MB needs less than 200 KB, bodies and all")
    func bigHAR() {
        var run = Run(reader: CaptureReader(source: "x"))
        let body = Array(String(repeating: #"<p class=\"x\">hello, world\n"#, count: 20_000).utf8)
        let count = 50_000_000 / body.count + 1
        run.push(#"{"log":{"entries":["#)
        for index in 0..<count {
            run.push((index == 0 ? "" : ",") + #"{"request":{"url":"https://a.test/"},"response":{"content":{"text":""#)
            run.push(body)
            run.push(#""},"headers":[{"name":"Set-Cookie","value":"a=1"}]}}"#)
        }
        run.push("]}}")
        run.finish()
        #expect(run.responses == count && run.lines == count && run.failures.isEmpty)
        #expect(run.peak < 200_000)
    }

    @Test("A field of 10 MB is left out and reported, and its entry counts")
    func longField() {
        let long = String(repeating: "x", count: 10_000_000)
        for header in [
            #"{"name":"Set-Cookie","value":"\#(long)"}"#, #"{"value":"\#(long)","name":"set-cookie"}"#,
        ] {
            var run = Run(reader: CaptureReader(source: "x"))
            run.push(
                HARText.document(
                    HARText.entry(response: #"{"headers":[\#(header),{"name":"Set-Cookie","value":"a=1"}]}"#)))
            run.finish()
            #expect(run.failures.map(\.code) == [.lineTooLong])
            #expect(run.responses == 1 && run.lines == 1)
            #expect(run.peak < 4_000_000)
        }
        var run = Run(reader: CaptureReader(source: "x"))
        run.push(
            HARText.document(
                HARText.entry(url: long), HARText.entry(setCookie: #""a=1""#),
                HARText.entry(
                    response: #"{"headers":[{"name":"\#(long)","value":"x"},{"name":"X","value":"\#(long)"}]}"#),
                #"{"_\#(long)":"\#(long)","request":{"method":"\#(long)","url":"https://a.test/"}}"#))
        run.finish()
        #expect(run.failures.map(\.code) == [.lineTooLong])
        #expect(run.failures.map(\.place.entry) == [1])
        #expect(run.responses == 3 && run.lines == 1)
    }

    @Test("A HAR field of exactly the limit is read")
    func limit() {
        let value = String(repeating: "x", count: CaptureLimits.fieldByteCount)
        let capture = Capture(
            HARText.document(HARText.entry(setCookie: #""\#(value)""#), HARText.entry(setCookie: #""\#(value)x""#)))
        #expect(capture.responses.map(\.setCookie.count) == [1, 0])
        #expect(capture.failures.map(\.code) == [.lineTooLong])
    }

    @Test("One response does not hold more Set-Cookie lines than the limit")
    func manyLines() {
        let value = String(repeating: "x", count: 1_000_000)
        var run = Run(reader: CaptureReader(source: "x", url: "https://a.test/"))
        run.push("HTTP/1.1 200 OK\r\n")
        for _ in 0..<20 { run.push("Set-Cookie: \(value)\r\n") }
        run.push("\r\n")
        run.finish()
        #expect(run.failures.map(\.code) == [.responseTooLarge])
        #expect(run.lines == 16)
        #expect(run.peak < 40_000_000)

        let joined = String(repeating: #"a\n"#, count: 300_000)
        let capture = Capture(HARText.document(HARText.entry(setCookie: #""\#(joined)""#)))
        #expect(capture.failures.map(\.code) == [.responseTooLarge])
        #expect((200_000..<300_000).contains(capture.responses.first?.setCookie.count ?? 0))
    }

    @Test("Bodies and long lines of dumps and cookie files are not held in memory")
    func dumps() {
        let noise = [UInt8](repeating: 0x78, count: 1 << 20)
        for (start, format) in [
            ("HTTP/1.1 200 OK\r\n\r\n", CaptureFormat.http),
            ("HTTP/1.1 200 OK\r\nContent-Length: 999999999\r\n\r\n", .http),
            ("HTTP/1.1 200 OK\r\nX: ", .http), ("a.test\tFALSE\t/\tFALSE\t0\tn\t", .netscape),
        ] {
            var run = Run(reader: CaptureReader(source: "x", url: "https://a.test/", format: format))
            run.push(start)
            for _ in 0..<20 { run.push(noise) }
            run.finish()
            #expect(run.peak < 4_000_000)
        }
    }
}
