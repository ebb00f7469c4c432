/// Who plays a peer's part in a subject: mostly the peer's own driver with the subject's own name.
struct Role: Sendable {
    let peer: Peer
    /// The driver.
    let program: String
    /// What the driver calls its part; `nil` for the subject's name.
    let part: String?

    init(_ peer: Peer, program: String? = nil, part: String? = nil) {
        self.peer = peer
        self.program = program ?? peer.program
        self.part = part
    }
}
