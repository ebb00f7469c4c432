import WebPrimitives

/// Reads a capture that comes in pieces: recorded responses, or another program's cookies.
///
/// Push the bytes in as they come, in pieces of any length, and say when they end; the items do not depend on where the
/// pieces were cut. Memory is bounded, whatever the length of the capture.
///
///     var reader = CaptureReader(source: "capture.har")
///     while let piece = try nextPiece() {
///         reader.read(piece.span) { item in … }
///     }
///     reader.finish { item in … }
///
/// A capture that gzip compressed, and the captures in a ZIP archive, are unpacked.
///
/// A part that cannot be read is an item, too: ``CaptureItem/failure(_:)``. It is as small as possible: one line or one
/// entry if the rest can still be read.
public struct CaptureReader: Sendable {
    private enum Stage {
        /// Before the bytes that tell whether the capture is packed.
        case packing
        /// Before the first byte that counts.
        case preamble
        /// Holding back the first bytes until they tell the format.
        case detection
        case content
        /// Within a file of an archive that is not a capture.
        case passedOver
        /// At the end, or given up.
        case over
    }

    /// Long pieces are read in slices, which bounds the number of items that one call has found and not yet emitted.
    private static let sliceByteCount = 1 << 16

    /// The capture's format, given by the caller or detected from the first bytes; `nil` until it is detected.
    public private(set) var format: CaptureFormat?

    private let name: String
    private let givenFormat: CaptureFormat?
    private let url: String?
    private let container: Int
    /// The capture's name in places: that of a file in an archive includes the archive's.
    private var source: String
    private var stage = Stage.packing
    private var unpacker: Unpacker?
    /// The files of an archive that were read, and those that are not captures.
    private var (fileCount, otherFileCount) = (0, 0)
    private var preamble = Preamble()
    private var detector = FormatDetector()
    private var prefix: [UInt8] = []
    private var reader: (any FormatReader)?
    private var items: [CaptureItem] = []
    private var trail = PageTrail()

    /// Creates a reader at the beginning of a capture.
    ///
    /// - Parameters:
    ///   - source: the capture's name in places and messages, such as `capture.har` or `standard input`.
    ///   - url: the request's URL, for formats that do not contain it. Other formats ignore it.
    ///   - format: the capture's format; `nil` to detect it from its beginning.
    ///   - container: the container of Firefox whose cookies are read; 0 for cookies in no container. Other formats
    ///     ignore it.
    public init(source: String, url: String? = nil, format: CaptureFormat? = nil, container: Int = 0) {
        name = source
        self.source = source
        self.url = url
        self.format = format
        givenFormat = format
        self.container = container
    }

    /// Takes the next bytes and emits the items that they complete, in order.
    ///
    /// If `emit` throws, the error is rethrown and the reader ends: it emits nothing more.
    public mutating func read<Failure: Error>(
        _ piece: Span<UInt8>, _ emit: (CaptureItem) throws(Failure) -> Void
    ) throws(Failure) {
        var position = 0
        while position < piece.count, stage != .over {
            let end = min(position + CaptureReader.sliceByteCount, piece.count)
            if unpacker != nil {
                unpacker?.append(piece.extracting(position..<end))
                try unpack(emit)
            } else {
                take(piece.extracting(position..<end))
                try give(emit)
                try unpack(emit)
            }
            position = end
        }
    }

    /// Takes the end of the capture and emits the remaining items. A second call does nothing.
    public mutating func finish<Failure: Error>(_ emit: (CaptureItem) throws(Failure) -> Void) throws(Failure) {
        if stage == .packing {
            let first = prefix
            prefix = []
            stage = .preamble
            take(first.span)
        }
        unpacker?.finish()
        try unpack(emit)
        if let unpacker, unpacker.isArchive {
            if stage != .over, let failure = archiveFailure {
                items.append(.failure(failure, at: CapturePlace(source: name)))
            }
        } else {
            endFile()
        }
        stop()
        try give(emit)
    }

    /// Takes the end of the capture, or of a file in an archive.
    private mutating func endFile() {
        switch stage {
        case .preamble where preamble.held.isEmpty && unpacker?.isArchive == true: otherFileCount += 1
        case .preamble where preamble.held.isEmpty:
            items.append(.failure(.inputEmpty, at: CapturePlace(source: source)))
        case .preamble:
            begin()
            detect(isWhole: true)
        case .detection:
            detect(isWhole: true)
        case .packing, .content, .passedOver, .over:
            break
        }
        if stage == .content {
            fileCount += 1
            reader?.finish(into: &items)
        }
        reader = nil
    }

    /// How many bytes are held at the moment.
    var bufferedByteCount: Int {
        prefix.capacity + (unpacker?.bufferedByteCount ?? 0) + (reader?.bufferedByteCount ?? 0)
            + items.capacity * MemoryLayout<CaptureItem>.stride
    }

    // MARK: - Packed captures

    /// Emits the items of what can be unpacked now.
    private mutating func unpack<Failure: Error>(
        _ emit: (CaptureItem) throws(Failure) -> Void
    ) throws(Failure) {
        while stage != .over, let part = unpacker?.next() {
            switch part {
            case .file(let name): beginFile(named: name)
            case .octets(let octets): take(octets.span)
            case .endOfFile: endFile()
            case .failure(let failure):
                if stage == .detection || stage == .content { endFile() }
                items.append(.failure(.packed(failure), at: CapturePlace(source: source)))
                stop()
            }
            try give(emit)
        }
    }

    private mutating func beginFile(named name: String) {
        let isPrintable = { (scalar: Unicode.Scalar) in scalar.value >= 0x20 && !(0x7F...0x9F).contains(scalar.value) }
        source = "\(self.name)/" + String(String.UnicodeScalarView(name.unicodeScalars.filter(isPrintable).prefix(200)))
        format = givenFormat
        (preamble, detector, prefix, trail) = (Preamble(), FormatDetector(), [], PageTrail())
        stage = Unpacker.mayBeCapture(name) ? .preamble : .passedOver
    }

    /// The failure or notice at the end of an archive.
    private var archiveFailure: CaptureFailure? {
        if fileCount == 0 { return .noCaptures }
        return otherFileCount == 0 ? nil : .filesPassedOver(otherFileCount)
    }

    // MARK: - Formats

    private mutating func take(_ slice: Span<UInt8>) {
        var position = 0
        if stage == .packing {
            prefix.append(slice)
            guard let isPacked = Unpacker.recognizes(prefix.span) else { return }
            let first = prefix
            prefix = []
            stage = .preamble
            guard isPacked else { return take(first.span) }
            unpacker = Unpacker(isArchive: first[0] == UInt8(ascii: "P"))
            unpacker?.append(first.span)
            return
        }
        if stage == .preamble {
            guard let start = preamble.skip(slice) else { return }
            position = start
            begin()
        }
        if stage == .detection {
            let end = min(slice.count, position + CaptureLimits.prefixByteCount - prefix.count)
            let added = slice.extracting(position..<end)
            prefix.append(added)
            position = end
            // The first bytes tell most formats. Where they do not, the end of a line may; JSON may tell anywhere.
            let isFull = prefix.count == CaptureLimits.prefixByteCount
            let isStart = prefix.count - added.count < 16
            let isTelling =
                FormatDetector.isJSON(prefix.span) || added.firstIndex(of: ASCII.lineFeed, from: 0) != nil
            guard isFull || isStart || isTelling else { return }
            detect(isWhole: isFull)
        }
        if stage == .content { reader?.read(slice.extracting(position..<slice.count), into: &items) }
    }

    /// The preamble is over: the bytes that it held are the first that count.
    private mutating func begin() {
        if let format {
            open(format, with: preamble.held)
        } else {
            prefix = preamble.held
            stage = .detection
        }
    }

    private mutating func detect(isWhole: Bool) {
        guard stage == .detection else { return }
        let prefix = prefix
        guard let finding = detector.finding(in: prefix.span, isWhole: isWhole) else { return }
        switch finding {
        case .format(let found):
            format = found
            self.prefix = []
            open(found, with: prefix)
        case .unknown, .binary:
            if unpacker?.isArchive == true {
                otherFileCount += 1
            } else {
                items.append(.failure(unrecognized(finding), at: CapturePlace(source: source)))
            }
            passOver()
        case .packed(let finding):
            items.append(.failure(.inputPacked(finding), at: CapturePlace(source: source)))
            passOver()
        }
    }

    private func unrecognized(_ finding: FormatDetector.Finding) -> CaptureFailure {
        // Brotli has no signature.
        if source.hasSuffix(".br") { return .compressed(with: "Brotli", "brotli -dc") }
        // The names of the formats help only with a text.
        guard case .unknown(let description) = finding else {
            return .inputPacked("Format not recognized: the input is binary.")
        }
        return .inputUnrecognized(description)
    }

    private mutating func open(_ format: CaptureFormat, with first: [UInt8]) {
        stage = .content
        reader = format.reader(
            CaptureStart(
                source: source, url: url, container: container, line: preamble.line, column: preamble.column))
        reader?.read(first.span, into: &items)
    }

    /// Gives up the capture, or only this file of an archive.
    private mutating func passOver() {
        stop()
        if unpacker?.isArchive == true { stage = .passedOver }
    }

    private mutating func stop() {
        stage = .over
        reader = nil
        prefix = []
    }

    private mutating func give<Failure: Error>(
        _ emit: (CaptureItem) throws(Failure) -> Void
    ) throws(Failure) {
        guard !items.isEmpty else { return }
        defer { items.removeAll(keepingCapacity: true) }
        do throws(Failure) {
            let unstated = format?.unstated ?? []
            for item in items {
                guard case .response(var response) = item else {
                    try emit(item.leavingOpen(unstated))
                    continue
                }
                trail.follow(&response)
                try emit(.response(response))
            }
        } catch {
            stop()
            throw error
        }
    }
}

/// How much of a capture is held at a time. A reader's memory is bounded by these numbers, not by the capture.
package enum CaptureLimits {
    /// The longest line, field value or JSON string that is read, in bytes: 1 MiB. A longer one is left out and
    /// reported, and the rest of its entry still counts.
    package static let fieldByteCount = JSONLimits.stringByteCount

    /// The most that the Set-Cookie lines of one response may take, in bytes, each line counted with 64 more: 16 MiB.
    /// The lines beyond are left out and reported.
    package static let responseByteCount = JSONLimits.valueByteCount

    /// How deep the arrays and objects of a JSON document may be nested: 1,048,576 levels, each of which takes a byte.
    /// Readers enter a few levels themselves and skip those below.
    package static let nestingDepth = JSONLimits.nestingDepth

    /// The most that is unpacked of a compressed capture, in bytes: 1 GiB. The rest is not read, which is reported.
    package static let unpackedByteCount = 1 << 30

    /// How many bytes are looked at to recognise a format: 64 KiB.
    package static let prefixByteCount = 1 << 16
}

/// The reader of one format: takes bytes in pieces of any length and appends the items that they hold.
///
/// The items must not depend on where the pieces were cut.
protocol FormatReader: Sendable {
    /// Takes the next bytes and appends the items that they complete.
    mutating func read(_ bytes: Span<UInt8>, into items: inout [CaptureItem])

    /// Takes the end of the input.
    mutating func finish(into items: inout [CaptureItem])

    /// How many bytes of the input are held back, for the tests of bounded memory.
    var bufferedByteCount: Int { get }
}

/// The beginning of a capture, and what its caller knows of it.
struct CaptureStart: Sendable {
    /// The capture's name in places.
    let source: String
    /// The request's URL, for formats that do not contain it.
    var url: String?
    /// The container of Firefox that is read.
    var container = 0
    /// The position of the first byte that the reader will be given.
    var line = 1
    var column = 1
}
