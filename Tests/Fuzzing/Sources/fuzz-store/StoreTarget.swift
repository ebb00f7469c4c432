/// libFuzzer calls this with every input.
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    _ = StoreRun(StoreScript(Array(UnsafeBufferPointer(start: start, count: count))))
    return 0
}
