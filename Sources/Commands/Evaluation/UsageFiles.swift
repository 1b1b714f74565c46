import CommandTable
import Linux
import Simulator
import Vocabulary
import Zlib

/// The logs that `evaluate` reads.
extension OffstageProgram {
    /// The logs of all people in the files that `--usage` names.
    static func usageLogs(_ invocation: Invocation) throws(Failure) -> [UserLog] {
        let operands = invocation.options.operands
        guard invocation.options.has("usage") || !operands.isEmpty else {
            throw Failure(
                .usage,
                "evaluate: no logs are named",
                fix: "Name them with --usage."
            )
        }
        var paths: [String] = []
        for pattern in [invocation.options["usage"]].compactMap(\.self) + operands {
            // As other programs have it: a log that comes by a pipe.
            let matches = pattern == "-" ? [input] : Files.matching(pattern)
            guard !matches.isEmpty else {
                throw Failure(.notFound, "\(pattern.quoted) matches no file")
            }
            if let folder = matches.first(where: { Files.status($0)?.kind == .directory }) {
                throw noFile(folder, pattern)
            }
            paths += matches
        }
        var logs: [UserLog] = []
        for path in paths { logs += try usageLogs(in: path) }
        return logs
    }

    /// A folder was named: which pattern names its files.
    private static func noFile(_ folder: String, _ pattern: String) -> Failure {
        let base = pattern.hasSuffix("/") ? String(pattern.dropLast()) : pattern
        let below = ["/*/events.csv.gz", "/events.csv.gz", "/*.csv.gz", "/*.csv"].map { base + $0 }
        let fitting = below.first { !Files.matching($0).isEmpty } ?? base + "/*.csv"
        return Failure(
            .failed,
            "\(folder) is a directory, and --usage takes files",
            fix: "Name what is in it, as in --usage '\(fitting)'."
        )
    }

    private static let input = "/dev/stdin"

    private static func usageLogs(in path: String) throws(Failure) -> [UserLog] {
        let limit = 1 << 30
        let kind = Files.status(path)?.kind
        guard kind != .other, kind != .socket else {
            throw Failure(
                .failed,
                "\(path) is neither a file nor a pipe, so it holds no log",
                fix: "Name a file with --usage."
            )
        }
        var text: [UInt8]
        do throws(LinuxError) {
            text =
                kind == .pipe
                ? try Files.read(path, limit: limit) : try Files.readRegular(path, limit: limit)
        } catch {
            throw Failure(.failed, "\(path) cannot be read: \(error)")
        }
        do throws(ZlibError) {
            if Gzip.isCompressed(text) { text = try Gzip.decompress(text, limit: limit) }
        } catch {
            throw Failure(.failed, "\(path) cannot be read: \(error.kind.explanation)")
        }
        do throws(UsageLogError) {
            return try UserLog.read(text, data: dataName(of: path))
        } catch {
            throw Failure(.failed, "\(path), line \(error.line): \(error.reason)")
        }
    }

    /// The folder that a file is in, as logs are kept; of a file without one its own name.
    private static func dataName(of path: String) -> String {
        if Files.status(path)?.kind == .pipe { return "pipe" }
        let folder = Files.name(of: Files.directory(of: path))
        let name = Files.name(of: path)
        let isNamed = name.hasPrefix("events.") && !folder.isEmpty && folder != "."
        return isNamed ? folder : String(name.prefix { $0 != "." })
    }
}

extension ZlibError.Kind {
    fileprivate var explanation: String {
        switch self {
        case .corrupt: "it is damaged"
        case .truncated: "it ends too soon"
        case .tooLarge: "it is larger than 1 GiB"
        case .noMemory: "memory is low"
        }
    }
}
