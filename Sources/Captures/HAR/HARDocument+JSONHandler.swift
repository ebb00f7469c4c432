import CookieModel

extension HARDocument: JSONHandler {
    mutating func key(_ name: Span<UInt8>) {
        slot = Self.slot(of: name, in: context)
        // Of several members with one name the last counts.
        switch slot {
        case .request: entry.resetRequest()
        case .url: entry.resetURL()
        case .response: entry.resetResponse()
        case .headers: entry.resetHeaders()
        case .cookies: entry.cookieNames.removeAll()
        case .startedDateTime: entry.time = nil
        default: break
        }
    }

    private static func slot(of name: Span<UInt8>, in context: Context) -> Slot {
        switch context {
        case .document: name.equals("log") ? .log : .other
        case .log:
            if name.equals("entries") {
                .entries
            } else {
                name.equals("creator") ? .creator : name.equals("browser") ? .browser : .other
            }
        case .creator: name.equals("name") ? .creatorName : .other
        case .browser: name.equals("name") ? .browserName : .other
        case .entry:
            if name.equals("request") {
                .request
            } else if name.equals("response") {
                .response
            } else {
                name.equals("startedDateTime") ? .startedDateTime : .other
            }
        case .request: name.equals("url") ? .url : name.equals("method") ? .method : .other
        case .response:
            if name.equals("headers") {
                .headers
            } else if name.equals("status") {
                .status
            } else {
                name.equals("cookies") ? .cookies : .other
            }
        case .cookie: name.equals("name") ? .cookieName : .other
        case .header: name.equals("name") ? .name : name.equals("value") ? .value : .other
        case .entries, .headers, .cookies: .other
        }
    }

    mutating func begin(_ container: JSONContainer) -> Bool {
        switch (slot, container) {
        case (.root, .object): enter(.document, .other)
        case (.log, .object): enter(.log, .other)
        case (.creator, .object): enter(.creator, .other)
        case (.browser, .object): enter(.browser, .other)
        case (.entries, .array):
            hasEntries = true
            enter(.entries, .entry)
        case (.entry, .object):
            beginEntry()
            enter(.entry, .other)
        case (.request, .object): enter(.request, .other)
        case (.response, .object): enter(.response, .other)
        case (.headers, .array): enter(.headers, .header)
        case (.cookies, .array): enter(.cookies, .cookie)
        case (.cookie, .object): enter(.cookie, .other)
        case (.header, .object):
            header.reset()
            enter(.header, .other)
        default:
            reject()
            return false
        }
        return true
    }

    private mutating func enter(_ context: Context, _ slot: Slot) {
        self.context = context
        self.slot = slot
    }

    mutating func end() {
        switch context {
        case .document: enter(.document, .other)
        case .log: enter(.document, .other)
        case .creator, .browser, .entries: enter(.log, .other)
        case .entry:
            endEntry()
            enter(.entries, .entry)
        case .request, .response: enter(.entry, .other)
        case .headers, .cookies: enter(.response, .other)
        case .cookie: enter(.cookies, .cookie)
        case .header:
            endHeader()
            enter(.headers, .header)
        }
    }

    mutating func beginString() -> Bool {
        switch slot {
        case .url, .method, .startedDateTime, .name, .cookieName, .creatorName, .browserName: return true
        case .value: return header.wantsValue
        default:
            reject()
            return false
        }
    }

    mutating func string(_ text: Span<UInt8>) {
        switch slot {
        case .url: entry.url = String(repairing: text)
        case .method: entry.method = String(validating: text)
        case .startedDateTime:
            entry.time = text.withUnsafeBufferPointer { Timestamp(rfc3339: $0) }
        case .cookieName: entry.cookieNames.append(text)
        case .creatorName:
            creator =
                text.equals("Playwright") ? .playwright : text.equals("WebInspector") ? .chromiumDeveloperTools : nil
        case .browserName: browser = text.equals("chromium") ? .chromium : nil
        case .name: header.name = text.equalsIgnoringCase("set-cookie") ? .setCookie : .other
        case .value:
            header.value = .text
            header.text.removeAll(keepingCapacity: true)
            header.text.append(text)
        default: break
        }
    }

    mutating func stringTooLong() {
        switch slot {
        case .url: entry.rejectLongURL()
        case .name: header.name = .other
        case .cookieName: entry.cookieNames.appendUnusable()
        case .value: header.value = .tooLong
        default: break
        }
    }

    mutating func scalar(_ scalar: JSONScalar) {
        switch (slot, scalar) {
        case (.status, .number(let status)): entry.status = status.integer ?? 0
        // Chromium and others write null for what is not there.
        case (.response, .null), (.headers, .null): break
        default: reject()
        }
    }

    /// The value at hand is of a type that its place does not have.
    private mutating func reject() {
        switch slot {
        case .entry: rejectEntry()
        case .request: entry.rejectRequest("Its request is not an object.")
        case .url: entry.rejectRequest("Its request's url is not a string.")
        case .response: entry.rejectResponse("Its response is not an object.")
        case .headers: entry.rejectResponse("Its response's headers are not an array.")
        case .header: entry.rejectResponse("A header of its response is not an object.")
        case .name: header.name = .notText
        case .value: header.value = .notText
        // What else an entry has is nice to know, and the entry is good without it.
        case .root, .log, .creator, .creatorName, .browser, .browserName, .entries, .startedDateTime, .method, .status,
            .cookies, .cookie, .cookieName, .other:
            break
        }
    }
}
