/// A form-encoded request body while it is put together.
struct FormBody {
    private var bytes: [UInt8] = []

    mutating func append(_ name: String, _ value: String) {
        append(name, encoded: FormEncoding.encode(value))
    }

    mutating func append(_ name: String, _ value: Secret) {
        append(name, encoded: FormEncoding.encode(value))
    }

    /// The body, which holds secrets and therefore is one.
    var secret: Secret { Secret(bytes) }

    private mutating func append(_ name: String, encoded value: [UInt8]) {
        if !bytes.isEmpty { bytes.append(0x26) }
        bytes += FormEncoding.encode(name)
        bytes.append(0x3D)
        bytes += value
    }
}
