/// Which build this is; the daemon and the command line are of one build.
package enum Version {
    package static let number = "0.1.0"
    /// Decisions are only promised to be equal between equal builds: what decides is of the same
    /// source. Both programs of one tree have the same.
    package static var build: String { "offstage \(number) (core \(CoreIdentity.text))" }
}
