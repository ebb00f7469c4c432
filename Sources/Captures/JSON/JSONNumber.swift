/// Reads a number (RFC 8259, section 6) a byte at a time.
struct JSONNumber: Hashable, Sendable {
    private enum State {
        case start
        case minus
        case zero
        case digits
        case dot
        case fraction
        case exponent
        case exponentSign
        case exponentDigits
    }

    private var state = State.start
    private var magnitude = 0
    private var isNegative = false
    private var isOverflown = false

    /// Takes the next byte; false where it cannot belong to the number.
    mutating func take(_ byte: UInt8) -> Bool {
        let isDigit = ASCII.isDigit(byte)
        switch state {
        case .start where byte == ASCII.hyphen:
            isNegative = true
            state = .minus
        case .start where isDigit, .minus where isDigit:
            magnitude = Int(byte &- ASCII.zero)
            state = byte == ASCII.zero ? .zero : .digits
        case .digits where isDigit:
            let (product, overflow) = magnitude.multipliedReportingOverflow(by: 10)
            let (sum, carry) = product.addingReportingOverflow(Int(byte &- ASCII.zero))
            magnitude = sum
            isOverflown = isOverflown || overflow || carry
        case .zero where byte == ASCII.dot, .digits where byte == ASCII.dot:
            state = .dot
        case .dot where isDigit, .fraction where isDigit:
            state = .fraction
        case .zero where byte | 0x20 == 0x65, .digits where byte | 0x20 == 0x65, .fraction where byte | 0x20 == 0x65:
            state = .exponent
        case .exponent where byte == ASCII.plus || byte == ASCII.hyphen:
            state = .exponentSign
        case .exponent where isDigit, .exponentSign where isDigit, .exponentDigits where isDigit:
            state = .exponentDigits
        default:
            return false
        }
        return true
    }

    /// Whether the number may end here.
    var isComplete: Bool {
        switch state {
        case .zero, .digits, .fraction, .exponentDigits: true
        case .start, .minus, .dot, .exponent, .exponentSign: false
        }
    }

    /// The value, where the number is written without fraction and exponent and is not too large.
    var integer: Int? {
        switch state {
        case .zero, .digits: isOverflown ? nil : isNegative ? -magnitude : magnitude
        default: nil
        }
    }
}
