/// Why octets are not an HTTP/1.1 message that every recipient reads in the same way.
package enum MessageError: Error, Hashable, CaseIterable {
    case headTooLong
    case startLineInvalid
    case versionUnsupported
    case targetInvalid
    case bareLineFeed
    case bareCarriageReturn
    case nullOctet
    case foldedLine
    case fieldInvalid
    case hostInvalid
    case lengthInvalid
    case lengthRepeated
    case bodyLengthWrong
    case codingUnsupported
    case framingContradictory
    case keyRepeated
    case cachePolicyInvalid
    case chunkInvalid
    case trailerInvalid

    /// The defect of the message, as the end of a sentence.
    package var reason: String {
        switch self {
        case .headTooLong: "its head is longer than 256 KiB or has more than 500 fields"
        case .startLineInvalid: "its first line is not that of an HTTP/1.1 message"
        case .versionUnsupported: "its version is not HTTP/1.0 or HTTP/1.1"
        case .targetInvalid: "its request target is not one that this server accepts"
        case .bareLineFeed: "a line of its head ends with a line feed only"
        case .bareCarriageReturn: "a line of its head contains a carriage return"
        case .nullOctet: "a line of its head contains a null octet"
        case .foldedLine: "a line of its head is folded"
        case .fieldInvalid: "a line of its head is not a field"
        case .hostInvalid: "it has no Host field, several, or one that names no host"
        case .lengthInvalid: "its Content-Length is not a number"
        case .lengthRepeated: "it has several Content-Length fields"
        case .bodyLengthWrong: "its body is longer or shorter than its Content-Length says"
        case .codingUnsupported: "its Transfer-Encoding is not 'chunked'"
        case .framingContradictory: "it has both Content-Length and Transfer-Encoding"
        case .keyRepeated: "it has several Sec-WebSocket-Key fields"
        case .cachePolicyInvalid:
            "its Crumb-Cache-Policy field is not one name of a policy such as returnCacheDataElseLoad"
        case .chunkInvalid: "a chunk of its body has no valid size"
        case .trailerInvalid: "its trailer section is not a list of fields, or is too long"
        }
    }
}
