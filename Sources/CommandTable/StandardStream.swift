internal import Glibc
import Linux

/// Standard output or standard error.
struct StandardStream {
    let number: Int32

    static let output = StandardStream(number: 1)
    static let errors = StandardStream(number: 2)

    /// Writes all of it. What cannot be written ends the program: whoever reads a cut-off answer
    /// must not take it for the whole one.
    func write(_ bytes: [UInt8], _ program: String) {
        let descriptor = FileDescriptor(owning: number)
        do {
            try descriptor.writeAll(bytes.span)
            // The stream is not ours to close.
            _ = descriptor.release()
        } catch {
            _ = descriptor.release()
            // `| head` has seen enough: nothing has gone wrong.
            if number == Self.output.number, error.errno == .pipe {
                try? CurrentProcess.end(by: Signal.pipe)
                exit(128 + Signal.pipe)
            }
            if number == Self.output.number {
                let text = "\(program): cannot write: \(error.errno.text)\n"
                Self.errors.write(Array(text.utf8), program)
            }
            exit(Failure.Code.failed.rawValue)
        }
    }
}
