internal import Foundation

extension NSError {
    /// What `userInfo` says of a refusal: the reason as it goes on after a colon, and the same as a
    /// sentence, which is `localizedDescription`.
    static func userInfo(of reason: String) -> [String: Any] {
        let sentence = reason.prefix(1).uppercased() + reason.dropFirst()
        let isOver = sentence.hasSuffix(".") || sentence.isEmpty
        return [
            NSLocalizedFailureReasonErrorKey: reason,
            NSLocalizedDescriptionKey: sentence + (isOver ? "" : "."),
        ]
    }
}
