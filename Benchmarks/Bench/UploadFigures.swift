import TestKit

/// Uploads beside curl, to one nginx, in turns (docs/benchmarks.md, Transfers).
struct UploadFigures {
    private static let rounds = 5

    func small() throws -> [Figure] {
        let web = try BenchWeb()
        let names = (0..<TransferFigures.smallFiles).map { "small-\($0)" }
        for name in names { try web.put(name, bytes: TransferFigures.smallBytes) }
        return try [false, true].flatMap { secure in
            let uploads = names.map {
                (file: web.path($0), url: web.intake($0, secure: secure))
            }
            return try small(uploads, web, secure ? "HTTP/2 with TLS" : "HTTP/1.1")
        }
    }

    private func small(
        _ uploads: [TransferPeer.Upload],
        _ web: BenchWeb,
        _ name: String
    ) throws -> [Figure] {
        let curl = try TransferPeer("curl", in: BenchWeb.memory, trusting: web.certificate)
        var (ours, theirs, processor, other) = ([Double](), [Double](), [Double](), [Double]())
        for _ in 0..<Self.rounds {
            let daemon = try TransferDaemon(in: BenchWeb.memory, trusting: web.certificate)
            let before = try daemon.processorSeconds()
            ours.append(try daemon.secondsToEnd { try daemon.enqueue(uploads) })
            processor.append(try daemon.processorSeconds() - before)
            guard try web.taken() == uploads.count else {
                throw DidNotHappen(description: "\(uploads.count) files: \(try web.taken())")
            }
            try web.forgetTaken()
            let cost = try curl.run(uploads) { try web.taken() }
            theirs.append(cost.seconds)
            other.append(cost.processor)
            try web.forgetTaken()
        }
        let words = "\(uploads.count) files of 20 KB sent over \(name)"
        return [
            Figure(
                name: "\(words), time",
                unit: "s",
                ours: ours.median,
                peer: theirs.median,
                peerName: "curl --parallel",
                limit: .ratio(1.25)
            ),
            Figure(
                name: "\(words), processor",
                unit: "s",
                ours: processor.median,
                peer: other.median,
                peerName: "curl"
            ),
        ]
    }
}
