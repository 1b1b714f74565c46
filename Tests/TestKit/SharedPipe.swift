package import Linux

/// A pipe that may be shared.
package final class SharedPipe: Sendable {
    package let reading: FileDescriptor
    package let writing: FileDescriptor

    package init() throws {
        var pipe = try Pipe()
        guard let reading = pipe.reading.take(), let writing = pipe.writing.take() else {
            fatalError("a pipe has two ends")
        }
        self.reading = reading
        self.writing = writing
    }
}
