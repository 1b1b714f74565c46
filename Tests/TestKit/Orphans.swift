import Linux

/// What tests leave behind when they kill a parent: its children come to us and are reaped.
package enum Orphans {
    /// Makes the test process the one that orphans below it come to. Process 1 of a container
    /// often reaps nobody; without this a dead orphan would look alive by its number.
    ///
    /// Not to be mixed with Swift Testing's exit tests: their monitor asks for any child that
    /// ended, and a dead orphan that nobody reaped is the answer for ever. What needs a process of
    /// its own has `ProcessPeer`.
    package static let areOurs: Bool = {
        do {
            try CurrentProcess.setSubreaper(true)
            return true
        } catch {
            return false
        }
    }()
}
