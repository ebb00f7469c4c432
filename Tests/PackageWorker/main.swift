/// A process that changes and reads the packages of a jar, for tests that set many of them on one folder.
///
///     package-worker DATABASE KEY WORKER STEPS SEED
///
/// It checks what it reads. It ends with status 1 and a message if that is wrong, and with 0 after the steps.
import Platform

let numbers = CommandLine.arguments.dropFirst(3).compactMap { UInt64($0) }

guard CommandLine.arguments.count == 6, numbers.count == 3 else { leave("the arguments make no sense") }

do {
    var exercise = try PackageExercise(
        database: CommandLine.arguments[1], key: CommandLine.arguments[2], worker: Int(numbers[0]), seed: numbers[2])
    for step in 0..<Int(numbers[1]) { try exercise.step(step) }
} catch {
    leave("\(error)")
}

/// Ends the process with a failure.
@Sendable func leave(_ message: String) -> Never {
    let bytes = Array("package-worker: \(message)\n".utf8)
    _ = write(STDERR_FILENO, bytes, bytes.count)
    exit(1)
}
