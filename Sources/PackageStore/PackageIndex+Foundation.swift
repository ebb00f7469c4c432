#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension PackageIndex {
    /// Only the version of the format, whatever else an index of another version has.
    private struct Format: Decodable {
        let format: Int
    }

    /// The version of the format of an index; `nil` if it is damaged.
    static func format(ofJSON octets: some Sequence<UInt8>) -> Int? {
        try? JSONDecoder().decode(Format.self, from: Data(octets)).format
    }

    /// Reads an index; `nil` if it is damaged, or of another version of the format.
    init?(json octets: some Sequence<UInt8>) {
        guard PackageIndex.format(ofJSON: octets) == PackageIndex.currentFormat,
            let index = try? JSONDecoder().decode(PackageIndex.self, from: Data(octets))
        else { return nil }
        self = index
    }

    /// The JSON of the index.
    func json() throws -> [UInt8] { Array(try JSONEncoder().encode(self)) }
}

extension PackageBundle.Place {
    /// Reads places; `nil` if they are damaged.
    static func list(json octets: [UInt8]) -> [PackageBundle.Place]? {
        try? JSONDecoder().decode([PackageBundle.Place].self, from: Data(octets))
    }

    /// The JSON of places.
    static func json(_ places: [PackageBundle.Place]) throws -> [UInt8] { [UInt8](try JSONEncoder().encode(places)) }
}
