/// Passes on what curl says on standard error, but for the last complaint, which waits: that it may not follow a
/// redirect is news to nobody here.
struct CurlTalk {
    private static let complaint = Array("curl: (".utf8)
    /// What curl says with --verbose, where a redirect is not the end.
    private static let remark = Array("* Maximum (0) redirects followed".utf8)

    /// The line so far, where it may be one of those; `nil` where it is another one.
    private var line: [UInt8]? = []
    private var heldBack: [UInt8] = []

    /// Takes bytes; gives back those to print now.
    mutating func take(_ bytes: [UInt8]) -> [UInt8] {
        var output: [UInt8] = []
        for byte in bytes {
            // Something comes after it: it was not the last word.
            output += heldBack
            heldBack = []
            let endsLine = byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r")
            guard var candidate = line else {
                output.append(byte)
                if endsLine { line = [] }
                continue
            }
            candidate.append(byte)
            if endsLine {
                line = []
                if candidate.starts(with: CurlTalk.complaint) {
                    heldBack = candidate
                } else if !candidate.starts(with: CurlTalk.remark) {
                    output += candidate
                }
            } else if CurlTalk.isBeginning(candidate) {
                line = candidate
            } else {
                output += candidate
                line = nil
            }
        }
        return output
    }

    private static func isBeginning(_ line: [UInt8]) -> Bool {
        complaint.starts(with: line) || remark.starts(with: line) || line.starts(with: complaint)
    }

    /// The end: what was held back, which is the last complaint, if there is one.
    consuming func finish() -> [UInt8] {
        heldBack + (line ?? [])
    }
}
