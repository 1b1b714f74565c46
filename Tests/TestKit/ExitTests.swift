import Linux

/// Exit tests wait for any child of the process, and so for the orphans of other suites, without
/// end: they run in a process of their own (`scripts/test`).
package enum ExitTests {
    package static var areRun: Bool { CurrentProcess.environment("OFFSTAGE_EXIT_TESTS") == "1" }
}
