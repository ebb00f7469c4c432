package import PublicSuffix

/// The Swift file that carries a list in the library.
package struct GeneratedSource {
    /// The text of the file. The same list makes the same text.
    package let text: String

    /// Writes the file for a list.
    ///
    /// - Parameters:
    ///   - list: The list.
    ///   - version: The version to name instead of the list's own.
    package init(list: PublicSuffixList, version: String? = nil) {
        let name = version ?? list.version
        text = """
            // swift-format-ignore-file
            // Made from the Public Suffix List (https://publicsuffix.org/list/), version: \(Self.escaped(name))
            // This Source Code Form is subject to the terms of the Mozilla Public License, v. 2.0. If a copy of the MPL was
            // not distributed with this file, You can obtain one at https://mozilla.org/MPL/2.0/.
            // Do not edit: Scripts/update-public-suffixes makes this file.

            /// The list that is compiled into the library, as ``SuffixTable`` lays it out.
            enum BundledSuffixTable {
                static let version = "\(Self.escaped(name))"
                static let ruleCount = \(list.ruleCount)

                static let slots: StaticString = \(Self.literal(list.table.slots))

                static let labels: StaticString = \(Self.literal(list.table.labels))
            }

            """
    }

    private static let octetsPerLine = 112

    /// A string literal that means the same octets on any number of lines: a raw one, so that only `\#` escapes.
    private static func literal(_ octets: [UInt8]) -> String {
        let lines = stride(from: 0, to: octets.count, by: octetsPerLine).map { start in
            String(decoding: octets[start...].prefix(octetsPerLine), as: UTF8.self)
        }
        return "#\"\"\"\n    " + lines.joined(separator: "\\#\n    ") + "\n    \"\"\"#"
    }

    private static func escaped(_ text: String) -> String {
        text.unicodeScalars.map { scalar in scalar.escaped(asASCII: true) }.joined()
    }
}
