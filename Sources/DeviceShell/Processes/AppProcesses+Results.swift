internal import DeviceCore
internal import EventLoop
internal import Linux
internal import Vocabulary

/// What a run's result is read from: a file, or a program of the app's.
extension AppProcesses {
    func probe(
        _ id: LaunchID,
        _ step: ProbeStep,
        _ source: ResultSource,
        _ spec: ProcessSpec,
        limit: Interval
    ) {
        switch source {
        case .exit:
            report(id, .probed(step, .unreadable(reason: "nothing to read")))
        case .file(let path):
            report(id, .probed(step, ResultFile.read(path)))
        case .command:
            do throws(StartFailure) {
                try startProbe(id, step, spec, limit: limit)
            } catch {
                let answer: ProbeAnswer =
                    error.cause == .program ? .unreadable(reason: error.reason) : .notAsked(error)
                report(id, .probed(step, answer))
            }
        }
    }

    private func startProbe(
        _ id: LaunchID,
        _ step: ProbeStep,
        _ spec: ProcessSpec,
        limit: Interval
    ) throws(StartFailure) {
        let log: FileDescriptor
        do throws(LinuxError) {
            log = try openLog(spec.app)
        } catch {
            throw StartFailure(writing: error)
        }
        do throws(LinuxError) {
            try startProbe(id, step, spec, limit: limit, log: log)
        } catch {
            throw StartFailure(starting: error, spec)
        }
    }

    private func startProbe(
        _ id: LaunchID,
        _ step: ProbeStep,
        _ spec: ProcessSpec,
        limit: Interval,
        log: borrowing FileDescriptor
    ) throws(LinuxError) {
        var pipe = try Pipe()
        var program = try program(spec, id)
        program.output = pipe.writing?.number
        program.error = log.number
        let process = try control.join(id, program)
        let pid = process.pid
        let child = try ProcessSource(loop, child: process) { [unowned self] exit in
            finishProbe(id, pid: pid, exit)
        }
        pipe.writing = nil
        guard let output = pipe.reading.take() else { return }
        probes[id] = try ResultProbe(loop, step, child, output: output, limit: limit) {
            [unowned self] reason in
            cancelProbe(id)
            report(id, .probed(step, .unreadable(reason: reason)))
        }
    }

    private func finishProbe(_ id: LaunchID, pid: Int32, _ exit: ProcessExit) {
        guard probes[id]?.process.process.pid == pid, let probe = probes.removeValue(forKey: id)
        else {
            // One that was cancelled.
            others[pid] = nil
            return
        }
        switch exit {
        case .exited(let status):
            let answer = probe.finish().map { ProbeAnswer.read($0, status: status) }
            report(id, .probed(probe.step, answer ?? .unreadable(reason: "it printed too much")))
        case .signalled(let signal):
            report(
                id,
                .probed(probe.step, .unreadable(reason: "it was ended by \(Signal.name(signal))"))
            )
        case .unknown:
            report(id, .probed(probe.step, .unreadable(reason: "its exit was not observed")))
        }
    }

    func cancelProbes() { for id in probes.keys.sorted() { cancelProbe(id) } }

    func cancelProbe(_ id: LaunchID) {
        guard let process = probes.removeValue(forKey: id)?.process else { return }
        // With whatever it has started: while a result is read nothing else runs in a launch.
        ignoringGone { () throws(LinuxError) in try control.kill(id) }
        // It dies soon; until then its source must live, which reaps it.
        others[process.process.pid] = process
    }
}
