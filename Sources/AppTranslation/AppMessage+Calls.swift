package import AppProtocol
package import DeviceCore
internal import Vocabulary

/// What an app answers to a call of the daemon's.
package enum AppAnswer: Equatable, Sendable {
    case done
    case refused(String)
    /// The connection was lost before.
    case lost
}

/// What the core says to an app, as a call to the app's object, and what the app's answer is to the
/// core.
extension AppMessage {
    package var call: AppObject1 {
        switch self {
        case .offer(let delivery, let offer):
            .offer(
                AppObject1.Offer {
                    ($0.delivery, $0.kind) = (delivery, Word(text: offer.kind.rawValue))
                    ($0.identifier, $0.payload) = (offer.identifier, offer.payload)
                }
            )
        case .go(let delivery, let end):
            .go(
                AppObject1.Go {
                    ($0.delivery, $0.deadline) = (delivery, end.monotonicSeconds)
                }
            )
        case .expire(let delivery, let reason, let end):
            .expire(
                AppObject1.Expire {
                    ($0.delivery, $0.reason) = (delivery, Word(reason))
                    $0.deadline = end.monotonicSeconds
                }
            )
        case .expireTask(let task, _, let reason, let end):
            .expireTask(
                AppObject1.ExpireTask {
                    ($0.task, $0.reason) = (task, Word(reason))
                    $0.deadline = end.monotonicSeconds
                }
            )
        case .didEnterBackground(let end, let work): enterBackground(end, work)
        case .willEnterForeground: .enterForeground(AppObject1.EnterForeground())
        case .didBecomeActive: .becomeActive(AppObject1.BecomeActive())
        case .openURLs(let opening):
            .openURLs(
                AppObject1.OpenURLs { ($0.opening, $0.urls) = (opening.number, opening.urls) }
            )
        case .memoryWarning(let memory, let limit):
            .memoryWarning(
                AppObject1.MemoryWarning { ($0.memory, $0.memoryLimit) = (memory, limit) }
            )
        case .refreshChanged(let status):
            .changed(AppObject1.Changed { $0.backgroundRefresh = Word(status) })
        case .conditionsChanged(let conditions):
            .conditionsChanged(AppObject1.ConditionsChanged { $0.conditions = conditions })
        case .taskEnded(_, let session, let end):
            .taskEnded(AppObject1.TaskEnded { ($0.session, $0.end) = (session, end) })
        case .taskProgress(let session, let progress):
            .taskProgressed(
                AppObject1.TaskProgressed { ($0.session, $0.progress) = (session, progress) }
            )
        case .taskAsked(_, let session, let question):
            .taskAsked(AppObject1.TaskAsked { ($0.session, $0.question) = (session, question) })
        }
    }

    private func enterBackground(_ end: AwakeTime, _ work: [DeliveryEnd]) -> AppObject1 {
        .enterBackground(
            AppObject1.EnterBackground {
                $0.deadline = end.monotonicSeconds
                let ends = work.compactMap { work in
                    work.end.monotonicSeconds.map {
                        AppObject1.Work(work.delivery, deadline: $0)
                    }
                }
                if !ends.isEmpty { $0.work = ends }
            }
        )
    }

    /// Whether the core waits for the answer.
    package var isAnswered: Bool {
        switch self {
        case .offer, .didEnterBackground, .openURLs, .taskEnded: true
        case .go, .expire, .expireTask, .willEnterForeground, .didBecomeActive, .memoryWarning,
            .refreshChanged, .conditionsChanged, .taskProgress, .taskAsked:
            false
        }
    }

    /// What the app's answer is to the core; nil: it says nothing.
    package func event(_ answer: AppAnswer) -> AppEvent? {
        switch (self, answer) {
        case (.offer(let delivery, _), .done): .accepted(delivery)
        case (.offer(let delivery, _), .refused(let reason)):
            .declined(delivery, reason: String(reason.prefix(Self.reasonLimit)))
        case (.didEnterBackground, .done), (.didEnterBackground, .refused): .enteredBackground
        // One that does not know the call never opens them.
        case (.openURLs(let opening), .done), (.openURLs(let opening), .refused):
            .openedURLs(opening.number)
        case (.taskEnded(let id, _, _), .done): .acknowledged(id)
        case (_, .lost): nil
        // What was refused is told again when the app has joined again.
        case (.taskEnded, .refused), (.taskProgress, _), (.taskAsked, _), (.go, _), (.expire, _),
            (.expireTask, _), (.willEnterForeground, _),
            (.didBecomeActive, _), (.memoryWarning, _), (.refreshChanged, _),
            (.conditionsChanged, _):
            nil
        }
    }

    /// Of an app's own words in a reason.
    private static let reasonLimit = 200
}
