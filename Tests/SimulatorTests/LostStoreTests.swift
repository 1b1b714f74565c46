import DeviceCore
import Simulator
import TestKit
import Testing
import Vocabulary

/// A store that has lost what it had gets all of it again from the device.
struct LostStoreTests {
    private final class Notes {
        /// Of this life of the daemon: the rules do not look into a start that fails.
        var commits = 0
        var recovered = 0
    }

    /// Now and then the store has lost what it had, and always when it takes no writes.
    private struct Forgetful: SimulatedPort {
        var inner: VirtualPort
        let notes: Notes

        func commit(_ changes: [Change], _ durability: Durability) throws(CommitError) {
            notes.commits += 1
            if notes.commits % 20 == 0 { inner.world.storeTrouble = 2 }
            do throws(CommitError) {
                try inner.commit(changes, durability)
            } catch {
                throw CommitError(.gone, reason: error.reason)
            }
        }
        func commitAnew(
            _ records: [Record],
            with changes: [Change]
        ) throws(CommitError) {
            inner.world.storeTrouble = nil
            do throws(CommitError) {
                try inner.commitAnew(records, with: changes)
                notes.recovered += 1
            } catch {
                throw CommitError(.gone, reason: error.reason)
            }
        }
        func perform(_ effect: Effect) { inner.perform(effect) }
        func record(_ event: TimedEvent, _ decisions: [Effect]) {
            inner.record(event, decisions)
        }
        func recordRollback(of count: Int) { inner.recordRollback(of: count) }
    }

    @Test(arguments: Array(1...8) + FreshSeeds.seeds(1))
    func `nothing is lost or done twice by a store that is filled anew`(seed: UInt64) {
        let notes = Notes()
        var simulated = DeviceSimulation.make(
            DeviceSimulation.Plan(days: 4, apps: 16, seed: seed)
        ) {
            notes.commits = 0
            return Forgetful(inner: $0, notes: notes)
        }
        simulated.run(until: .days(4))
        if simulated.watch.violation == nil { simulated.replayLife() }
        let again = FreshSeeds.again("SimulatorTests.LostStoreTests")
        #expect(simulated.watch.violation?.text == nil, "\(again)")
        #expect(notes.recovered > 15, "\(again)")
    }
}
