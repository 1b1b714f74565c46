import CommandTable
import Vocabulary

/// Reading the maps with which the daemon answers (`DeviceCore/Reports`). A field that is absent,
/// or of another kind than this version knows, reads as nothing: a newer daemon may say more.
extension Value {
    func text(_ key: String) -> String { self[key]?.stringValue ?? "" }
    func number(_ key: String) -> Int64? { self[key]?.integerValue }
    func seconds(_ key: String) -> Double? { self[key]?.doubleValue }
    func flag(_ key: String) -> Bool { self[key]?.boolValue ?? false }
    func items(_ key: String) -> [Value] { self[key]?.listValue ?? [] }
    func texts(_ key: String) -> [String] { items(key).compactMap(\.stringValue) }
    func time(_ key: String) -> WallTime? {
        self[key]?.stringValue.flatMap(WallTime.init(rfc3339:))
    }

    /// A list, or nothing.
    var elements: [Value] { listValue ?? [] }
}

extension Invocation {
    /// As JSON, or as `text` shows it.
    func show(_ rows: [Value], _ text: ([Value]) -> Void) {
        show(.list(rows)) { _ in text(rows) }
    }

    func show<Reply: Encodable>(_ reply: Reply, _ text: (Reply) -> Void) throws(Failure) {
        do throws(ValueError) {
            show(try ValueEncoder().encode(reply)) { _ in text(reply) }
        } catch {
            throw Failure(.failed, "the reply cannot be printed: \(error)")
        }
    }

    /// The time of a field as text, or a dash.
    func timeText(_ report: Value, _ key: String) -> String {
        report.time(key).map { Times.text($0, at: console.now) } ?? "–"
    }
}
