import Offstage

@MainActor
class TideTable: NSObject {
    private let file = FileManager.default
        .urls(for: .applicationSupportDirectory, in: .userDomainMask)[0]
        .appendingPathComponent("com.example.tides.txt")
    private let address = URL(
        string: ProcessInfo.processInfo.environment["TIDES"] ?? "https://tides.example/today.txt"
    )
    private var lines: [Substring] = []
    private var observer: (any NSObjectProtocol)?

    var next: String? { lines.first.map(String.init) }

    override init() {
        super.init()
        read()
        observer = NotificationCenter.default.addObserver(
            forName: UIApplication.willEnterForegroundNotification,
            object: nil,
            queue: .main
        ) { [weak self] _ in
            MainActor.assumeIsolated { self?.read() }
        }
    }

    func read() {
        lines = (try? String(contentsOf: file, encoding: .utf8).split(separator: "\n")) ?? []
    }

    func update() async -> Bool {
        guard let address else { return false }
        do {
            try (try await Self.download(address)).write(to: file)
            read()
            print("\(lines.count) tides")
            return true
        } catch {
            print("no tides: \(error.localizedDescription)")
            return false
        }
    }

    /// Tides that are over; a line begins with its time.
    func removeOld() {
        let now = ISO8601DateFormatter().string(from: Date())
        lines.removeAll { $0.prefix(now.count) < now }
        try? lines.joined(separator: "\n").write(to: file, atomically: true, encoding: .utf8)
    }
}
