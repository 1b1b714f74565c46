import EventLoop
import Linux
import TestKit
import Testing

/// Many descriptors are found by one look; each handler must see the world as it is by then.
struct DescriptorSourceTests {
    let loop: EventLoop

    init() throws { loop = try EventLoop() }

    /// With a byte in it that nobody reads, or empty.
    final class OpenPipe {
        let reading: FileDescriptor
        let writing: FileDescriptor

        init(ready: Bool = true) throws {
            var pipe = try Pipe()
            guard let reading = pipe.reading.take(), let writing = pipe.writing.take() else {
                throw DidNotHappen(description: "a pipe")
            }
            self.reading = reading
            self.writing = writing
            if ready { try self.writing.writeAll("x") }
        }
    }

    enum Change: CaseIterable {
        case dropped, stilled, waitsForOthers, replaced
    }

    @Test(arguments: Change.allCases)
    func `what was found for a source is forgotten when an earlier handler changes it`(
        change: Change
    ) throws {
        let pipes = try (0..<3).map { _ in try OpenPipe() }
        let empty = try (0..<3).map { _ in try OpenPipe(ready: false) }
        var sources: [DescriptorSource?] = []
        var fired: [Int] = []
        for number in 0..<3 {
            let descriptor = pipes[number].reading.number
            let source = try DescriptorSource(loop, descriptor, .readable) { [loop] _ in
                fired.append(number)
                guard fired.count == 1 else { return }
                for other in 0..<3 where other != number {
                    switch change {
                    case .dropped: sources[other] = nil
                    case .stilled: try? sources[other]?.setEnabled(false)
                    case .waitsForOthers: try? sources[other]?.setEvents(.writable)
                    case .replaced:
                        sources[other] = nil
                        let descriptor = empty[other].reading.number
                        sources[other] = try? DescriptorSource(loop, descriptor, .readable) { _ in
                            fired.append(100)
                        }
                    }
                }
            }
            sources.append(source)
        }
        #expect(try loop.runReady(limit: 6) == 6)
        #expect(fired == Array(repeating: fired[0], count: 6))
    }

    @Test func `those that are ready take turns when a turn has no room for all`() throws {
        let pipes = try (0..<10).map { _ in try OpenPipe() }
        var counts = Array(repeating: 0, count: 10)
        let sources = try pipes.indices.map { number in
            try DescriptorSource(loop, pipes[number].reading.number, .readable) { _ in
                counts[number] += 1
            }
        }
        for _ in 0..<5 { #expect(try loop.runTurn(limit: 4)) }
        #expect(counts == Array(repeating: 2, count: 10))
        for source in sources { try source.setEnabled(false) }
        #expect(try loop.runReady() == 0)
    }

    @Test func `one that is always ready is served once a turn if each is to be`() throws {
        let pipes = try (0..<3).map { _ in try OpenPipe() }
        var counts = Array(repeating: 0, count: 3)
        var late = 0
        let sources = try pipes.indices.map { number in
            try DescriptorSource(loop, pipes[number].reading.number, .readable) { _ in
                counts[number] += 1
            }
        }
        let other = try DeferredSource(loop) { late += 1 }
        for _ in 0..<5 { #expect(try loop.runTurn(limit: 64, once: true)) }
        #expect(counts == [5, 5, 5] && late == 1)
        #expect(try loop.runTurn(limit: 64))
        #expect(counts.reduce(0, +) == 15 + 64)
        for source in sources { try source.setEnabled(false) }
        try other.setEnabled(false)
    }

    @Test func `nothing that was found runs after exit`() throws {
        let pipes = try (0..<3).map { _ in try OpenPipe() }
        var count = 0
        let sources = try pipes.map { [loop] pipe in
            try DescriptorSource(loop, pipe.reading.number, .readable) { _ in
                count += 1
                loop.exit()
            }
        }
        #expect(try !loop.runTurn())
        #expect(count == 1 && sources.count == 3)
    }

    @Test func `a source that is on again is told what it missed`() throws {
        let pipe = try OpenPipe()
        var count = 0
        let source = try DescriptorSource(loop, pipe.reading.number, []) { _ in count += 1 }
        #expect(try loop.runReady() == 0)
        try source.setEnabled(false)
        try source.setEvents(.readable)
        #expect(try loop.runReady() == 0)
        try source.setEnabled(true)
        #expect(try loop.runReady(limit: 2) == 2)
        #expect(count == 2)
    }
}
