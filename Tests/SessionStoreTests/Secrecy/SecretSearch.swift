import Foundation
import Testing

/// A search of files for secrets, in every form in which they might stand there.
struct SecretSearch {
    let secrets: [String]

    /// The forms in which a value might stand in a file.
    private func forms(_ secret: String) -> [[UInt8]] {
        let data = Data(secret.utf8)
        return [
            Array(secret.utf8), Array(secret.utf8.reversed()), Array(data.base64EncodedString().utf8.dropLast(4)),
            Array(data.map { String($0, radix: 16) }.joined().utf8),
        ]
    }

    /// The names of the files with a secret in them.
    func findings(in files: [String: [UInt8]]) -> [String] {
        files.compactMap { name, bytes in
            let data = Data(bytes)
            return secrets.flatMap(forms).contains { data.firstRange(of: Data($0)) != nil } ? name : nil
        }
    }

    func expectNothing(in files: [String: [UInt8]], _ moment: Comment) {
        #expect(findings(in: files) == [], moment)
    }
}
