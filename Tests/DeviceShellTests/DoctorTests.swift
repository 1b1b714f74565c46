@testable import DeviceShell
import Linux
import Testing

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
}
