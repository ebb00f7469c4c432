import Foundation

/// The moments at which a test kills a process: different ones in each run, and the same again with `CRUMB_KILL_SEED`.
///
/// A test shows this value where it fails, so that the run can be repeated.
public struct KillMoments: CustomStringConvertible {
    private let seed: UInt64
    private var generator: SeededGenerator

    /// The moments of the seed in the environment, or of a random one.
    public init() {
        seed =
            ProcessInfo.processInfo.environment["CRUMB_KILL_SEED"].flatMap { UInt64($0) }
            ?? UInt64.random(in: 0...0xFFFF_FFFF)
        generator = SeededGenerator(seed: seed)
    }

    /// Waits for a random time of at most so many microseconds.
    public mutating func wait(atMost microseconds: Int) {
        usleep(UInt32(generator.below(max(1, microseconds + 1))))
    }

    /// How to repeat the run.
    public var description: String { "run again with CRUMB_KILL_SEED=\(seed)" }
}
