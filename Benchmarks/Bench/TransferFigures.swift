import AppProtocol
import Linux
import TestKit

/// Downloads beside curl and aria2c, from one nginx, in turns (docs/benchmarks.md, Transfers).
struct TransferFigures {
    /// Of the large file; the environment may make it smaller, for a first look.
    static let largeBytes =
        (CurrentProcess.environment("TRANSFER_MIB").flatMap { Int($0) } ?? 2048) << 20
    static let largeName = "large"
    static let smallFiles = 5_000
    static let smallBytes = 20_000
    private static let secureServers = 40
    private static let rounds = 5

    /// The same files, where they go and how.
    private struct Setting {
        var name: String
        var parent: String
        var secure: Bool
        /// Peers sync what they wrote; ours is durable anyway.
        var syncs: Bool
        /// A file with whom all trust; nil: the server alone.
        var authorities: String?
    }

    /// Of all rounds.
    private struct Times {
        var wall: [Double] = []
        var processor: [Double] = []
    }

    private struct Measured {
        var ours = Times()
        var curl = Times()
        var aria2 = Times()
        /// Only of many files that go to memory.
        var pair = Times()
        var megabytes: [Double] = []
        fileprivate var kept: [Any] = []
    }

    /// Many files on a disk are kept until all has been measured (`Measured.kept`): ext4 without a
    /// journal gives no inode again that was freed within the last minute, and looks at each of
    /// those for every new file. That took most of the time of a round that followed the removal of
    /// another's files.
    private func measure(
        _ setting: Setting,
        _ web: BenchWeb,
        _ urls: [String],
        rounds: Int,
        _ run: (TransferDaemon, [String]) throws -> Double
    ) throws -> Measured {
        let trusted = setting.authorities ?? web.certificate
        let curl = try TransferPeer("curl", in: setting.parent, trusting: trusted)
        let aria2 = try TransferPeer("aria2c", in: setting.parent, trusting: trusted)
        let pair = try TransferPeer(TransferPeer.pair, in: setting.parent, trusting: trusted)
        var measured = Measured()
        for _ in 0..<rounds {
            let daemon = try TransferDaemon(in: setting.parent, trusting: trusted)
            let before = try daemon.processorSeconds()
            measured.ours.wall.append(try run(daemon, urls))
            measured.ours.processor.append(try daemon.processorSeconds() - before)
            measured.megabytes.append(try daemon.peakMegabytes())
            if setting.syncs, urls.count > 1 {
                try daemon.daemon.kill()
                measured.kept.append(daemon)
            } else {
                try daemon.clear()
            }
            var peers = [(curl, \Measured.curl), (aria2, \Measured.aria2)]
            if urls.count > Self.secureServers, !setting.syncs {
                peers.append((pair, \Measured.pair))
            }
            for (peer, times) in peers {
                let cost = try peer.run(urls, syncs: setting.syncs)
                measured[keyPath: times].wall.append(cost.seconds)
                measured[keyPath: times].processor.append(cost.processor)
            }
        }
        measured.kept += [curl, aria2]
        return measured
    }

    private func compared(
        _ name: String,
        _ ours: [Double],
        _ peer: [Double],
        _ peerName: String,
        _ limit: Double?
    ) -> Figure {
        Figure(
            name: name,
            unit: "s",
            ours: ours.median,
            peer: peer.median,
            peerName: peerName,
            limit: limit.map { .ratio($0) }
        )
    }

    // MARK: One large file

    func large() throws -> [Figure] {
        let web = try BenchWeb()
        try web.put(Self.largeName, bytes: Self.largeBytes)
        let memory = Setting(name: "tmpfs", parent: BenchWeb.memory, secure: false, syncs: false)
        let disk = Setting(name: "disk", parent: BenchWeb.disk, secure: false, syncs: true)
        let secure = Setting(
            name: "tmpfs, TLS",
            parent: BenchWeb.memory,
            secure: true,
            syncs: false
        )
        return try large(memory, web, rounds: Self.rounds, isLimited: true)
            + large(secure, web, rounds: Self.rounds, isLimited: true)
            + large(disk, web, rounds: 3, isLimited: false)
    }

    private func large(
        _ setting: Setting,
        _ web: BenchWeb,
        rounds: Int,
        isLimited: Bool
    ) throws -> [Figure] {
        let url = web.url(Self.largeName, secure: setting.secure)
        let measured = try measure(setting, web, [url], rounds: rounds) { daemon, urls in
            let line = try daemon.newestLine()
            var ids: [Int64] = []
            let time = try timed {
                ids = try daemon.enqueue(urls)
                // It has its name shortly before that is committed.
                while !Files.exists(daemon.path(Self.largeName)) { pause(milliseconds: 2) }
                try daemon.wait(for: 1, since: line)
            }
            try daemon.checkFinished(ids)
            return time / 1e9
        }
        let name = "\(Self.largeBytes >> 20) MiB to \(setting.name)"
        let (ours, curl, aria2) = (measured.ours, measured.curl, measured.aria2)
        let peer = setting.syncs ? "curl + sync -f" : "curl"
        let other = setting.syncs ? "aria2c + sync -f" : "aria2c"
        return [
            compared("\(name), time", ours.wall, curl.wall, peer, isLimited ? 1.05 : nil),
            compared("\(name), time", ours.wall, aria2.wall, other, isLimited ? 1 : nil),
            compared(
                "\(name), processor",
                ours.processor,
                curl.processor,
                "curl",
                isLimited ? 1.15 : nil
            ),
            Figure(
                name: "\(name), peak memory of both processes",
                unit: "MB",
                ours: measured.megabytes.max() ?? 0,
                limit: .atMost(40)
            ),
        ]
    }

    // MARK: Many small files

    func small() throws -> [Figure] {
        let web = try BenchWeb()
        let names = (0..<Self.smallFiles).map { "small-\($0)" }
        for name in names { try web.put(name, bytes: Self.smallBytes) }
        var figures: [Figure] = []
        var kept: [Any] = []
        for (place, parent) in [("tmpfs", BenchWeb.memory), ("disk", BenchWeb.disk)] {
            for secure in [false, true] {
                let setting = Setting(
                    name: "\(place), \(secure ? "HTTP/2 with TLS" : "HTTP/1.1")",
                    parent: parent,
                    secure: secure,
                    syncs: parent == BenchWeb.disk
                )
                let urls = names.map { web.url($0, secure: secure) }
                let measured = try measure(setting, web, urls, rounds: Self.rounds) {
                    daemon,
                    urls in
                    try daemon.secondsToEnd { try daemon.enqueue(urls) }
                }
                figures += small(setting, measured)
                kept += measured.kept
            }
        }
        return figures
    }

    private func small(_ setting: Setting, _ measured: Measured) -> [Figure] {
        let name = "\(Self.smallFiles) files of 20 KB to \(setting.name)"
        let (ours, curl, aria2) = (measured.ours, measured.curl, measured.aria2)
        let sync = setting.syncs ? " + sync -f" : ""
        return [
            compared(
                "\(name), time",
                ours.wall,
                curl.wall,
                "curl --parallel" + sync,
                setting.syncs ? 1 : 1.25
            ),
            compared("\(name), time", ours.wall, aria2.wall, "aria2c" + sync, 1),
            compared("\(name), processor", ours.processor, curl.processor, "curl", nil),
        ] + least(name, measured)
    }

    /// How far the limit is from what two processes need that do no more than they must.
    private func least(_ name: String, _ measured: Measured) -> [Figure] {
        let (ours, pair) = (measured.ours.wall, measured.pair.wall)
        guard !pair.isEmpty else { return [] }
        return [
            compared("\(name), time", ours, pair, "two bare processes", nil),
            compared(
                "\(name), time of two bare processes",
                pair,
                measured.curl.wall,
                "curl --parallel",
                nil
            ),
        ]
    }

    // MARK: Many servers

    /// The feeds of a reader: one file of each server, none of which is known yet.
    func servers() throws -> [Figure] {
        let web = try BenchWeb(secureServers: Self.secureServers)
        var urls: [String] = []
        for number in 0..<Self.secureServers {
            try web.put("feed-\(number)", bytes: Self.smallBytes)
            urls.append(web.secureURLs("feed-\(number)")[number])
        }
        let setting = Setting(
            name: "tmpfs",
            parent: BenchWeb.memory,
            secure: true,
            syncs: false,
            authorities: try web.certificateWithAuthorities()
        )
        let measured = try measure(setting, web, urls, rounds: Self.rounds) { daemon, urls in
            try daemon.secondsToEnd { try daemon.enqueue(urls) }
        }
        let name = "a file of 20 KB from each of \(Self.secureServers) servers with TLS"
        let (ours, curl, aria2) = (measured.ours, measured.curl, measured.aria2)
        return [
            compared("\(name), processor", ours.processor, curl.processor, "curl --parallel", 1),
            compared("\(name), processor", ours.processor, aria2.processor, "aria2c", nil),
            compared("\(name), time", ours.wall, curl.wall, "curl --parallel", nil),
            Figure(
                name: "\(name), peak memory of both processes",
                unit: "MB",
                ours: measured.megabytes.max() ?? 0
            ),
        ]
    }
}
