internal import CLinux

/// Which system calls a process may make from some point on, decided by the kernel (seccomp). Rules
/// are asked in their order; a call that none of them is about is refused with `EPERM`.
package struct CallFilter: Sendable {
    package enum Verdict: Equatable, Sendable {
        case allow
        case refuse(Errno)
        /// Ends the whole process with `SIGSYS`.
        case kill
    }

    /// Of an argument by its number: its low 32 bits under the mask are one of the values.
    package struct Condition: Sendable {
        var argument: Int
        var mask: UInt32
        var values: [UInt32]

        package static func argument(
            _ number: Int,
            is values: UInt32...,
            mask: UInt32 = .max
        ) -> Condition {
            Condition(argument: number, mask: mask, values: values)
        }

        package static func argument(_ number: Int, isWithout bits: UInt32) -> Condition {
            Condition(argument: number, mask: bits, values: [0])
        }
    }

    private struct Rule {
        let conditions: [Condition]
        let verdict: Verdict
    }

    /// Calls that have rules, in the order of their first one.
    private var calls: [UInt32] = []
    private var rules: [UInt32: [Rule]] = [:]
    /// Names that this machine, or this build, knows no call of.
    package private(set) var unknown: [String] = []

    package init() {}

    /// Whether this kernel has filters, and we know the numbers of its calls.
    package static var isAvailable: Bool { clinux_can_filter_calls() == 1 }

    /// `verdict` for these calls if all conditions hold; else the next rule of the same call is
    /// asked.
    package mutating func add(_ verdict: Verdict, _ names: String..., when: Condition...) {
        for name in names {
            let number = unsafe clinux_call_number(name)
            guard number >= 0 else {
                unknown.append(name)
                continue
            }
            let call = UInt32(number)
            if rules[call] == nil { calls.append(call) }
            rules[call, default: []].append(Rule(conditions: when, verdict: verdict))
        }
    }

    /// For good, for all threads of this process and all that they start. The process must have
    /// given up new privileges.
    package func install() throws(LinuxError) {
        let steps = steps
        try check(unsafe clinux_filter_calls(steps, steps.count), "seccomp")
    }

    // MARK: The program

    /// Offsets in what the kernel hands a filter: the call, the machine, the arguments.
    private static let call: UInt32 = 0
    private static let machine: UInt32 = 4
    private static func low(_ argument: Int) -> UInt32 { UInt32(16 + 8 * argument) }

    private var steps: [clinux_filter_step] {
        var steps: [clinux_filter_step] = [
            .load(Self.machine), .skip(0, 1, ifNot: clinux_filter_machine()), .end(.kill),
            .load(Self.call),
        ]
        // Calls of another kind on the same machine, with numbers of their own (x32).
        steps += [.skipUnlessAtLeast(0x4000_0000, 1), .end(.kill)]
        for call in calls {
            let body = (rules[call] ?? []).flatMap(Self.steps) + [.end(.refuse(.permission))]
            steps.append(.skip(body.count, 0, ifNot: call))
            steps += body
        }
        return steps + [.end(.refuse(.permission))]
    }

    private static func steps(of rule: Rule) -> [clinux_filter_step] {
        var steps: [clinux_filter_step] = [.end(rule.verdict)]
        for condition in rule.conditions.reversed() {
            var tests: [clinux_filter_step] = [.load(low(condition.argument))]
            if condition.mask != .max { tests.append(.and(condition.mask)) }
            for (index, value) in condition.values.enumerated() {
                let left = condition.values.count - 1 - index
                // None of the values: the rule does not hold.
                tests.append(.skip(left == 0 ? steps.count : 0, left, ifNot: value))
            }
            steps = tests + steps
        }
        return steps
    }
}

extension clinux_filter_step {
    fileprivate static func load(_ offset: UInt32) -> Self {
        Self(code: 0x20, if_true: 0, if_false: 0, value: offset)
    }

    fileprivate static func and(_ mask: UInt32) -> Self {
        Self(code: 0x54, if_true: 0, if_false: 0, value: mask)
    }

    /// Skips `other` steps if what was loaded is not `value`, else `same` steps.
    fileprivate static func skip(_ other: Int, _ same: Int, ifNot value: UInt32) -> Self {
        Self(code: 0x15, if_true: UInt8(same), if_false: UInt8(other), value: value)
    }

    fileprivate static func skipUnlessAtLeast(_ value: UInt32, _ count: UInt8) -> Self {
        Self(code: 0x35, if_true: 0, if_false: count, value: value)
    }

    fileprivate static func end(_ verdict: CallFilter.Verdict) -> Self {
        let answer: UInt32 =
            switch verdict {
            case .allow: 0x7fff_0000
            case .refuse(let errno): 0x0005_0000 | UInt32(errno.number)
            case .kill: 0x8000_0000
            }
        return Self(code: 0x06, if_true: 0, if_false: 0, value: answer)
    }
}
