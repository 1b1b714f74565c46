import Linux

/// What tests leave behind when they kill a parent: its children come to us and are reaped.
package enum Orphans {
    /// Makes the test process the one that orphans below it come to. Process 1 of a container
    /// often reaps nobody; without this a dead orphan would look alive by its number.
    package static let areOurs: Bool = {
        do {
            try CurrentProcess.setSubreaper(true)
            return true
        } catch {
            return false
        }
    }()
}
