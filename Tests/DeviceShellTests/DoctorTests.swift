import DeviceCore
@testable import DeviceShell
import Linux
import Testing
import Vocabulary

struct DoctorTests {
    @Test func `what is missing for memory pressure is told by why it is refused`() {
        func fix(_ errno: Errno) -> String {
            Doctor.pressureFix(LinuxError("write", "/proc/pressure/memory", errno))
        }
        #expect(fix(.permission).contains("Linux 6.5"))
        #expect(fix(.access).contains("Linux 6.5"))
        #expect(fix(.noEntry).contains("psi=1"))
        #expect(fix(.notSupported).contains("psi=1"))
    }

    /// What is wrong is said with what is lost, and with what helps.
    @Test func `who wakes the machine, and who sends it back to sleep, is told`() {
        func check(_ own: Bool, _ clock: Bool, _ helper: Check.Helper?) -> Check {
            .waking(byOwnAlarm: own, hasClock: clock, helper: helper)
        }
        func helper(
            _ problem: String?,
            asked: Bool = true,
            _ cause: Check.Helper.Cause = .other
        ) -> Check.Helper {
            Check.Helper(
                share: "/usr/share",
                isAsked: asked,
                problem: problem.map { Check.Helper.Problem($0, cause) }
            )
        }
        let bad = [
            check(false, false, nil), check(false, true, nil), check(true, true, nil),
            check(false, true, helper("polkit does not permit it", .refused)),
            check(true, true, helper("the time is over")),
            check(false, true, helper("polkit does not answer", .noPolkit)),
        ]
        for check in bad {
            #expect(!check.isGood && check.lost != nil && check.fix != nil, "\(check.found)")
        }
        #expect(bad[2].lost?.contains("stays awake after work") == true)
        #expect(bad[3].fix?.contains("polkit-1/rules.d") == true)
        #expect(bad[5].fix == "as root: apt install polkitd")
        #expect(check(false, true, helper(nil)).found == "offstage-wake")
        let unasked = check(false, true, helper(nil, asked: false))
        #expect(unasked.isGood && unasked.found.contains("asked when"))
    }
}
