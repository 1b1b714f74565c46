package import Vocabulary

/// What answers a call. A field that the other side does not send must be optional; one that it
/// sends in addition is ignored: so versions differ without harm.
package protocol CallReply: Sendable {
    static var output: [Interface.Argument] { get }

    init(_ values: [Value]) throws(ValueError)
    var values: [Value] { get throws(ValueError) }
}

extension CallReply where Self: Codable {
    package static var output: [Interface.Argument] { [Interface.Argument("result", "a{sv}")] }

    package init(_ values: [Value]) throws(ValueError) {
        self = try ValueDecoder().decode(Self.self, from: values.first ?? .null)
    }

    package var values: [Value] {
        get throws(ValueError) { [try ValueEncoder().encode(self)] }
    }
}

/// Done; there is nothing to say of it.
package struct Done: CallReply, Codable {
    package init() {}
}

/// The same where not even an empty map is sent.
package struct Nothing: CallReply {
    package static let output: [Interface.Argument] = []

    package init() {}
    package init(_ values: [Value]) throws(ValueError) {}
    package var values: [Value] { [] }
}

/// A report, and all that was sent with it: `--json` prints also what this version does not know.
@dynamicMemberLookup
package struct Reported<Content: Codable & Hashable & Sendable>: CallReply, Codable, Hashable {
    package let report: Content
    /// Nil: it was not sent, but made here.
    private let sent: Value?

    package init(_ report: Content) { (self.report, sent) = (report, nil) }

    package init(from decoder: any Decoder) throws {
        report = try Content(from: decoder)
        sent = try Value(from: decoder)
    }

    package func encode(to encoder: any Encoder) throws {
        guard let sent else { return try report.encode(to: encoder) }
        try sent.encode(to: encoder)
    }

    package subscript<Field>(dynamicMember field: KeyPath<Content, Field>) -> Field {
        report[keyPath: field]
    }
}

extension Array: CallReply where Element: CallReply & Codable {
    package static var output: [Interface.Argument] { [Interface.Argument("rows", "aa{sv}")] }
}

extension RequestedTask: CallReply {}
extension OpenedApp: CallReply {}
extension Greeting: CallReply {}
extension Limits: CallReply {}
extension Report.TransferProgress: CallReply {}

extension BegunTask: CallReply {
    package static var output: [Interface.Argument] {
        [Interface.Argument("task", "t"), Interface.Argument("result", "a{sv}")]
    }

    package init(_ values: [Value]) throws(ValueError) {
        guard let task = values.first?.integerValue else {
            throw ValueError(.missing, path: "task", "is missing")
        }
        self.init(task: task, deadline: values.last?["deadline"]?.doubleValue)
    }

    package var values: [Value] {
        [.integer(task), deadline.map { ["deadline": .double($0)] } ?? [:]]
    }
}

/// What an app submitted and has not accepted.
package struct PendingRequests: CallReply, Equatable {
    package static let output = [Interface.Argument("requests", "aa{sv}")]
    package var requests: [PendingRequest]

    package init(requests: [PendingRequest]) { self.requests = requests }

    package init(_ values: [Value]) throws(ValueError) {
        requests = try ValueDecoder().decode([PendingRequest].self, from: values.first ?? .null)
    }

    package var values: [Value] {
        get throws(ValueError) { [try ValueEncoder().encode(requests)] }
    }
}
