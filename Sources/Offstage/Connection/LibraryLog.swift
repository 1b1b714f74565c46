internal import Foundation

/// What the library has to say to the app's developer: a line on standard error, which the daemon
/// keeps with the app's output.
enum LibraryLog {
    static func write(_ text: String) {
        // A closed or full standard error is no reason to fail.
        try? FileHandle.standardError.write(contentsOf: Data("Offstage: \(text)\n".utf8))
    }
}
