import WebPrimitives

/// Takes copied shell commands apart into words, as bash and Windows' cmd do.
///
/// Nothing is run and nothing is expanded: variables and substitutions stay as they are written.
enum ShellWords {
    /// The commands in a text, each as its words; and where a quote begins that is never closed, whose command is not
    /// among them.
    static func commands(in text: [UInt8]) -> (commands: [[[UInt8]]], unclosedQuote: Int?) {
        guard isForWindows(text) else { return bashCommands(text) }
        let (commands, quote) = windowsCommands(unescaped(text))
        // The text that was read has no carets any more, but still has its quotes.
        return (
            commands,
            quote.flatMap { number in text.indices.lazy.filter { text[$0] == ASCII.quote }.dropFirst(number).first }
        )
    }

    /// Whether a caret escapes the first argument or the end of the first line.
    private static func isForWindows(_ text: [UInt8]) -> Bool {
        let end = text.firstIndex(of: ASCII.lineFeed) ?? text.endIndex
        var line = text[..<end]
        while let last = line.last, last <= ASCII.space { line.removeLast() }
        if end < text.endIndex, line.last == caret { return true }
        guard let space = line.firstIndex(of: ASCII.space), space + 2 < line.endIndex else { return false }
        return line[space + 1] == caret && line[space + 2] == ASCII.quote
    }

    private static let caret = UInt8(ascii: "^")
    private static let dollar = UInt8(ascii: "$")
    private static let ampersand = UInt8(ascii: "&")

    /// Words and commands as they are put together.
    private struct Builder {
        var commands: [[[UInt8]]] = []
        private var words: [[UInt8]] = []
        private var word: [UInt8] = []
        private var hasWord = false

        mutating func begin() { hasWord = true }
        mutating func append(_ byte: UInt8) {
            begin()
            word.append(byte)
        }
        mutating func append(_ bytes: some Collection<UInt8>) {
            begin()
            word.append(contentsOf: bytes)
        }

        mutating func endWord() {
            guard hasWord else { return }
            words.append(word)
            (word, hasWord) = ([], false)
        }

        mutating func endCommand() {
            endWord()
            if !words.isEmpty { commands.append(words) }
            words = []
        }
    }

    // MARK: bash

    private static func bashCommands(_ text: [UInt8]) -> ([[[UInt8]]], unclosedQuote: Int?) {
        var builder = Builder()
        var index = 0
        while index < text.count {
            let byte = text[index]
            index += 1
            switch byte {
            case ASCII.space, ASCII.tab, ASCII.carriageReturn: builder.endWord()
            case ASCII.lineFeed, ASCII.semicolon, ampersand: builder.endCommand()
            case ASCII.backslash where index < text.count:
                if text[index] == ASCII.carriageReturn, index + 1 < text.count { index += 1 }
                if text[index] != ASCII.lineFeed { builder.append(text[index]) }
                index += 1
            case ASCII.apostrophe:
                guard let end = text[index...].firstIndex(of: ASCII.apostrophe) else {
                    return (builder.commands, index - 1)
                }
                builder.append(text[index..<end])
                index = end + 1
            case dollar where index < text.count && text[index] == ASCII.apostrophe:
                let start = index
                index += 1
                builder.append(ansiString(text, from: &index))
                guard index <= text.count else { return (builder.commands, start) }
            case ASCII.quote:
                let start = index - 1
                builder.append(quoted(text, from: &index))
                guard index <= text.count else { return (builder.commands, start) }
            default: builder.append(byte)
            }
        }
        builder.endCommand()
        return (builder.commands, nil)
    }

    /// The rest of a string in double quotes.
    private static func quoted(_ text: [UInt8], from index: inout Int) -> [UInt8] {
        var string: [UInt8] = []
        while index < text.count, text[index] != ASCII.quote {
            if text[index] == ASCII.backslash, index + 1 < text.count {
                let next = text[index + 1]
                let isEscape = [ASCII.quote, ASCII.backslash, dollar, UInt8(ascii: "`"), UInt8(ascii: "!")].contains(
                    next)
                index += isEscape || next == ASCII.lineFeed ? 1 : 0
                if next == ASCII.lineFeed {
                    index += 1
                    continue
                }
            }
            string.append(text[index])
            index += 1
        }
        index += 1
        return string
    }

    /// The rest of a `$'…'` string.
    private static func ansiString(_ text: [UInt8], from index: inout Int) -> [UInt8] {
        let letters: [UInt8: UInt8] = [
            0x61: 0x07, 0x62: 0x08, 0x65: 0x1B, 0x66: 0x0C, 0x6E: 0x0A, 0x72: 0x0D, 0x74: 0x09, 0x76: 0x0B,
        ]
        var string: [UInt8] = []
        while index < text.count, text[index] != ASCII.apostrophe {
            guard text[index] == ASCII.backslash, index + 1 < text.count else {
                string.append(text[index])
                index += 1
                continue
            }
            let letter = text[index + 1]
            index += 2
            switch letter {
            case UInt8(ascii: "x"): string.append(UInt8(truncatingIfNeeded: number(text, from: &index, digits: 2)))
            case UInt8(ascii: "u"), UInt8(ascii: "U"):
                let value = number(text, from: &index, digits: letter == UInt8(ascii: "u") ? 4 : 8)
                string += Array(String(Unicode.Scalar(UInt32(truncatingIfNeeded: value)) ?? "\u{FFFD}").utf8)
            case 0x30...0x37:
                index -= 1
                string.append(UInt8(truncatingIfNeeded: number(text, from: &index, digits: 3, radix: 8)))
            default: string.append(letters[letter] ?? letter)
            }
        }
        index += 1
        return string
    }

    private static func number(_ text: [UInt8], from index: inout Int, digits: Int, radix: Int = 16) -> Int {
        var value = 0
        for _ in 0..<digits {
            guard index < text.count, let digit = ASCII.hexadecimalValue(text[index]), Int(digit) < radix else { break }
            value = value * radix + Int(digit)
            index += 1
        }
        return value
    }

    // MARK: cmd

    /// The text that cmd passes to the program: carets outside of its own quotes are removed. A line feed that was not
    /// escaped, or an ampersand, ends a command and becomes a line feed; an escaped one becomes a space.
    private static func unescaped(_ text: [UInt8]) -> [UInt8] {
        var plain: [UInt8] = []
        var isQuoted = false
        var index = 0
        while index < text.count {
            let byte = text[index]
            index += 1
            switch byte {
            case ASCII.carriageReturn: continue
            case ASCII.quote:
                isQuoted.toggle()
                plain.append(byte)
            case ampersand where !isQuoted: plain.append(ASCII.lineFeed)
            case caret where !isQuoted && index < text.count:
                if text[index] == ASCII.carriageReturn, index + 1 < text.count { index += 1 }
                plain.append(text[index] == ASCII.lineFeed ? ASCII.space : text[index])
                index += 1
            default: plain.append(byte)
            }
        }
        return plain
    }

    /// The words as the C runtime of Windows takes a command line apart, and which of the quotes is never closed.
    private static func windowsCommands(_ text: [UInt8]) -> ([[[UInt8]]], unclosedQuote: Int?) {
        var builder = Builder()
        var isQuoted = false
        var quoteStart = 0
        var index = 0
        while index < text.count {
            let byte = text[index]
            index += 1
            switch byte {
            case ASCII.lineFeed where !isQuoted: builder.endCommand()
            case ASCII.space where !isQuoted, ASCII.tab where !isQuoted: builder.endWord()
            case ASCII.backslash:
                var count = 1
                while index < text.count, text[index] == ASCII.backslash {
                    count += 1
                    index += 1
                }
                // Backslashes escape only in front of a quote, but browsers double every one of them.
                let isBeforeQuote = index < text.count && text[index] == ASCII.quote
                let kept = isBeforeQuote || count.isMultiple(of: 2) ? count / 2 : count
                builder.append(repeatElement(ASCII.backslash, count: kept))
                if isBeforeQuote, count % 2 == 1 {
                    builder.append(ASCII.quote)
                    index += 1
                }
            case ASCII.quote where isQuoted && index < text.count && text[index] == ASCII.quote:
                builder.append(ASCII.quote)
                index += 1
            case ASCII.quote:
                isQuoted.toggle()
                quoteStart = index - 1
                builder.begin()
            default: builder.append(byte)
            }
        }
        guard !isQuoted else { return (builder.commands, text[..<quoteStart].count { $0 == ASCII.quote }) }
        builder.endCommand()
        return (builder.commands, nil)
    }
}
