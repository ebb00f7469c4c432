/// What must hold whatever the input is.
public enum Invariant {
    /// Traps where `condition` is false: libFuzzer keeps the input that did it.
    ///
    /// A `precondition` would say nothing in an optimized build; this prints what was broken above the trace.
    @inline(__always)
    public static func holds(_ condition: Bool, _ broken: @autoclosure () -> String) {
        if !condition { fatalError("invariant: \(broken())") }
    }
}
