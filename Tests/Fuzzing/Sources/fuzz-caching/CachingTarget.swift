import FuzzSupport

@testable import WebPrimitives

/// Any bytes as the value of each field that a cache reads, and as a script of requests and responses.
enum CachingTarget {
    static func check(_ input: [UInt8]) {
        let text = Octets(input).trimmingBlanks
        ListCheck.check(text)
        DirectiveCheck.check(text)
        ValidatorCheck.check(text)
        _ = CacheRun(CacheScript(input))
    }
}

/// libFuzzer calls this with every input.
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    CachingTarget.check(Array(UnsafeBufferPointer(start: start, count: count)))
    return 0
}
