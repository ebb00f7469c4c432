import Platform

/// Writes a line past every buffer: it is there even if the process is killed right afterwards, and whole, since one
/// call writes it.
func acknowledge(_ line: String) {
    let bytes = Array("\(line)\n".utf8)
    guard write(STDOUT_FILENO, bytes, bytes.count) == bytes.count else { leave("an acknowledgement cannot be written") }
}

/// Ends the process with a failure.
func leave(_ message: String) -> Never {
    let bytes = Array("jar-worker: \(message)\n".utf8)
    _ = write(STDERR_FILENO, bytes, bytes.count)
    exit(1)
}
