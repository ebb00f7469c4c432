/// The reader of one format: takes bytes in pieces of any length and says what they hold.
///
/// What it appends must not depend on where the pieces were cut.
protocol FormatReader: Sendable {
    /// Takes the next bytes and appends what is complete with them.
    mutating func read(_ bytes: Span<UInt8>, into items: inout [CaptureItem])

    /// Takes the end of the input.
    mutating func finish(into items: inout [CaptureItem])

    /// How many bytes of the input are held back, for the tests of bounded memory.
    var bufferedByteCount: Int { get }
}
