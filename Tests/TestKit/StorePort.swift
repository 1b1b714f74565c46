package import DeviceCore
package import DeviceShell
import Vocabulary

/// What a driver needs of the world when only its store is real. Nil: nothing is kept.
package struct StorePort: DevicePort {
    private let store: Store?

    package init(_ store: Store?) { self.store = store }

    package mutating func commit(
        _ changes: [Change],
        _ durability: Durability
    ) throws(CommitError) {
        do throws(StoreError) {
            try store?.commit(changes, durability)
        } catch {
            throw CommitError(error)
        }
    }

    package mutating func commitAnew(
        _ records: [Record],
        with changes: [Change]
    ) throws(CommitError) {
        do throws(StoreError) {
            try store?.commitAnew(records, with: changes)
        } catch {
            throw CommitError(error)
        }
    }

    package mutating func record(_ event: TimedEvent, _ decisions: [Effect]) {}
    package mutating func recordRollback(of count: Int) {}
}
