import Platform

/// The command line of this process, byte for byte.
///
/// On Linux, Swift's `CommandLine` finds the arguments by walking back from the environment. A preloaded library that
/// moves the environment, such as libfaketime, makes it find none, and every command would print the root help. The
/// kernel still has them.
enum ProcessArguments {
    /// Every word, the program's name first.
    static let words: [[UInt8]] = {
        #if os(Linux)
            if let words = kernelWords(), !words.isEmpty { return words }
        #endif
        return (0..<Int(CommandLine.argc)).compactMap { index in
            CommandLine.unsafeArgv[index].map { Array(UnsafeRawBufferPointer(start: $0, count: strlen($0))) }
        }
    }()

    /// The words after the program's name. Bytes that are not UTF-8 are replaced.
    static var texts: [String] {
        words.dropFirst().map { String(decoding: $0, as: UTF8.self) }
    }

    /// The last arguments as they were typed. Swift's strings replace octets that are not UTF-8.
    static func octets(of arguments: [String]) -> [[UInt8]] {
        let tail = words.suffix(arguments.count)
        let isSame =
            tail.count == arguments.count
            && zip(tail, arguments).allSatisfy { String(decoding: $0, as: UTF8.self) == $1 }
        return isSame ? Array(tail) : arguments.map { Array($0.utf8) }
    }

    #if os(Linux)
        /// The words in `/proc/self/cmdline`, each of which ends with a zero byte; `nil` if it cannot be read.
        private static func kernelWords() -> [[UInt8]]? {
            guard let bytes = try? FileSystem.contents("/proc/self/cmdline", limit: .max) else { return nil }
            return bytes.split(separator: 0, omittingEmptySubsequences: false).dropLast().map(Array.init)
        }
    #endif
}
