package import SessionWire

extension SessionRequest where Answer == GatewayList {
    /// The gateways that the caller can see.
    package static func gateways() -> Self {
        Self(.listGateways)
    }
}

extension SessionRequest where Answer == GatewayReport {
    /// A gateway, with the requests and events that have passed through it.
    package static func gateway(_ name: String) -> Self {
        Self(.showGateway, name)
    }

    /// Starts a gateway, unless it runs already.
    package static func startGateway(_ name: String, _ document: GatewayDocument) -> Self {
        Self(.startGateway, name, document: document)
    }
}

extension SessionRequest where Answer == Void {
    /// Stops a gateway.
    package static func stopGateway(_ name: String) -> Self {
        Self(.stopGateway, name)
    }
}

extension SessionRequest where Answer == GatewayRequestList {
    /// A page of the requests that have passed through a gateway.
    package static func gatewayRequests(_ name: String, after position: Int64? = nil, limit: Int? = nil) -> Self {
        Self(
            .listGatewayRequests, name,
            query: [("after", position.map(String.init)), ("limit", limit.map(String.init))])
    }
}

extension SessionRequest where Answer == SessionBytes {
    /// The requests that pass through a gateway, and the events that pages send, as server-sent events.
    package static func gatewayEvents(_ name: String, after position: Int64? = nil) -> Self {
        Self(
            .followGateway, name, query: [("after", position.map(String.init))],
            accept: "text/event-stream")
    }
}
