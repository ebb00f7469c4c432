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
        case .startedDateTime: (entry.time, entry.hasBrokenTime) = (nil, true)
        case .duration: entry.duration = 0
        case .requestHeaders: entry.request = RequestHead()
        default: break
        }
    }

    private static func slot(of name: Span<UInt8>, in context: Context) -> Slot {
        switch context {
        case .document: name.equals("log") ? .log : .other
        case .log:
            if name.equals("entries") {
                .entries
            } else if name.equals("pages") {
                .pages
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
            } else if name.equals("startedDateTime") {
                .startedDateTime
            } else {
                entryDetail(name)
            }
        case .page: name.equals("id") ? .pageName : name.equals("title") ? .pageTitle : .other
        case .initiator: name.equals("url") ? .initiatorURL : .other
        case .request:
            if name.equals("url") {
                .url
            } else if name.equals("method") {
                .method
            } else {
                name.equals("headers") ? .requestHeaders : .other
            }
        case .response:
            if name.equals("headers") {
                .headers
            } else if name.equals("status") {
                .status
            } else {
                name.equals("cookies") ? .cookies : .other
            }
        case .cookie: name.equals("name") ? .cookieName : .other
        case .header, .requestHeader: name.equals("name") ? .name : name.equals("value") ? .value : .other
        case .pages, .entries, .headers, .requestHeaders, .cookies: .other
        }
    }

    /// The members of an entry that tell the context of its request.
    private static func entryDetail(_ name: Span<UInt8>) -> Slot {
        if name.equals("pageref") { return .pageReference }
        if name.equals("_resourceType") { return .resourceType }
        if name.equals("_initiator") { return .initiator }
        if name.equals("time") { return .duration }
        return name.equals("_frameref") ? .frameReference : .other
    }

    mutating func begin(_ container: JSONContainer) -> Bool {
        switch (slot, container) {
        case (.root, .object): enter(.document, .other)
        case (.log, .object): enter(.log, .other)
        case (.creator, .object): enter(.creator, .other)
        case (.browser, .object): enter(.browser, .other)
        case (.pages, .array): enter(.pages, .page)
        case (.page, .object): enter(.page, .other)
        case (.initiator, .object): enter(.initiator, .other)
        case (.requestHeaders, .array): enter(.requestHeaders, .requestHeader)
        case (.requestHeader, .object):
            header.reset()
            enter(.requestHeader, .other)
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
        case .creator, .browser, .pages, .entries: enter(.log, .other)
        case .page:
            endPage()
            enter(.pages, .page)
        case .entry:
            endEntry()
            enter(.entries, .entry)
        case .request, .response, .initiator: enter(.entry, .other)
        case .requestHeaders: enter(.request, .other)
        case .requestHeader:
            endRequestHeader()
            enter(.requestHeaders, .requestHeader)
        case .headers, .cookies: enter(.response, .other)
        case .cookie: enter(.cookies, .cookie)
        case .header:
            endHeader()
            enter(.headers, .header)
        }
    }

    mutating func beginString() -> Bool {
        switch slot {
        case .url, .method, .startedDateTime, .name, .cookieName, .creatorName, .browserName, .pageName, .pageTitle,
            .pageReference, .frameReference, .resourceType, .initiatorURL:
            return true
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
            entry.time = HARDocument.time(text)
            entry.hasBrokenTime = entry.time == nil
        case .cookieName: entry.cookieNames.append(text)
        case .creatorName:
            creator =
                if text.equals("Playwright") {
                    .playwright
                } else if text.equals("WebInspector") {
                    .chromiumDeveloperTools
                } else {
                    text.equals("crumb") ? .crumb : nil
                }
        case .browserName: browser = text.equals("chromium") ? .chromium : nil
        case .pageName: page.name = String(repairing: text)
        case .pageTitle: page.title = String(repairing: text)
        case .pageReference: entry.pageID = String(repairing: text)
        case .frameReference: entry.frameID = String(repairing: text)
        case .resourceType: entry.resourceType = String(repairing: text)
        case .initiatorURL: entry.initiator = String(repairing: text)
        case .name where context == .requestHeader: header.name = RequestField(text).map { .request($0) } ?? .other
        case .name:
            if text.equalsIgnoringCase("set-cookie") {
                header.name = .setCookie
            } else {
                header.name = text.equalsIgnoringCase("location") ? .location : .other
            }
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
        // In milliseconds; -1 says that it is not known.
        case (.duration, .number(let time)):
            entry.duration = min(max(0, time.millionths / 1000), HAREntry.longestDuration)
        // Chromium and others write null for absent members.
        case (.response, .null), (.headers, .null): break
        default: reject()
        }
    }

    /// The current value is of a type that its place does not have.
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
        // An entry is valid without its other members.
        case .root, .log, .creator, .creatorName, .browser, .browserName, .pages, .page, .pageName, .pageTitle,
            .entries,
            .startedDateTime, .duration, .pageReference, .frameReference, .resourceType, .initiator, .initiatorURL,
            .method, .requestHeaders, .requestHeader, .status, .cookies, .cookie, .cookieName, .other:
            break
        }
    }
}
