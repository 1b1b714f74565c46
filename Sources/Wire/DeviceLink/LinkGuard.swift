/// Which frame of a device may come when, on the gateway's side of one link.
///
/// The order is: challenge, hello, (its signature is verified), welcome, anything else.
package struct LinkGuard: Sendable {
    private enum State: Sendable {
        case challenged(nonce: [UInt8])
        case proving
        case open
    }

    private var state: State

    /// What is to be done about a frame.
    package enum Action: Hashable, Sendable {
        /// Verify `hello.signature` over `LinkFormat.proof(challenge:binding:)`, then say `proved`.
        case verify(DeviceFrame.Hello, challenge: [UInt8])
        case take(DeviceFrame)
    }

    /// `nonce` is that of the challenge that was sent, used for no other link.
    package init(nonce: [UInt8]) { state = .challenged(nonce: nonce) }

    package var isOpen: Bool {
        switch state {
        case .open: true
        case .challenged, .proving: false
        }
    }

    package mutating func received(_ frame: DeviceFrame) throws(LinkError) -> Action {
        switch (state, frame) {
        case (.challenged(let nonce), .hello(let hello)):
            guard hello.version == LinkFormat.version else { throw .badVersion }
            state = .proving
            return .verify(hello, challenge: nonce)
        case (.challenged, .end), (.open, .end): return .take(frame)
        case (.open, .hello), (.challenged, _), (.proving, _): throw .outOfOrder
        case (.open, _): return .take(frame)
        }
    }

    /// The signature was checked. A hello serves once: after this no other is taken.
    package mutating func proved(_ isGenuine: Bool) throws(LinkError) {
        guard case .proving = state else { throw .outOfOrder }
        guard isGenuine else { throw .badSignature }
        state = .open
    }
}
