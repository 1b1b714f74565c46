import DeviceCore
import DeviceShell
import Linux
import TestKit
import Testing
import Vocabulary

/// The write-ahead log, which has its usual size from the beginning.
struct StoreLogTests {
    private let scratch = ScratchDirectory()
    private var path: String { scratch("offstage.db") }
    private var logSize: Int64? { Files.status(path + "-wal")?.size }

    @Test func commitsOverwriteTheLogInsteadOfGrowingIt() throws {
        let store = try Store(path: path)
        let size = try #require(logSize)
        #expect(size > 1 << 20)
        for number in 0..<500 as Range<Int64> { try store.commit([.put(.app("app", number))]) }
        #expect(logSize == size)
        withExtendedLifetime(store) {}
    }

    @Test func aTurnLargerThanTheLogIsStoredAllTheSame() throws {
        let count: Int64 = 10_000
        let text = String(repeating: "x", count: 200)
        do {
            let store = try Store(path: path)
            let size = try #require(logSize)
            try store.commit((0..<count).map { .put(.app("app\($0)", $0, text: text)) })
            #expect(try #require(logSize) > size)
        }
        #expect(try Store(path: path).load().count == count)
    }

    @Test(.enabled(if: SmallDisk.isPossible, "needs root and mount"))
    func aDiskWithoutRoomForTheLogHasRoomForACommit() throws {
        let disk = try #require(SmallDisk(at: scratch.path, megabytes: 1))
        defer { disk.unmount() }
        let store = try Store(path: path)
        #expect(try #require(logSize) < 1 << 20)
        try store.commit([.put(.app("app", 1))])
        #expect(try store.load().count == 1)
    }
}
