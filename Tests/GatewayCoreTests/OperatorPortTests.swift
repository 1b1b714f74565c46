import GatewayCore
import Testing
import Vocabulary

/// What the operator is told, and who may ask.
struct OperatorPortTests {
    private static func at(_ seconds: Int64) -> BootTime {
        BootTime(nanoseconds: seconds * 1_000_000_000)
    }

    @Test func `who waits for long makes room, and 64 may wait`() {
        var door = OperatorDoor()
        for number in 1...64 {
            let arrival = door.arrived(number, at: Self.at(0))
            #expect(arrival.isTaken && arrival.closed == [])
        }
        let full = door.arrived(65, at: Self.at(10))
        #expect(!full.isTaken && full.closed == [])
        door.left(1)
        let next = door.arrived(66, at: Self.at(10))
        #expect(next.isTaken && next.closed == [])
        let late = door.arrived(67, at: Self.at(11))
        #expect(late.isTaken && late.closed == Array(2...64), "66 came later")
    }

    @Test func `health is the store's and the certificate's, until the end`() {
        func health(_ isEnding: Bool, _ store: String?, _ certificate: String?) -> GatewayHealth {
            GatewayHealth(
                isEnding: isEnding,
                storeProblem: store,
                certificateProblem: certificate
            )
        }
        #expect(health(false, nil, nil) == .serving)
        #expect(health(false, nil, "expired") == .failing("expired"))
        #expect(health(false, "full", "expired") == .failing("full"))
        #expect(health(true, "full", "expired") == .ending)
        #expect(health(true, "full", nil).reason == nil)
        #expect(health(false, "full", nil).word == "failing")
    }

    @Test func `a certificate is good in its time, and a warning comes 14 days before its end`() {
        let (start, day) = (Int64(1_700_000_000), Int64(86_400))
        let validity = CertificateValidity(start...(start + 30 * day))
        func wall(_ second: Int64) -> WallTime { WallTime(nanoseconds: second * 1_000_000_000) }
        #expect(validity.problem(at: wall(start - 1)) == "the certificate is not valid yet")
        #expect(validity.problem(at: wall(start)) == nil)
        #expect(validity.warning(at: wall(start + 15 * day)) == nil)
        let warning = validity.warning(at: wall(start + 16 * day))
        #expect(warning == "the certificate expires in 14 days")
        #expect(validity.problem(at: wall(start + 30 * day)) == nil)
        #expect(validity.problem(at: wall(start + 30 * day + 1)) == "the certificate has expired")
        #expect(validity.daysLeft(at: wall(start + 40 * day)) == 0)
        let unread = CertificateValidity(nil)
        #expect(unread.end == 0 && unread.problem(at: wall(0)) != nil)
    }
}
