import ExchangeCore
import Testing
import Vocabulary

struct HostQueueTests {
    private var queues = HostQueues()

    private mutating func add(
        _ id: UInt64,
        _ host: String = "a",
        connections: Int64 = 1,
        limit: Int64? = 2
    ) -> Bool {
        queues.add(TransferID(id), to: host, connections: connections, limit: limit)
    }

    private mutating func remove(_ id: UInt64) -> [UInt64] {
        queues.remove(TransferID(id)).map(\.number)
    }

    @Test mutating func `a host answers so many, and the others in the order of arrival`() {
        let first = (1...5).map { add($0) }
        #expect(first == [true, true, false, false, false])
        #expect(remove(2) == [3])
        #expect(remove(1) == [4])
        #expect(remove(3) == [5])
        #expect(remove(4).isEmpty && remove(5).isEmpty)
        let next = (6...8).map { add($0) }
        #expect(next == [true, true, false])
    }

    @Test mutating func `hosts do not wait for each other`() {
        for id: UInt64 in 1...3 { _ = add(id, "a") }
        let other = add(4, "b")
        #expect(other)
        #expect(remove(4).isEmpty)
        #expect(remove(1) == [3])
    }

    @Test mutating func `what gives up while it waits makes no room`() {
        for id: UInt64 in 1...4 { _ = add(id) }
        #expect(remove(3).isEmpty)
        #expect(remove(3).isEmpty)
        #expect(remove(1) == [4])
        #expect(remove(2).isEmpty && remove(4).isEmpty)
    }

    @Test mutating func `several connections of one count, and may be more than there is room for`()
    {
        let begun = [add(1), add(2, connections: 4), add(3)]
        #expect(begun == [true, true, false])
        #expect(remove(1).isEmpty)
        #expect(remove(2) == [3])
    }

    @Test mutating func `connections that are not needed make room for others`() {
        let begun = [add(1, connections: 2), add(2), add(3)]
        #expect(begun == [true, false, false])
        #expect(queues.waiting.map(\.number) == [2, 3])
        #expect(queues.keep(TransferID(1), connections: 1).map(\.number) == [2])
        #expect(queues.keep(TransferID(1), connections: 2).isEmpty)
        #expect(remove(1) == [3])
        #expect(queues.waiting.isEmpty)
    }

    @Test mutating func `a higher limit lets several begin`() {
        for id: UInt64 in 1...2 { _ = add(id) }
        let late = [add(3, limit: 4), add(4, limit: 4), add(5)]
        #expect(late == [true, true, false])
        // Behind one that waits nobody goes first.
        let last = add(6, limit: nil)
        #expect(!last)
        #expect(remove(1).isEmpty && remove(2).isEmpty)
        #expect(remove(3) == [5, 6])
    }
}
