import Glibc
import Linux
import Vocabulary

/// How a command behaves.
enum Manner: String, CaseIterable, Hashable, Sendable {
    case quick, busy
    /// Leaves a child behind, in its own session.
    case forks
    /// Leaves one behind that has a session of its own: only a cgroup holds that together.
    case leaves
    case fails, crashes
    /// Asks to be run again the first time.
    case again
    /// Takes longer than processing may, the first time.
    case slow
    /// Takes a while, and does not mind SIGTERM.
    case ignores
    /// Has no end of its own.
    case long
    /// The same, and does not mind SIGTERM.
    case stubborn
    /// Says again and again that it runs, for a while.
    case ticks

    /// Whether only a cancel ends it.
    var isEndless: Bool { self == .long || self == .stubborn }
}

/// The command of the campaign: whatever it does, it writes into a journal that it began and ended.
enum Job {
    static let name = "job.sh"
    static let journal = "journal"

    static func command(_ manner: Manner, _ token: String) -> [String] {
        ["sh", name, manner.rawValue, token]
    }

    /// One write for each line, and no program started for it. When the process was made is the
    /// kernel's word: a line may be written long after that.
    static let script = #"""
        manner=$1 token=$2
        read -r stat < /proc/$$/stat
        set -- $stat
        start=${22}
        say() {
            read -r up rest < /proc/uptime
            echo "$1 $token $$ $start $up $2" >> journal
        }
        end() {
            trap '' TERM
            say e $1
            exit $1
        }
        case $manner in
        ignores | stubborn) trap '' TERM ;;
        *) trap 'say t; exit 143' TERM ;;
        esac
        say b
        case $manner in
        busy) sleep 0.1 ;;
        forks)
            sleep 1000 &
            (sleep 0.02; sleep 1000) &
            ;;
        leaves) setsid sleep 1000 & ;;
        fails) end 1 ;;
        crashes)
            say e 137
            kill -9 $$
            ;;
        again)
            [ -e "again.$token" ] || { : > "again.$token"; end 75; }
            ;;
        slow)
            [ -e "again.$token" ] || { : > "again.$token"; sleep 1000; }
            ;;
        ignores) sleep 0.2 ;;
        ticks) for tick in 1 2 3 4 5 6 7 8 9 10; do sleep 0.05; say k; done ;;
        long | stubborn) while :; do sleep 1; done ;;
        esac
        end 0
        """#

    static let probeName = "probe.sh"

    /// What came of a run is new each time.
    static let probe = #"""
        case $1 in hangs) sleep 1000 ;; esac
        read -r up rest < /proc/uptime
        echo "$up"
        """#
}

/// One process of a job, by its own words.
struct Run: Hashable, Sendable {
    var token: String
    var pid: Int32
    /// When the process was made, rounded down to a tick.
    var made: BootTime
    /// When it said that it begins.
    var began: BootTime
    /// When it said that it ends, and how.
    var ended: BootTime?
    var status: Int32?
    /// It was asked to end, and did.
    var wasStopped = false
    /// When it said that it runs.
    var ticks: [BootTime] = []

    static let tick = Interval(
        nanoseconds: 1_000_000_000 / Int64(max(1, sysconf(Int32(_SC_CLK_TCK))))
    )

    /// Reads a journal; lines of unknown form are returned beside.
    static func read(_ journal: String) -> (runs: [Run], odd: [String]) {
        var runs: [Run] = []
        var places: [String: Int] = [:]
        var odd: [String] = []
        for line in journal.split(separator: "\n") {
            let words = line.split(separator: " ").map(String.init)
            guard words.count >= 5, let pid = Int32(words[2]), let ticks = Int64(words[3]),
                let time = seconds(words[4])
            else {
                odd.append(String(line))
                continue
            }
            let key = "\(pid) \(ticks)"
            switch (words[0], places[key]) {
            case ("b", nil), ("t", nil):
                places[key] = runs.count
                let made = BootTime(nanoseconds: 0) + tick * ticks
                var run = Run(token: words[1], pid: pid, made: made, began: time)
                // It may be stopped before it has said that it began.
                run.wasStopped = words[0] == "t"
                runs.append(run)
            case ("e", let place?) where words.count == 6 && runs[place].ended == nil:
                runs[place].ended = time
                runs[place].status = Int32(words[5])
            case ("k", let place?):
                runs[place].ticks.append(time)
            case ("t", let place?):
                runs[place].wasStopped = true
            default:
                odd.append(String(line))
            }
        }
        return (runs.sorted { ($0.made, $0.pid) < ($1.made, $1.pid) }, odd)
    }

    /// `1122.49`, as the kernel prints the time since boot.
    private static func seconds(_ text: String) -> BootTime? {
        let parts = text.split(separator: ".").compactMap { Int64($0) }
        guard parts.count == 2 else { return nil }
        return BootTime(nanoseconds: 0) + .seconds(parts[0]) + .milliseconds(parts[1] * 10)
    }
}
