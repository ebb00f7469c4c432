/// Reads a number (RFC 8259, section 6) a byte at a time.
@usableFromInline
package struct JSONNumber: Hashable, Sendable {
    @usableFromInline enum State: UInt8, Sendable {
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

    @usableFromInline var state = State.start
    @usableFromInline var magnitude = 0
    @usableFromInline var isNegative = false
    @usableFromInline var isOverflown = false
    /// The digits on both sides of the point, as many as fit, and where the point is among them.
    @usableFromInline var significand: Int64 = 0
    @usableFromInline var scale = 0
    @usableFromInline var exponent = 0
    @usableFromInline var isExponentNegative = false

    @inlinable
    package init() {}

    /// Takes the next byte; false if it cannot belong to the number.
    @inlinable
    package mutating func take(_ byte: UInt8) -> Bool {
        let isDigit = ASCII.isDigit(byte)
        switch state {
        case .start where byte == ASCII.hyphen:
            isNegative = true
            state = .minus
        case .start where isDigit, .minus where isDigit:
            magnitude = Int(byte &- ASCII.zero)
            significand = Int64(magnitude)
            state = byte == ASCII.zero ? .zero : .digits
        case .digits where isDigit:
            let (product, overflow) = magnitude.multipliedReportingOverflow(by: 10)
            let (sum, carry) = product.addingReportingOverflow(Int(byte &- ASCII.zero))
            magnitude = sum
            isOverflown = isOverflown || overflow || carry
            takeDigit(byte, isFraction: false)
        case .zero where byte == ASCII.dot, .digits where byte == ASCII.dot:
            state = .dot
        case .dot where isDigit, .fraction where isDigit:
            takeDigit(byte, isFraction: true)
            state = .fraction
        case .zero where byte | 0x20 == 0x65, .digits where byte | 0x20 == 0x65, .fraction where byte | 0x20 == 0x65:
            state = .exponent
        case .exponent where byte == ASCII.plus || byte == ASCII.hyphen:
            isExponentNegative = byte == ASCII.hyphen
            state = .exponentSign
        case .exponent where isDigit, .exponentSign where isDigit, .exponentDigits where isDigit:
            // Beyond this every number is 0 or the largest there is.
            exponent = min(exponent * 10 + Int(byte &- ASCII.zero), 10_000)
            state = .exponentDigits
        default:
            return false
        }
        return true
    }

    /// Whether the number may end here.
    @inlinable
    package var isComplete: Bool {
        switch state {
        case .zero, .digits, .fraction, .exponentDigits: true
        case .start, .minus, .dot, .exponent, .exponentSign: false
        }
    }

    /// The value, where the number is written without fraction and exponent and is not too large.
    package var integer: Int? {
        switch state {
        case .zero, .digits: isOverflown ? nil : isNegative ? -magnitude : magnitude
        default: nil
        }
    }

    /// The value in millionths, cut off behind them; the nearest end of the range where it is too large.
    package var millionths: Int64 {
        var value = significand
        var shift = 6 - scale + (isExponentNegative ? -exponent : exponent)
        while shift < 0, value != 0 {
            value /= 10
            shift += 1
        }
        while shift > 0, value != 0 {
            let (product, overflow) = value.multipliedReportingOverflow(by: 10)
            guard !overflow else { return isNegative ? .min : .max }
            value = product
            shift -= 1
        }
        return isNegative ? -value : value
    }

    @inlinable
    mutating func takeDigit(_ byte: UInt8, isFraction: Bool) {
        guard significand < .max / 100 else {
            // Of a fraction the rest is too small to count.
            if !isFraction { scale -= 1 }
            return
        }
        significand = significand * 10 + Int64(byte &- ASCII.zero)
        if isFraction { scale += 1 }
    }
}
