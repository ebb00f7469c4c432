import Platform
import RequestDecoration
import SessionOperations

/// One hop's run of curl: its argument list, its pipes, and the output held back until the hop's place in the chain is
/// known.
final class CurlHopRun {
    private let plan: CurlPlan
    private let hop: RedirectChain
    private let jar: any CurlJar
    private let decoration: CurlDecoration
    private let console: Console
    /// Why the request is made once more, if it is: the output of this run is then left out.
    private(set) var repetition: Repetition?
    /// The header blocks and the beginning of the body of a response after which the request is made once more.
    private var leftOut: (headers: [UInt8], body: [UInt8]) = ([], [])
    /// The size in bytes up to which the output of a response is kept that is left out.
    private static let leftOutLimit = 1 << 20
    /// The header blocks for the user's file, held back until the status of the response is known.
    private var undecidedHeaders: [UInt8] = []
    /// The beginning of standard output, held back until the status of the response is known.
    private var undecided: [UInt8]? = []
    private var headers = HeaderDumpReader()
    private var lastBlock: ResponseHead?
    private var filter = CurlStderrFilter()
    private var writeOut = WriteOut()

    /// Why a request is made once more.
    enum Repetition {
        /// The response says "not signed in".
        case notSignedIn(sign: String)
        /// The server wants its nonce in the proof.
        case nonceWanted
    }

    init(_ plan: CurlPlan, _ hop: RedirectChain, _ jar: any CurlJar, _ decoration: CurlDecoration, _ console: Console) {
        self.plan = plan
        self.hop = hop
        self.jar = jar
        self.decoration = decoration
        self.console = console
    }

    /// Whether standard output goes through here: to hold `--write-out` back, or to keep it after the headers.
    private var capturesOutput: Bool {
        decoration.mayBeRepeated
            || plan.writeOut != nil && (plan.follows || plan.headerDump == .standardOutput)
    }

    /// Runs curl; its exit status.
    ///
    /// - Parameters:
    ///   - headerFile: where the user wants the header blocks.
    ///   - receive: takes each header block as soon as it is complete.
    func curl(
        _ program: String, standardInput: Int32?, headerFile: Int32?, receive: @escaping (ResponseHead) throws -> Void
    ) throws -> Int32 {
        var process = ChildProcess(program: program, failure: .curlNotFound)
        let dump = try process.addOutput { [self] bytes in
            // Line by line: curl's own retries give several answers, and each is decided on by itself, as a whole.
            for line in bytes.split(after: UInt8(ascii: "\n")) {
                undecidedHeaders += line
                for block in headers.read(Array(line)) {
                    lastBlock = block
                    // Informational answers and those of proxies come before the one that counts.
                    if decoration.mayBeRepeated, block.status >= 200, !block.isFromProxy {
                        repetition = try jar.repetition(after: block, to: hop)
                    }
                    try receive(block)
                    try writeHeaders(to: headerFile)
                }
            }
            if !decoration.mayBeRepeated { try writeHeaders(to: headerFile) }
        }
        if let standardInput { process.setStandardInput(standardInput) }
        if capturesOutput {
            try process.capture(STDOUT_FILENO) { [self] in try console.write(writeOut.take(decided($0))) }
        }
        if plan.follows || decoration.mayBeRepeated {
            try process.capture(STDERR_FILENO) { [self] in try Console.write(filter.take($0), to: STDERR_FILENO) }
        }
        let status = try process.run(try words(&process, dump: dump))
        try writeHeaders(to: headerFile, isOver: true)
        return status
    }

    /// Writes the header blocks so far, unless they may be of a response that makes the request repeat.
    private func writeHeaders(to file: Int32?, isOver: Bool = false) throws {
        let isFinal = lastBlock.map { $0.status >= 200 && !$0.isFromProxy } ?? false
        let isDecided = !decoration.mayBeRepeated || isOver || isFinal
        guard isDecided else { return }
        if repetition != nil {
            leftOut.headers += undecidedHeaders
        } else if let file {
            try Console.write(undecidedHeaders, to: file)
        }
        undecidedHeaders = []
    }

    /// The argument list. Options that came from files, the cookies and the jar's fields are in pipes instead.
    private func words(_ process: inout ChildProcess, dump: String) throws -> [[UInt8]] {
        // The options of the user's .curlrc are already included.
        var words = [Array("-q".utf8)]
        var rest = plan.options(for: hop)[...]
        while let option = rest.first {
            if option.isPrivate {
                let run = rest.prefix(while: \.isPrivate)
                rest = rest.dropFirst(run.count)
                words += CurlHopRun.words("--config", try process.addInput(run.flatMap(\.configurationLine)))
            } else {
                rest = rest.dropFirst()
                words += option.words
            }
        }
        if let format = plan.writeOut {
            let marked = capturesOutput ? writeOut.format(format, redirectCount: hop.number - 1) : format
            words += CurlOption(name: "write-out", value: marked).words
        }
        // curl itself leaves the meter out if the terminal shows the body.
        if capturesOutput, console.outputIsTerminal, !CurlPlan.savesBody(plan.options) {
            words.append(Array("--no-progress-meter".utf8))
        }
        words += CurlHopRun.words("--dump-header", dump)
        if !decoration.configuration.isEmpty {
            words += CurlHopRun.words("--config", try process.addInput(decoration.configuration))
        }
        return words
    }

    /// Returns the bytes of standard output that can be passed on by now: none until the status of the response is
    /// known, and none of a response after which the request is repeated.
    private func decided(_ bytes: [UInt8]) -> [UInt8] {
        guard decoration.mayBeRepeated else { return bytes }
        guard let status = lastBlock?.status, status >= 200 else {
            undecided = (undecided ?? []) + bytes
            return []
        }
        let beginning = undecided ?? []
        undecided = nil
        guard repetition != nil else { return beginning + bytes }
        leftOut.body += writeOut.take(beginning + bytes).prefix(CurlHopRun.leftOutLimit - leftOut.body.count)
        return []
    }

    private static func words(_ option: String, _ value: String) -> [[UInt8]] {
        [Array(option.utf8), Array(value.utf8)]
    }

    /// The response to follow, if curl stopped because it may not follow it.
    func redirect(endedWith status: Int32) -> ResponseHead? {
        // 47: too many redirects. 1, 3: a protocol or URL that it may not follow, if challenges may be answered.
        let stops: Set<Int32> = plan.answersChallenges ? [1, 3, 47] : [47]
        guard plan.follows, stops.contains(status), let lastBlock, (300...399).contains(lastBlock.status) else {
            return nil
        }
        return lastBlock.location == nil ? nil : lastBlock
    }

    /// Prints the output that was left out: the request cannot be made once more.
    func finishUnrepeated(headerFile: Int32?) throws {
        repetition = nil
        if let headerFile { try Console.write(leftOut.headers, to: headerFile) }
        try console.write(leftOut.body)
        try finish(isTooMany: false, limit: plan.redirectLimit)
    }

    /// Prints the output that was held back: this hop was the last one.
    ///
    /// - Parameter isTooMany: whether it is the last because the limit of redirects is reached.
    func finish(isTooMany: Bool, limit: Int) throws {
        var lastError = filter.finish()
        if isTooMany, !lastError.isEmpty {
            lastError = Array("curl: (47) Maximum (\(limit)) redirects followed\n".utf8)
        }
        try Console.write(lastError, to: STDERR_FILENO)
        guard capturesOutput else { return }
        if repetition == nil, let undecided { try console.write(writeOut.take(undecided)) }
        let (body, pieces) = writeOut.finish()
        try console.write(body)
        for (toError, text) in pieces { try Console.write(text, to: toError ? STDERR_FILENO : STDOUT_FILENO) }
    }
}

extension [UInt8] {
    /// The parts that end with an octet, and the rest.
    fileprivate func split(after end: UInt8) -> [ArraySlice<UInt8>] {
        var parts: [ArraySlice<UInt8>] = []
        var rest = self[...]
        while let index = rest.firstIndex(of: end) {
            parts.append(rest[...index])
            rest = rest[(index + 1)...]
        }
        return rest.isEmpty ? parts : parts + [rest]
    }
}
