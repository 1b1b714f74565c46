package import Vocabulary

/// The history stores a mistake as a sentence.
extension AppMistake {
    /// What it is about follows, where it is about something.
    package var summary: String {
        switch self {
        case .noHandler: "no handler registered for "
        case .noExpirationHandler: "its time was over, and it had no expiration handler"
        case .finishedTwice: "reported the end of launching twice"
        case .completedTwice: "completed twice, or never delivered: "
        case .notPermitted: "submitted what its manifest does not permit: "
        case .registeredLate: "registered a handler after launching had ended: "
        case .registeredTwice: "registered a second handler: "
        case .registeredUnpermitted: "registered a handler for what its manifest does not permit: "
        case .completedAgain: "called a completion a second time: "
        case .letGo: "released without completing it: "
        }
    }

    /// The mistake that a sentence of the history is about.
    static func told(in text: String) -> (mistake: AppMistake, subject: String?)? {
        guard let mistake = allCases.first(where: { text.hasPrefix($0.summary) }) else {
            return nil
        }
        let subject = text.dropFirst(mistake.summary.count)
        return (mistake, subject.isEmpty ? nil : String(subject))
    }
}

/// One that is in the history, and is not written there again.
struct ReportedMistake: Hashable, Sendable, Codable {
    var mistake: AppMistake
    var subject: String
}

extension Device {
    /// Once for each mode or identifier, and not for too many: an app that does it again and again
    /// fills no history.
    mutating func recordMistake(
        _ mistake: AppMistake,
        _ subject: String,
        app index: Int,
        _ transition: inout Transition
    ) {
        let reported = ReportedMistake(mistake: mistake, subject: subject)
        guard !apps[index].mistakes.contains(reported),
            apps[index].mistakes.count(where: { $0.mistake == mistake }) < 16
        else { return }
        apps[index].mistakes.append(reported)
        appendHistory(.note(mistake.summary + subject), app: index, &transition)
    }
}
