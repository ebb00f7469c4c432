import Foundation

/// The certificates that the programs of this machine trust, and those of `--ca-file`.
enum TrustedAuthorities {
    /// The variables by which programs find a file with the authorities that they trust.
    static let variables = [
        "SSL_CERT_FILE", "CURL_CA_BUNDLE", "REQUESTS_CA_BUNDLE", "NODE_EXTRA_CA_CERTS", "GIT_SSL_CAINFO", "PIP_CERT",
        "AWS_CA_BUNDLE", "CARGO_HTTP_CAINFO", "GRPC_DEFAULT_SSL_ROOTS_FILE_PATH", "NIX_SSL_CERT_FILE", "DENO_CERT",
    ]

    private static let systemFiles = [
        "/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/cert.pem",
    ]

    /// The certificates in PEM, each once: the system's, or those of `SSL_CERT_FILE` in their place, those that the other
    /// ``variables`` name, and those of `--ca-file`. Other contents of the files, such as private keys, are left out.
    ///
    /// A file that cannot be read is skipped, as most programs do.
    static func pem(_ environment: [String: String] = ProcessInfo.processInfo.environment) -> [UInt8] {
        let system = ([environment["SSL_CERT_FILE"]].compactMap(\.self) + systemFiles).lazy.map(contents)
            .first { !$0.isEmpty }
        let named = (variables.dropFirst() + ["CRUMB_CA_FILE"]).compactMap { environment[$0] }
        var known: Set<String> = []
        let all = ([system ?? []] + named.map(contents)).flatMap(certificates).filter { known.insert($0).inserted }
        return Array(all.joined().utf8)
    }

    /// The contents of a file, or of the first thousand files in a folder, which some variables may name.
    private static func contents(of path: String) -> [UInt8] {
        guard let names = try? FileManager.default.contentsOfDirectory(atPath: path) else { return file(path) }
        return Array(names.sorted().prefix(1000).map { file("\(path)/\($0)") }.joined(separator: "\n".utf8))
    }

    private static func file(_ path: String) -> [UInt8] { (try? InputFile(path).contents(limit: 16 << 20)) ?? [] }

    /// The certificates in a text, each with its first and last line.
    private static func certificates(in bytes: [UInt8]) -> [String] {
        var (found, lines): ([String], [Substring]?) = ([], nil)
        for line in String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isNewline) {
            if line.hasPrefix("-----BEGIN ") { lines = line.contains("CERTIFICATE-----") ? [] : nil }
            lines?.append(line)
            if line.hasPrefix("-----END "), let complete = lines {
                found.append(complete.joined(separator: "\n") + "\n")
                lines = nil
            }
        }
        return found
    }
}
