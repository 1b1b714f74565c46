import Vocabulary

/// How many transfers there are, and how many bytes what is said of them takes: by those who asked
/// for them, and by servers.
struct TransferSize: Hashable, Sendable {
    var count = 0
    var bytes = 0

    static func + (left: Self, right: Self) -> Self {
        Self(count: left.count + right.count, bytes: left.bytes + right.bytes)
    }

    static func - (left: Self, right: Self) -> Self {
        Self(count: left.count - right.count, bytes: left.bytes - right.bytes)
    }

    /// There is room for the other in it.
    func holds(_ other: Self) -> Bool { count >= other.count && bytes >= other.bytes }

    /// Of each the smaller one.
    func atMost(_ other: Self) -> Self {
        Self(count: min(count, other.count), bytes: min(bytes, other.bytes))
    }

    /// Of each the larger one.
    func atLeast(_ other: Self) -> Self {
        Self(count: max(count, other.count), bytes: max(bytes, other.bytes))
    }
}

/// The sizes of all transfers together. Counted as they come, change and go: there are thousands.
struct TransferSizes: Hashable, Sendable {
    private(set) var all = TransferSize()
    private var apps: [Int: TransferSize] = [:]

    /// Of one app, by its index.
    subscript(_ app: Int) -> TransferSize { apps[app] ?? TransferSize() }

    mutating func add(_ size: TransferSize, of app: Int) {
        all = all + size
        let sum = self[app] + size
        apps[app] = sum == TransferSize() ? nil : sum
    }
}

extension Transfer {
    var size: TransferSize { TransferSize(count: 1, bytes: textBytes) }

    var textBytes: Int {
        var bytes = order.textBytes + (task?.textBytes ?? 0)
        bytes += (answer?.textBytes ?? 0) + (modified?.utf8.count ?? 0)
        bytes += resume?.textBytes ?? 0
        bytes += formers.reduce(0) { $0 + $1.utf8.count }
        bytes += upload?.resource?.url.utf8.count ?? 0
        if case .unauthorized(let answer)? = question?.kind { bytes += answer.textBytes }
        return bytes
    }
}

extension TransferOrder {
    var textBytes: Int {
        var bytes = url.utf8.count + headers.textBytes + directory.utf8.count
        bytes += (name?.utf8.count ?? 0) + (proxy?.utf8.count ?? 0)
        return (credentials?.paths ?? []).reduce(bytes) { $0 + $1.utf8.count }
    }
}

extension SessionTask {
    var textBytes: Int {
        let bytes = session.utf8.count + (description?.utf8.count ?? 0)
        guard let original else { return bytes }
        return bytes + original.url.utf8.count + original.headers.textBytes
    }
}

extension FetchedPart {
    fileprivate var textBytes: Int {
        let head = (head?.url?.utf8.count ?? 0) + (head?.fields.textBytes ?? 0)
        let validator = point.validator
        return validator.text.utf8.count + (validator.coding?.utf8.count ?? 0) + head
    }
}

extension ExchangeAnswer {
    fileprivate var textBytes: Int {
        url.utf8.count + headers.textBytes + (body?.array.count ?? 0)
    }
}

extension [HTTPField] {
    /// What a field takes in memory beside its text.
    private static var overhead: Int { 64 }

    fileprivate var textBytes: Int {
        reduce(0) { $0 + Self.overhead + $1.name.utf8.count + $1.value.utf8.count }
    }
}
