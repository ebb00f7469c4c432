import CookieModel
import HTTPTypes
import OAuth2
import SessionStore

/// Which fields besides Cookie went onto a request, and which did not.
struct FieldDecision {
    var names: [HTTPField.Name] = []
    var omissions: [DecorationReport.FieldOmission] = []

    mutating func omit(_ name: HTTPField.Name, _ reason: FieldOmissionReason) {
        omissions.append(DecorationReport.FieldOmission(name: name, reason: reason))
    }
}

extension RequestDecorator {
    /// Sets what the settings have for the request. `context` has its URL, and those that redirected to it.
    func setFields<Request: DecoratableRequest>(
        of request: inout Request, in context: RequestContext, now: Timestamp
    ) throws(SessionStoreError) -> FieldDecision {
        var decision = FieldDecision()
        for rule in settings.rules {
            let name = rule.field.name
            let octets = rule.value
            let reason = rule.omission(
                from: context.url, isSetByCaller: request.hasField(name),
                isSetByOtherRule: decision.names.contains(name))
            if let reason {
                decision.omit(name, reason)
            } else if !Request.carries(octets) {
                decision.omit(name, .octetsNotCarried)
            } else {
                request.setField(name, octets)
                decision.names.append(name)
            }
        }
        if !settings.authorization.isEmpty {
            switch try authorization(of: request, in: context, now: now) {
            case .success(let fields):
                for field in fields {
                    request.setField(field.name, field.octets)
                    decision.names.append(field.name)
                }
            case .failure(let reason):
                decision.omit(.authorization, reason)
            }
        }
        return decision
    }

    /// The Authorization field, with the proof that a bound token needs, or why there is none.
    private func authorization<Request: DecoratableRequest>(
        of request: Request, in context: RequestContext, now: Timestamp
    ) throws(SessionStoreError) -> Result<[HTTPField], FieldOmissionReason> {
        if request.hasField(.authorization) { return .failure(.setByCaller) }
        guard let rule = settings.authorization.first(where: { $0.scope.contains(context.url) })
        else { return .failure(.outsideScope) }
        guard AuthorizationRule.isConfidential(context.url) else { return .failure(.insecureTransport) }
        // Who redirects chooses the URL. A token that came along would let any site act in the user's name.
        guard context.redirects.allSatisfy({ $0.isSameOrigin(as: context.url) })
        else { return .failure(.crossOriginRedirect) }
        guard let credential = try rule.credential(context.url) else { return .failure(.tokenMissing) }
        guard credential.tokens.validity(at: now.microseconds) != .expired else { return .failure(.tokenExpired) }
        var generator = SystemRandomNumberGenerator()
        let fields = try? credential.exposedFields(
            method: request.requestMethod, url: context.url.withoutQuery.description,
            nonce: settings.nonces.nonce(for: context.url.origin), now: now.microseconds, using: &generator)
        guard let fields else { return .failure(.tokenNotPresentable) }
        return .success(fields)
    }
}

extension FieldOmissionReason: Error {}
