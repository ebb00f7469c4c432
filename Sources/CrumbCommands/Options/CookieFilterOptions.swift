import ArgumentParser
import Captures
import CookieModel
import Platform
import PublicSuffix
import SessionOperations
import SessionStore

/// The cookies that a command applies to: those that meet every condition; all cookies if there is no condition.
struct CookieFilterOptions: ParsableArguments {
    /// Whether a cookie ends with the session.
    enum Lifetime: EnumerableFlag {
        case session, persistent

        static func help(for value: Lifetime) -> ArgumentHelp? {
            switch value {
            case .session: "Only session cookies."
            case .persistent: "Only cookies with an expiry."
            }
        }
    }

    @OptionGroup var context: ContextOptions

    @Option(
        name: .customLong("site"),
        help: .value("domain", "Only cookies of this domain and its subdomains. Repeatable."))
    var sites: [String] = []

    @Option(name: .customLong("name"), help: .value("name", "Only cookies with this name. Repeatable."))
    var names: [String] = []

    @Flag(inversion: .prefixedNo, help: "Only cookies that are HttpOnly, or only those that are not.")
    var httpOnly: Bool?

    @Flag(exclusivity: .exclusive)
    var lifetime: Lifetime?

    /// The request to `url` that the cookies are for.
    ///
    /// - Parameters:
    ///   - format: a format for one URL requires one.
    ///   - isAboutCaptures: whether `--top-level` has a meaning without a request, too.
    func request(
        to url: String?, for format: ExportFormat, isAboutCaptures: Bool = false
    ) throws -> RequestContext? {
        if let url { return try context.context(for: try requestURL(url)) }
        let hasPage = context.topLevel != nil && !isAboutCaptures
        if hasPage || context.initiator != nil || context.navigation != nil || context.method != "GET" {
            throw ValidationError(
                "--method, --top-level, --initiator and --navigation describe a request: add its URL.")
        }
        guard format.scope == .anySite else {
            throw CommandFailure(
                .urlMissing, "'\(format.rawValue)' contains the cookies for one URL: add it with --url")
        }
        return nil
    }

    /// Picks the cookies by all conditions but the request.
    func selection() throws -> CookieSelection {
        CookieSelection(
            sites: try sites.map { site in
                guard let host = CookieFilter.domain(named: site) else {
                    throw CommandFailure(.urlInvalid, "\(site): this is not a host name")
                }
                return host
            },
            names: Set(names.map { Octets($0) }), isHTTPOnly: httpOnly, isPersistent: lifetime.map { $0 == .persistent }
        )
    }
}

/// Reads the name of a format to write.
func exportFormat(_ name: String) throws -> ExportFormat {
    guard let format = ExportFormat(name: name) else {
        throw unknownFormat(name, to: "write", ExportFormat.allCases.map(\.rawValue), exportFormatNames)
    }
    return format
}

/// The names of the formats to write.
let exportFormatNames = ExportFormat.allCases.map { formatName($0.rawValue) }.joined(separator: ", ")

/// Reads the name of a format to read.
func captureFormat(_ name: String) throws -> CaptureFormat {
    guard let format = CaptureFormat(rawValue: ExportFormat.aliases[name] ?? name) else {
        throw unknownFormat(name, to: "read", CaptureFormat.allCases.map(\.rawValue), captureFormatNames)
    }
    return format
}

/// The names of the formats to read.
let captureFormatNames = CaptureFormat.names { formatName($0.rawValue) }

/// The error for an unknown format. Asks whether a format with a similar name is meant, if one is near.
private func unknownFormat(_ name: String, to use: String, _ formats: [String], _ names: String) -> ValidationError {
    let word = name.lowercased()
    let nearest = (formats + ExportFormat.aliases.filter { formats.contains($0.value) }.keys.sorted())
        .map { (name: $0, distance: word.editDistance(to: $0)) }.min { $0.distance < $1.distance }
    let meant = nearest.flatMap { $0.distance <= max(1, word.utf8.count / 3) ? " Did you mean '\($0.name)'?" : nil }
    return ValidationError("No format '\(name)' to \(use).\(meant ?? "") Formats: \(names).")
}

/// The name of a format, with its other names in parentheses.
private func formatName(_ name: String) -> String {
    let aliases = ExportFormat.aliases.filter { $0.value == name }.keys.sorted()
    return aliases.isEmpty ? name : "\(name) (\(aliases.joined(separator: ", ")))"
}

/// Which public suffix list the rules go by.
struct SuffixListOptions: ParsableArguments {
    /// A list is about 300 kB; a larger file than this is not a list.
    private static let sizeLimit = 16 << 20

    @Option(help: .file("A newer public suffix list. Default: CRUMB_PUBLIC_SUFFIX_LIST, else the built-in list."))
    var publicSuffixList: String?

    /// The file that the list comes from; `nil` for the list that is built in.
    var file: String? {
        publicSuffixList ?? Locations().publicSuffixList
    }

    /// Whether the list can be read only once.
    var isReadOnce: Bool { file.map { $0 == "-" || FileSystem.isSpecial($0) } ?? false }

    /// The list in force. Reads the file again each time.
    func list() throws -> PublicSuffixList {
        guard let file else { return .bundled }
        let input = InputFile(file)
        let bytes = try input.contents(limit: SuffixListOptions.sizeLimit, otherwise: .publicSuffixListInvalid)
        do {
            return try PublicSuffixList(parsing: bytes)
        } catch {
            throw CommandFailure(.publicSuffixListInvalid, "\(input.name): \(error.description)")
        }
    }
}
