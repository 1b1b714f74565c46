import Curl
import EventLoop
import Linux
import Vocabulary
import Wire

/// `offstage-net`: the process that talks to servers. `offstaged` starts it, tells it over a socket
/// what to fetch, and hands it open files; it knows no app, no store and no path.
package enum NetworkProgram {
    private static let usage = """
        usage: offstage-net
        Fetches files for offstaged, which starts it when there is something to fetch. There is
        nothing to do by hand: "offstage download URL" asks for a file.

        """
    /// Where the socket to the daemon is.
    private static let socket: Int32 = 3

    package static func main(_ words: [String]) -> Int32 {
        guard words.isEmpty, CurrentProcess.environment("OFFSTAGE_NET") == "1" else {
            let isHelp = words == ["--help"]
            say(usage, to: isHelp ? 1 : 2)
            return isHelp ? 0 : 2
        }
        do {
            // A server that hangs up is no reason to end.
            try CurrentProcess.ignore(signal: Signal.pipe)
            // A buffer of each request comes and goes; the process itself goes when it is idle.
            CurrentProcess.keepFreeMemory(ofBlocksUpTo: 1 << 20, total: 8 << 20)
            // Before any thread, and before anything is read.
            let sandbox = try Sandbox()
            let loop = try EventLoop()
            let socket = PacketSocket(
                FileDescriptor(owning: socket),
                limit: NetworkFormat.messageBytes
            )
            let service = try NetworkService(loop, socket, sandbox)
            while try loop.runTurn() { try service.turnEnded() }
            return service.problem == nil ? 0 : report(service.problem ?? "")
        } catch {
            return report("\(error)")
        }
    }

    private static func report(_ problem: String) -> Int32 {
        say("offstage-net: \(problem)\n", to: 2)
        return 1
    }

    private static func say(_ text: String, to number: Int32) {
        let descriptor = FileDescriptor(owning: number)
        // Nobody can be told that nobody can be told.
        try? descriptor.writeAll(text)
        _ = descriptor.release()
    }
}
