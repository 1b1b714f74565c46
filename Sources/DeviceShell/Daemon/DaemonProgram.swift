internal import AppProtocol
internal import EventLoop
internal import Linux
internal import Vocabulary

/// `offstaged`, from its arguments to its exit status.
package enum DaemonProgram {
    /// The most memory that the daemon's heap may take: the last bound, far above what it needs and
    /// what all peers together can make it hold.
    private static let heapLimit: UInt64 = 120 << 20

    package static func main(_ arguments: [String]) -> Int32 {
        if arguments.first == "--keeper" { return Keeper.main(arguments) }
        do throws(DaemonError) {
            switch try DaemonOptions.read(arguments) {
            case .show(let text):
                print(text, terminator: "")
                return 0
            case .run(let options):
                try run(options)
                return 0
            }
        } catch {
            DaemonLog.write("\(error)", named: error.exitStatus != 2)
            return error.exitStatus
        }
    }

    private static func run(_ options: DaemonOptions) throws(DaemonError) {
        let data: ResourceLimit
        do throws(LinuxError) {
            try CurrentProcess.block(signals: [
                Signal.terminate, Signal.interrupt, Signal.hangUp, Signal.child, Signal.pipe,
            ])
            data = try ResourceLimit(current: .data)
            try ResourceLimit(.data, soft: min(heapLimit, data.hard), hard: data.hard).apply()
        } catch {
            throw .system(error)
        }
        Clocks.readZone()
        let daemon = try Daemon(
            options.paths,
            scope: options.scope,
            only: options.step,
            isClockVirtual: options.isClockVirtual,
            childLimits: [data]
        )
        try daemon.listen()
        try daemon.run()
    }
}
