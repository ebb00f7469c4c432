import WebPrimitives

/// How much of a capture is held at a time. A reader's memory is bounded by these numbers, not by the capture.
public enum CaptureLimits {
    /// The longest line, field value or JSON string that is read, in bytes: 1 MiB. A longer one is left out and
    /// reported, and the rest of its entry still counts.
    public static let fieldByteCount = JSONLimits.stringByteCount

    /// The most that the Set-Cookie lines of one response may take, in bytes, each line counted with 64 more: 16 MiB.
    /// The lines beyond are left out and reported.
    public static let responseByteCount = JSONLimits.valueByteCount

    /// How deep the arrays and objects of a JSON document may be nested: 1,048,576 levels, each of which takes a byte.
    /// Readers go a few levels deep themselves; what is below is skipped.
    public static let nestingDepth = JSONLimits.nestingDepth

    /// How many bytes are looked at to recognise a format: 64 KiB.
    public static let prefixByteCount = 1 << 16
}
