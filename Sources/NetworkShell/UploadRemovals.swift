import Curl
import ExchangeCore
import Vocabulary

/// What servers are asked to forget: each is asked once, a few at a time.
struct UploadRemovals {
    private var waiting: [UploadRemoval] = []
    /// How many of them have been asked for.
    private var first = 0
    private var running: [CurlRequest] = []

    private static let mostRunning = 4
    /// More are left to the servers, which forget by themselves.
    private static let mostWaiting = 4096

    var isEmpty: Bool { first == waiting.count && running.isEmpty }

    mutating func add(_ removal: UploadRemoval) {
        if first == waiting.count { (waiting, first) = ([], 0) }
        guard waiting.count < Self.mostWaiting else { return }
        waiting.append(removal)
    }

    /// Nil: there is none, or enough are on their way.
    mutating func next() -> CurlRequest.Options? {
        guard first < waiting.count, running.count < Self.mostRunning else { return nil }
        let removal = waiting[first]
        first += 1
        var options = CurlRequest.Options(url: removal.resource.url)
        options.set(removal.fields)
        options.method = .plain("DELETE")
        options.proxy = removal.proxy
        return options
    }

    mutating func began(_ request: CurlRequest) { running.append(request) }

    /// False: it was none of these.
    mutating func ended(_ request: CurlRequest) -> Bool {
        guard let index = running.firstIndex(where: { $0 === request }) else { return false }
        running.remove(at: index)
        return true
    }
}
