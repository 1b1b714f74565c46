import ExchangeCore
import Testing
import Vocabulary

/// What is offered to a server that may have changed since it was last heard.
struct InteropMemoryTests {
    private var memory = InteropMemory()

    private func order(_ interop: UploadInterop) -> UploadOrder {
        UploadOrder(
            url: "https://a.example/up",
            source: FileIdentity(size: 100, modified: 1, inode: 1),
            interop: interop
        )
    }

    private mutating func learn(_ interop: UploadInterop) {
        memory.learn(UploadResource(url: "https://a.example/made/1", interop: interop))
    }

    private func offered(_ interop: UploadInterop) -> UploadInterop {
        memory.applied(to: order(interop)).interop
    }

    @Test mutating func `what a server has spoken is offered at once`() {
        #expect(offered(.eight) == .eight)
        learn(.six)
        #expect(offered(.eight) == .six)
    }

    @Test mutating func `what the daemon orders after a failure counts`() {
        learn(.eight)
        #expect(offered(.eight) == .eight)
        #expect(offered(.six) == .six)
        memory.unlearn(order(.eight))
        #expect(offered(.six) == .six)
        learn(.six)
        #expect(offered(.eight) == .six)
    }

    /// The daemon takes it for a failure of its own first order.
    @Test mutating func `what has failed is not offered twice in a row`() {
        learn(.six)
        memory.unlearn(memory.applied(to: order(.eight)))
        #expect(offered(.six) == .eight)
        #expect(offered(.eight) == .eight)
    }

    @Test mutating func `a server that takes up nothing is forgotten`() {
        learn(.six)
        memory.unlearn(order(.eight))
        #expect(offered(.eight) == .six, "that was not offered")
        memory.unlearn(order(.six))
        memory.unlearn(order(.eight))
        #expect(memory == InteropMemory())
    }
}
