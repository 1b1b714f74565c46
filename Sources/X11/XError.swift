/// Why an X server does not tell of input.
package enum XError: Error, Hashable, Sendable, CustomStringConvertible {
    /// libxcb or libxcb-sync is not installed.
    case noLibrary
    /// Nobody answers, or not to us.
    case noServer(display: String)
    /// It has no counter of idle time.
    case noIdleTime(display: String)
    case noMemory

    package var description: String {
        switch self {
        case .noLibrary: "libxcb.so.1 and libxcb-sync.so.1 are not installed"
        case .noServer(let display): "no X server answers at \(display)"
        case .noIdleTime(let display): "the X server at \(display) counts no idle time"
        case .noMemory: "no memory"
        }
    }
}
