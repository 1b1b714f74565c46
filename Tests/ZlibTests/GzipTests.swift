import TestKit
import Testing
import Zlib

struct GzipTests {
    private let scratch = ScratchDirectory()
    private let text = Array(
        String(repeating: "user,kind,app,start,duration_s\n", count: 9999).utf8
    )

    @Test
    func `what gzip compressed comes back`() throws {
        let packed = try scratch.compressed(text)
        #expect(Gzip.isCompressed(packed))
        #expect(packed.count < text.count / 10)
        #expect(try Gzip.decompress(packed, limit: text.count) == text)
        #expect(try Gzip.decompress(try scratch.compressed([]), limit: 0) == [])
    }

    @Test
    func `a file of several members is one text`() throws {
        let packed = try scratch.compressed(text) + scratch.compressed([1, 2, 3])
        #expect(try Gzip.decompress(packed, limit: 1 << 20) == text + [1, 2, 3])
    }

    @Test
    func `damage is told from an early end, and more than the limit is refused`() throws {
        let packed = try scratch.compressed(text)
        func kind(_ bytes: [UInt8], limit: Int = 1 << 20) -> ZlibError.Kind? {
            do throws(ZlibError) {
                _ = try Gzip.decompress(bytes, limit: limit)
                return nil
            } catch {
                return error.kind
            }
        }
        #expect(kind(Array(packed.dropLast(9))) == .truncated)
        #expect(kind([]) == .truncated)
        #expect(kind(Array("plain text".utf8)) == .corrupt)
        var damaged = packed
        damaged[packed.count - 5] ^= 1
        #expect(kind(damaged) == .corrupt)
        #expect(kind(packed, limit: text.count - 1) == .tooLarge)
    }
}
