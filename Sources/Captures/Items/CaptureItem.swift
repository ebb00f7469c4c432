public import CookieModel

/// One thing that a capture holds, in the order of the capture.
public enum CaptureItem: Sendable, Hashable {
    /// A response, whether it sets cookies or not.
    case response(CapturedResponse)
    /// A cookie from another program's store; a store's dump does not pretend to be a response.
    case cookie(CookieRecord, CapturePlace)
    /// An item of a page's `localStorage`.
    case storage(WebStorageItem, CapturePlace)
    /// A part that could not be read; what stands around it was.
    case failure(CaptureError)

    /// Where it stands.
    public var place: CapturePlace {
        switch self {
        case .response(let response): response.place
        case .cookie(_, let place), .storage(_, let place): place
        case .failure(let error): error.place
        }
    }
}

extension CaptureItem {
    /// The item, its cookie saying nothing about the properties that its format has no place for.
    package func leavingOpen(_ unstated: CookieProperties) -> CaptureItem {
        guard !unstated.isEmpty, case .cookie(var record, let place) = self else { return self }
        record.unstated.formUnion(unstated)
        return .cookie(record, place)
    }
}

extension CaptureItem: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// What it is and where, without cookie names, values or addresses.
    public var description: String {
        switch self {
        case .response(let response): response.description
        case .cookie(_, let place): "\(place): cookie"
        case .storage(_, let place): "\(place): localStorage item"
        case .failure(let error): error.description
        }
    }

    /// The same as ``description``: a debugger's log is a log.
    public var debugDescription: String { description }

    /// Nothing but ``description``, so that `dump` shows no cookie.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}
