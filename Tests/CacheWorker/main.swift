/// A process that uses a cache: for tests that kill it or set many of them on one folder, and for benchmarks.
///
///     cache-worker FOLDER WORKER STEPS SEED          random operations; checks every answer
///     cache-worker fill DATABASE COUNT               stores responses, for a gateway or for lookups
///     cache-worker lookups DATABASE COUNT SECONDS    times lookups of random ones among the first COUNT responses
///
/// It ends with status 1 and a message if something is wrong, and with 0 afterwards. The last two print a JSON object.
import Platform

let arguments = Array(CommandLine.arguments.dropFirst())

do {
    let numbers = arguments.dropFirst().compactMap { UInt64($0) }
    switch (arguments.first, arguments.count, numbers.count) {
    case ("fill", 3, 1):
        print(try FilledCache(database: arguments[1]).fill(Int(numbers[0])))
    case ("lookups", 4, 2):
        let cache = try FilledCache(database: arguments[1])
        print(try cache.measureLookups(among: Int(numbers[0]), seconds: Int64(numbers[1])))
    case (_?, 4, 3):
        var exercise = try CacheExercise(
            folder: arguments[0], worker: Int(numbers[0]), steps: Int(numbers[1]), seed: numbers[2])
        try exercise.run()
    default: leave("the arguments make no sense")
    }
} catch {
    leave("\(error)")
}

/// Ends the process with a failure.
func leave(_ message: String) -> Never {
    let bytes = Array("cache-worker: \(message)\n".utf8)
    _ = write(STDERR_FILENO, bytes, bytes.count)
    exit(1)
}
