/// A process that uses a cache, for tests that kill it or set many of them on one folder.
///
///     cache-worker FOLDER WORKER STEPS SEED
///
/// It checks every answer. It ends with status 1 and a message if one is wrong, and with 0 after the steps.
import Platform

let numbers = CommandLine.arguments.dropFirst(2).compactMap { UInt64($0) }

guard CommandLine.arguments.count == 5, numbers.count == 3 else { leave("the arguments make no sense") }

do {
    var exercise = try CacheExercise(
        folder: CommandLine.arguments[1], worker: Int(numbers[0]), steps: Int(numbers[1]), seed: numbers[2])
    try exercise.run()
} catch {
    leave("\(error)")
}

/// Ends the process with a failure.
func leave(_ message: String) -> Never {
    let bytes = Array("cache-worker: \(message)\n".utf8)
    _ = write(STDERR_FILENO, bytes, bytes.count)
    exit(1)
}
