// The few things that several targets ask of bytes, written as plainly as can be: they judge the code that is written
// to be fast.
extension UInt8 {
    /// Whether this is a control character other than horizontal tab.
    public var isControl: Bool { (self < 0x20 && self != 0x09) || self == 0x7F }

    /// Whether this is a space or a horizontal tab.
    public var isBlank: Bool { self == 0x20 || self == 0x09 }

    /// The same byte, an ASCII letter in lower case.
    public var lowercased: UInt8 { (0x41...0x5A).contains(self) ? self + 0x20 : self }

    /// The same byte, an ASCII letter in upper case.
    public var uppercased: UInt8 { (0x61...0x7A).contains(self) ? self - 0x20 : self }
}

extension Collection<UInt8> {
    /// The bytes without the blanks at both ends.
    public var trimmed: [UInt8] {
        var bytes = Array(self)
        while bytes.last?.isBlank == true { bytes.removeLast() }
        return Array(bytes.drop(while: \.isBlank))
    }
}
