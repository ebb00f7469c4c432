import ArgumentParser
import PublicSuffix
import SessionOperations

/// Which public suffix list the rules go by.
struct SuffixListOptions: ParsableArguments {
    /// A list is 300 kB; whatever is larger than this is none.
    private static let sizeLimit = 16 << 20

    @Option(
        help: ArgumentHelp(
            "A newer public suffix list. Default: CRUMB_PUBLIC_SUFFIX_LIST, else the built-in list.",
            valueName: "file"))
    var publicSuffixList: String?

    /// The file that the list comes from; `nil` for the list that is built in.
    var file: String? {
        publicSuffixList ?? Locations().publicSuffixList
    }

    /// The list in force. Reads the file anew each time.
    func list() throws -> PublicSuffixList {
        guard let file else { return .bundled }
        let input = InputFile(file)
        let bytes = try input.contents(limit: SuffixListOptions.sizeLimit, otherwise: .publicSuffixListInvalid)
        do {
            return try PublicSuffixList(parsing: bytes)
        } catch {
            throw Problem(.publicSuffixListInvalid, "\(input.name): \(error.description)")
        }
    }
}
