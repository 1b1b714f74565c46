import AppProtocol
import CommandTable
import Linux
import Testing
import Vocabulary

@testable import Commands

/// A daemon that goes away while transfers are looked at: waited for once, and said once.
struct TransferWatchTests {
    /// One transfer in this state is the answer, or there is none.
    enum Turn {
        case state(TransferStanding)
        case lost(Failure.Loss)
    }

    /// The last turn is taken again and again.
    private final class Turning: Control {
        private var turns: [Turn]

        init(_ turns: [Turn]) { self.turns = turns }

        func send(_ call: EncodedCall) throws(Failure) -> [Value] {
            switch turns.count > 1 ? turns.removeFirst() : turns[0] {
            case .state(let state):
                var transfer = Report.Transfer()
                (transfer.id, transfer.state, transfer.file) = (TransferID(1), Word(state), "a")
                transfer.sentence = "transfer 1 is \(state.rawValue)."
                if state == .finished {
                    transfer.ended = Report.Time(rawValue: "2026-03-03T12:00:00+01:00")
                }
                guard call.method == Control1.TransferProgress.name else {
                    return (try? ListedTransfers([1]) { _ in [transfer] }.values) ?? []
                }
                return (try? Report.TransferProgress(of: [transfer]).values) ?? []
            case .lost(let loss):
                throw Failure(.notRunning, "the daemon is lost", fix: "Start it.", loss: loss)
            }
        }
    }

    private func watch(
        _ turns: [Turn],
        ids: [Int64]? = nil,
        isSeen: Bool = false,
        patience: Interval = .milliseconds(20)
    ) throws -> (errors: String, failure: Failure?) {
        let control = Turning(turns)
        var errors: [UInt8] = []
        let console = Console(
            width: nil,
            isColored: false,
            errorsAreSeen: isSeen,
            now: TestTerminal().now,
            output: { _ in },
            errors: { errors += $0 }
        )
        let invocation = Invocation(
            options: try Options([], []),
            console: console,
            connect: { () throws(Failure) -> any Control in control },
            patience: Patience(limit: patience)
        )
        let interrupted = try EventCounter()
        var failure: Failure?
        do throws(Failure) {
            _ = try TransferWatch(invocation, ids).follow(interrupted.descriptor.number)
        } catch {
            failure = error
        }
        return (String(decoding: errors, as: UTF8.self), failure)
    }

    private static let waiting = "offstage: transfer 1 (a) is waiting.\n"
    private static let asking = "offstage: the daemon is lost; asking again, for "

    @Test(arguments: [Failure.Loss.unanswered, .connecting, .absent])
    func `one that does not come again is waited for once`(loss: Failure.Loss) throws {
        let (errors, failure) = try watch([.state(.waiting), .lost(loss), .lost(.absent)])
        #expect(errors == Self.waiting + Self.asking + "20ms at most\n")
        let message = try #require(failure?.message)
        #expect(message.hasPrefix("the daemon is lost; "), "\(message)")
        #expect(message.hasSuffix("; the transfers go on with the next daemon"), "\(message)")
        #expect(failure?.fix == "Start it." && failure?.code == .notRunning)
    }

    @Test func `one that was not there is waited for only by who was given numbers`() throws {
        let (errors, failure) = try watch([.lost(.absent)])
        #expect(errors == "" && failure?.message == "the daemon is lost")
        let turns: [Turn] = [.lost(.absent), .state(.finished)]
        let known = try watch(turns, ids: [1], patience: .minutes(9))
        let told = "offstage: transfer 1 (a) is finished.\n"
        #expect(known.errors == Self.asking + "9m at most\n" + told && known.failure == nil)
    }

    @Test func `who waits and sees no terminal is told of each transfer and each reason`() throws {
        let turns: [Turn] = [.state(.waiting), .state(.finished)]
        let (errors, failure) = try watch(turns, ids: [1])
        let end = "offstage: transfer 1 (a) is finished.\n"
        #expect(errors == Self.waiting + end && failure == nil)
    }

    /// Rows that are drawn again are drawn over those before them.
    @Test func `what is said is not drawn over`() throws {
        let (errors, failure) = try watch(
            [.state(.waiting), .lost(.unanswered), .state(.waiting), .state(.finished)],
            isSeen: true,
            patience: .minutes(9)
        )
        #expect(failure == nil)
        let said = Self.asking + "9m at most\n"
        let parts = errors.split(separator: said, omittingEmptySubsequences: false)
        try #require(parts.count == 2, "\(errors.debugDescription)")
        #expect(parts[0].hasPrefix("\r\u{1B}[K") && parts[1].hasPrefix("\r\u{1B}[K"))
        #expect(parts[1].contains("\u{1B}[1A\r"), "\(errors.debugDescription)")
    }
}
