import DeviceCore
@testable import DeviceShell
import Testing
import Vocabulary

/// What apps get of the environment.
struct EnvironmentTests {
    private func build(
        _ own: [String],
        passing names: [String] = [],
        setting variables: [EnvironmentVariable] = [],
        ours: [EnvironmentVariable] = []
    ) -> [String] {
        let spec = ProcessSpec(
            app: AppID("app"),
            arguments: ["true"],
            environment: variables,
            passEnvironment: names
        )
        return AppEnvironment.build(spec, from: own, ours: ours)
    }

    @Test func `names of ours have our values, whatever was asked for, and no others pass`() {
        let own = ["PATH=/bin", "OFFSTAGE_SOCKET=/daemon", "OFFSTAGE_NEW=1", "OFFICE=2"]
        let ours = [EnvironmentVariable(name: "OFFSTAGE_APP", value: "app")]
        let set = ["OFFSTAGE_APP", "OFFSTAGE_REASON", "A"].map {
            EnvironmentVariable(name: $0, value: "theirs")
        }
        #expect(
            build(own, passing: ["*", "OFFSTAGE_*"], setting: set, ours: ours)
                == ["PATH=/bin", "OFFICE=2", "A=theirs", "OFFSTAGE_APP=app"]
        )
    }

    @Test func `a name with a star passes all that begin so, and no others`() {
        let own = ["PATH=/bin", "GTK_THEME=dark", "GTK=1", "GT=0", "SECRET=x", "A*=star"]
        #expect(build(own, passing: ["GTK*"]) == ["PATH=/bin", "GTK_THEME=dark", "GTK=1"])
        #expect(build(own, passing: ["GT"]) == ["PATH=/bin", "GT=0"])
        #expect(build(own).count == 1)
    }

    @Test func `what the session says of itself counts, and fills what the daemon has not`() {
        let own = ["PATH=/bin", "DISPLAY=:0", "A=own", "X=="]
        let session = ["DISPLAY=:1", "WAYLAND_DISPLAY=wayland-1", "A=other", "PATH=/else", "B=="]
        #expect(
            SessionEnvironment.merge(own, session)
                == ["PATH=/bin", "DISPLAY=:1", "A=own", "X==", "WAYLAND_DISPLAY=wayland-1", "B=="]
        )
        #expect(SessionEnvironment.merge(own, []) == own)
    }
}
