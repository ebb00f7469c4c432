internal import Foundation
public import OAuth2

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

extension KeySource {
    /// Keys in base64, 32 bytes each, the newest last, with commas between.
    ///
    /// - Parameters:
    ///   - text: the keys.
    ///   - name: where a person would look for them.
    /// - Throws: ``SessionStoreError/Code/keyUnavailable`` where that is not what the text is.
    public static func base64(_ text: Secret, name: String) throws(SessionStoreError) -> KeySource {
        let parts = (text.exposedText ?? "").components(separatedBy: ",")
        let keys = parts.compactMap { part in
            Data(base64Encoded: part.trimmingCharacters(in: .whitespacesAndNewlines))
                .flatMap { SealingKey(bytes: Array($0)) }
        }
        guard keys.count == parts.count else {
            throw SessionStoreError(
                .keyUnavailable, name,
                "this is no key: a key is 32 bytes in base64, as 'openssl rand -base64 32' prints them")
        }
        return .keys(name: name) { _ throws(SessionStoreError) in keys }
    }

    /// Keys in an environment variable, as ``base64(_:name:)`` reads them; the variable is taken out of the environment.
    ///
    /// An environment is no safe place: children inherit it, and on many systems whoever runs as the same user can read
    /// it for as long as the process lives. That is why the variable is overwritten where it lies and removed, as far as
    /// a process can do that. Call this before other threads look at the environment.
    ///
    /// - Returns: `nil` where the variable is not set, or is empty.
    /// - Throws: ``SessionStoreError/Code/keyUnavailable`` where it does not hold keys.
    public static func takingEnvironment(_ variable: String = "CRUMB_KEY") throws(SessionStoreError) -> KeySource? {
        guard let text = Secret(takingEnvironment: variable) else { return nil }
        return try base64(text, name: variable)
    }
}
