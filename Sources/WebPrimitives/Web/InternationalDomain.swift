/// Domains with a character outside ASCII, as UTS 46 processes them with the flags that the URL Standard gives:
/// non-transitional, with the checks of Bidi and of joiners, without those of hyphens, of lengths and of STD3.
enum InternationalDomain {
    /// Unicode ToASCII (UTS 46, section 4.2) with CheckHyphens, VerifyDnsLength and UseSTD3ASCIIRules false.
    ///
    /// The steps are those of rfc6265bis, section 5.1.2, after the mapping of UTS 46.
    ///
    /// - Parameter text: A domain that is not ASCII alone.
    /// - Returns: The domain in lower-case A-labels, or `nil` if the processing fails. Every ASCII character is let
    ///   through.
    static func toASCII(_ text: String) -> [UInt8]? {
        guard text.utf8.count <= maximumTextLength else { return nil }
        var mapped: [Unicode.Scalar] = []
        for scalar in text.unicodeScalars {
            guard UnicodeTable.appendMapping(of: scalar, to: &mapped) else { return nil }
        }
        // Step 1: Divide the host name into labels.
        let labels = CanonicalComposition.compose(mapped).split(separator: ".", omittingEmptySubsequences: false)
        var domain: [UInt8] = []
        var hasALabel = false
        for (index, label) in labels.enumerated() {
            // Step 5: Join the resulting labels with dots.
            if index > 0 { domain.append(ASCII.dot) }
            if label.allSatisfy(\.isASCII) {
                domain += label.map { UInt8(truncatingIfNeeded: $0.value) }
                hasALabel = hasALabel || claimsToBeALabel(label)
            } else {
                // Step 3: Convert a U-label to an A-label. A label with `xn--` in front is no U-label.
                guard !claimsToBeALabel(label), let encoded = Punycode.encode(Array(label)) else { return nil }
                domain += "xn--".utf8 + encoded
                hasALabel = true
            }
        }
        // If the mapping leaves ASCII alone, there is no label whose validity could be in question.
        guard hasALabel else { return domain }
        return domain.count <= maximumLength && areValid(labels) ? domain : nil
    }

    /// No name in the DNS has a sixteenth of this, and every step costs.
    private static let maximumTextLength = 4096
    /// The most octets that a name with A-labels has: eight times the limit of the DNS.
    private static let maximumLength = 2048

    private static func claimsToBeALabel(_ label: some Collection<Unicode.Scalar>) -> Bool {
        label.starts(with: "xn--".unicodeScalars)
    }

    /// Whether the labels of a normalized domain meet the validity criteria of UTS 46 (section 4.1), the Bidi rule among
    /// them, which looks at all labels.
    private static func areValid(_ labels: [ArraySlice<Unicode.Scalar>]) -> Bool {
        var checked: [DomainLabel] = []
        for label in labels where !label.isEmpty {
            // Step 2: Fail if a label is no U-label, A-label or plain label.
            guard let label = claimsToBeALabel(label) ? decoded(label) : Array(label), let valid = DomainLabel(label)
            else { return false }
            checked.append(valid)
        }
        // A Bidi domain name contains at least one RTL label (RFC 5893, section 1.4).
        return !checked.contains(where: \.isRightToLeft) || checked.allSatisfy(\.meetsBidiRule)
    }

    /// The U-label of an A-label.
    private static func decoded(_ label: ArraySlice<Unicode.Scalar>) -> [Unicode.Scalar]? {
        let octets = label.dropFirst(4).map { UInt8(truncatingIfNeeded: $0.value) }
        // Step 4: Fail if a label only looks like an A-label.
        guard let decoded = Punycode.decode(octets), !decoded.allSatisfy(\.isASCII), !claimsToBeALabel(decoded),
            CanonicalComposition.compose(decoded) == decoded
        else { return nil }
        return decoded
    }
}

/// A label that is not empty, normalized and not encoded, by the properties of its characters.
private struct DomainLabel {
    private let properties: [CharacterProperties]
    private let bidi: CharacterProperties.BidiClasses

    /// Returns `nil` if the label begins with a mark, or has a character that is not valid or a joiner in a place where
    /// it has no effect.
    init?(_ label: [Unicode.Scalar]) {
        var properties: [CharacterProperties] = []
        for scalar in label {
            guard let found = UnicodeTable.properties(of: scalar) else { return nil }
            properties.append(found)
        }
        guard properties.first?.isMark == false else { return nil }
        self.properties = properties
        bidi = properties.reduce(into: []) { classes, found in classes.formUnion(found.bidi) }
        for (index, scalar) in label.enumerated() where scalar == "\u{200C}" || scalar == "\u{200D}" {
            guard followsVirama(index) || scalar == "\u{200C}" && joinsLetters(index) else { return nil }
        }
    }

    // MARK: Joiners (RFC 5892, appendix A)

    /// `Canonical_Combining_Class(Before(cp)) .eq. Virama`
    private func followsVirama(_ index: Int) -> Bool {
        index > 0 && properties[index - 1].combiningClass == 9
    }

    /// `(Joining_Type:{L,D})(Joining_Type:T)*\u200C(Joining_Type:T)*(Joining_Type:{R,D})`
    private func joinsLetters(_ index: Int) -> Bool {
        let before = properties[..<index].last { $0.joining != .transparent }?.joining
        let after = properties[(index + 1)...].first { $0.joining != .transparent }?.joining
        return (before == .left || before == .dual) && (after == .right || after == .dual)
    }

    // MARK: The Bidi rule (RFC 5893, section 2)

    /// An RTL label contains at least one character of type R, AL or AN.
    var isRightToLeft: Bool { !bidi.isDisjoint(with: [.r, .al, .an]) }

    var meetsBidiRule: Bool {
        let last = properties.last { $0.bidi != .nsm }?.bidi
        switch properties.first?.bidi {
        // 1. The first character must be a character with Bidi property L, R, or AL.
        case .r, .al:
            // 2. In an RTL label, only characters with the Bidi properties R, AL, AN, EN, ES, CS, ET, ON, BN, or NSM are
            // allowed.
            // 3. The end of the label must be a character with Bidi property R, AL, EN, or AN, followed by zero or more
            // characters with Bidi property NSM.
            // 4. If an EN is present, no AN may be present, and vice versa.
            return bidi.isSubset(of: [.r, .al, .an, .en, .es, .cs, .et, .on, .bn, .nsm])
                && [.r, .al, .en, .an].contains(last) && !bidi.isSuperset(of: [.en, .an])
        case .l:
            // 5. In an LTR label, only characters with the Bidi properties L, EN, ES, CS, ET, ON, BN, or NSM are allowed.
            // 6. The end of the label must be a character with Bidi property L or EN, followed by zero or more characters
            // with Bidi property NSM.
            return bidi.isSubset(of: [.l, .en, .es, .cs, .et, .on, .bn, .nsm]) && [.l, .en].contains(last)
        default:
            return false
        }
    }
}
