extension InternationalDomain {
    /// Appends what UTS 46 maps `scalar` to (section 5); false where it is disallowed and the mapping would hide that.
    ///
    /// The mapping is that of NFKC_Casefold, from which UTS 46 derives its table (section 6), but for what is named
    /// here. All other disallowed characters map to themselves, for the check of validity to find.
    static func appendMapping(of scalar: Unicode.Scalar, to output: inout String.UnicodeScalarView) -> Bool {
        switch scalar.value {
        case 0x00...0x7F:
            output.append(Unicode.Scalar(ASCII.lowercased(UInt8(truncatingIfNeeded: scalar.value))))
        case 0x3002, 0xFF0E, 0xFF61:
            // The full stops that part labels.
            output.append(".")
        case 0x00DF, 0x03C2, 0x200C, 0x200D:
            // The four deviations, which stay without the transitional mappings: sharp s, final sigma, the joiners.
            output.append(scalar)
        case 0x1E9E:
            output.append("\u{DF}")
        case 0xA7F1:
            // The one compatibility character of Unicode 17, which Foundation's tables lack.
            output.append("s")
        case 0xE0000...0xE007F:
            // Tags would be ignored by NFKC_Casefold.
            return false
        default:
            return appendDerivedMapping(of: scalar, to: &output)
        }
        return true
    }

    private static func appendDerivedMapping(
        of scalar: Unicode.Scalar, to output: inout String.UnicodeScalarView
    ) -> Bool {
        let properties = scalar.properties
        if properties.isDefaultIgnorableCodePoint {
            // Marks of direction would be ignored too.
            return !properties.isBidiControl && properties.generalCategory != .unassigned
        }
        guard properties.changesWhenNFKCCaseFolded else {
            output.append(scalar)
            return true
        }
        guard let decomposed = normalized(String(scalar).unicodeScalars, .d),
            let once = normalized(caseFolded(decomposed), .kc), let folded = normalized(caseFolded(once), .kc)
        else { return false }
        for mapped in folded where !mapped.properties.isDefaultIgnorableCodePoint {
            // One character that stands for others with a dot among them, as `⒈` and `…` do, is disallowed.
            if mapped == "." || mapped == "\u{3002}" { return false }
            output.append(mapped)
        }
        return true
    }

    /// Full case folding (Unicode, `CaseFolding.txt`): nearly always the small letters of the capitals.
    private static func caseFolded(_ scalars: String.UnicodeScalarView) -> String.UnicodeScalarView {
        var folded = String.UnicodeScalarView()
        for scalar in scalars {
            switch scalar.value {
            case _ where !scalar.properties.changesWhenCaseFolded:
                folded.append(scalar)
            case 0x13F8...0x13FD:
                // Cherokee folds to the capitals, which came first.
                folded.append(Unicode.Scalar(scalar.value - 8) ?? scalar)
            case 0xAB70...0xABBF:
                folded.append(Unicode.Scalar(scalar.value - 0x97D0) ?? scalar)
            default:
                for capital in scalar.properties.uppercaseMapping.unicodeScalars {
                    folded.append(contentsOf: capital.properties.lowercaseMapping.unicodeScalars)
                }
            }
        }
        return folded
    }
}
