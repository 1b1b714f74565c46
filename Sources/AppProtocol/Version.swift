/// Which build this is; the daemon and the command line are of one build.
package enum Version {
    package static let number = "0.1.0"
    /// Decisions are only promised to be equal between equal builds.
    package static var build: String { "offstage \(number)" }
}
