package import Vocabulary

/// What `offstage-wake` offers on the system bus.
package enum Wake1 {
    package static let busName = "org.offstage.Wake1"
    package static let path = "/org/offstage/Wake1"

    package static let setAlarm = Interface.Method(
        "SetAlarm",
        input: [Interface.Argument("boottime", "t")],
        "Wakes the machine at this time of CLOCK_BOOTTIME, in microseconds; 0: at none. It takes "
            + "the place of the caller's earlier alarm, and ends with the caller's connection."
    )
    package static let sleepAgain = Interface.Method(
        "SleepAgain",
        "Suspends the machine again, once, within 30 minutes after the caller's own alarm woke it. "
            + "What inhibits sleep is respected."
    )
    package static let interface = Interface(
        busName,
        documentation: "Wakes the machine for background work, and sends it back to sleep.",
        methods: [setAlarm, sleepAgain]
    )

    // Of polkit.
    package static let alarmAction = "org.offstage.wake1.set-alarm"
    package static let sleepAction = "org.offstage.wake1.sleep-again"

    // Names of errors.
    package static let notPermitted = busName + ".Error.NotPermitted"
    package static let noPolkit = busName + ".Error.NoPolkit"
    package static let unavailable = busName + ".Error.Unavailable"
    package static let refused = busName + ".Error.Refused"
    package static let failed = busName + ".Error.Failed"
}
