/// Domains with a character outside ASCII, as UTS 46 processes them with the flags that the URL Standard gives:
/// non-transitional, with the checks of Bidi and of joiners, without those of hyphens, of lengths and of STD3.
///
/// Foundation's own encoder also applies those last three checks. So the steps are separate: mapping and Punycode here,
/// normalization by Foundation, and the validity criteria by Foundation's decoder of A-labels, which does not check
/// hyphens and lengths.
enum InternationalDomain {
    /// Unicode ToASCII (UTS 46, section 4.2) with CheckHyphens, VerifyDnsLength and UseSTD3ASCIIRules false.
    ///
    /// The steps are those of rfc6265bis, section 5.1.2, after the mapping of UTS 46.
    ///
    /// - Parameter text: A domain that is not ASCII alone.
    /// - Returns: The domain in lower-case A-labels, or `nil` if the processing fails. Every ASCII character is let
    ///   through.
    static func toASCII(_ text: String) -> [UInt8]? {
        guard text.utf8.count <= maximumLength else { return nil }
        var mapped = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            guard appendMapping(of: scalar, to: &mapped) else { return nil }
        }
        // Step 1: Divide the host name into labels.
        guard let labels = normalized(mapped, .c)?.split(separator: ".", omittingEmptySubsequences: false)
        else { return nil }
        var domain: [UInt8] = []
        var checkedDomain: [UInt8] = []
        var hasALabel = false
        for (index, label) in labels.enumerated() {
            // Step 5: Join the resulting labels with dots.
            if index > 0 {
                domain.append(ASCII.dot)
                checkedDomain.append(ASCII.dot)
            }
            let claimsToBeALabel = label.starts(with: "xn--".unicodeScalars)
            if label.allSatisfy(\.isASCII) {
                let octets = label.map { UInt8(truncatingIfNeeded: $0.value) }
                domain += octets
                checkedDomain += octets
                hasALabel = hasALabel || claimsToBeALabel
            } else {
                // Step 3: Convert a U-label to an A-label. A label with `xn--` in front is no U-label.
                guard !claimsToBeALabel, let encoded = Punycode.encode(Array(label)),
                    let checked = Punycode.encode(label.map(standIn(for:)))
                else { return nil }
                domain += "xn--".utf8 + encoded
                checkedDomain += "xn--".utf8 + checked
                hasALabel = true
            }
        }
        // Step 2: Fail if a label is no U-label, A-label or plain label.
        // Step 4: Fail if a label only looks like an A-label.
        // Where the mapping leaves ASCII alone, there is no label whose validity could be in question.
        return !hasALabel || isValid(checkedDomain) ? domain : nil
    }

    /// No name in the DNS has a sixteenth of this, and every step costs.
    private static let maximumLength = 4096

    /// Returns a character that is as valid as `scalar` and that Foundation knows. Foundation has the tables of Unicode
    /// 16, browsers those of Unicode 17, and the standard library knows the category of newer characters.
    private static func standIn(for scalar: Unicode.Scalar) -> Unicode.Scalar {
        guard let age = scalar.properties.age, age.major >= 17 else { return scalar }
        switch scalar.properties.generalCategory {
        case .otherLetter, .lowercaseLetter, .modifierLetter:
            return isRightToLeft(scalar) ? "\u{05D0}" : "\u{4E00}"
        case .decimalNumber, .letterNumber:
            return "\u{4E00}"
        case .spacingMark:
            return "\u{0903}"
        case .nonspacingMark:
            // One that neither composes nor is put in order.
            return "\u{0E31}"
        case .otherSymbol, .mathSymbol:
            return "\u{2603}"
        case .currencySymbol:
            return "\u{20AC}"
        default:
            return scalar
        }
    }

    /// Whether `scalar` is in a block that Unicode assigns to right-to-left letters (`DerivedBidiClass.txt`, the
    /// defaults).
    private static func isRightToLeft(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x0590...0x08FF, 0xFB1D...0xFDFF, 0xFE70...0xFEFF, 0x10800...0x10FFF, 0x1E800...0x1EFFF: true
        default: false
        }
    }
}

// MARK: - Mapping

extension InternationalDomain {
    /// Appends the mapping of `scalar` in UTS 46 (section 5). Returns `false` if the character is disallowed and the
    /// mapping would hide that.
    ///
    /// The mapping is that of NFKC_Casefold, from which UTS 46 derives its table (section 6), except for the cases
    /// named here. All other disallowed characters map to themselves, for the check of validity to find.
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
            // One character that maps to several with a dot among them, as `⒈` and `…` do, is disallowed.
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
