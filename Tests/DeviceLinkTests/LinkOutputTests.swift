import DeviceLink
import Testing
import Wire

struct LinkOutputTests {
    /// The frames that wait.
    private func frames(_ output: inout LinkOutput) throws -> [DeviceFrame] {
        var frames: [DeviceFrame] = []
        var reader = FrameReader<DeviceFrame>()
        try reader.read(output.waiting()[...]) { frames.append($0) }
        return frames
    }

    @Test func `acknowledgements in a row are one frame, and overtake nothing`() throws {
        var output = LinkOutput()
        output.append(.acknowledge([1]))
        output.append(.acknowledge([2]))
        output.append(.decline(3))
        output.append(.acknowledge([4]))
        output.append(.acknowledge([5, 6]))
        let expected: [DeviceFrame] = [
            .acknowledge([1, 2]), .decline(3), .acknowledge([4, 5, 6]),
        ]
        #expect(try frames(&output) == expected)
        output.sent(output.waiting().count)
        #expect(output.waiting().isEmpty)
    }

    @Test func `a frame acknowledges no more than the other side reads`() throws {
        var output = LinkOutput()
        let most = UInt64(LinkFormat.mostInList)
        for sending in 0..<most + 1 { output.append(.acknowledge([sending])) }
        #expect(
            try frames(&output) == [.acknowledge(Array(0..<most)), .acknowledge([most])]
        )
    }

    @Test func `what went is gone, and the rest stands`() {
        var output = LinkOutput()
        output.append(.opened(1))
        output.append(.opened(2))
        let whole = output.waiting()
        output.sent(1)
        output.append(.opened(3))
        #expect(output.waiting() == Array(whole.dropFirst()) + DeviceFrame.opened(3).bytes)
    }
}
