import DeviceCore
import Testing
import Vocabulary

/// The table of settings.
struct SettingTests {
    @Test
    func `a setting that no app has is answered with what an app has, and where else it goes`() {
        let text = "[app feed]\nrun-slots = 3\n"
        let error = #expect(throws: SettingsText.Invalid.self) {
            try SettingsText.parse(ConfigurationText(text))
        }
        let problem = error?.diagnostics.first
        #expect(problem?.line == 2 && problem?.reason == "cannot be set for one app")
        #expect(
            problem?.fix == "Only background-refresh can be. For all apps, write the line above "
                + "the first [app NAME]."
        )
    }

    @Test(arguments: [
        ("foo", "offstage settings lists them."), ("run-slot", "Did you mean run-slots?"),
        ("background-refrsh", "Did you mean background-refresh?"),
    ])
    func `what is no setting at all is that of an app, too`(name: String, fix: String) {
        for text in ["[app feed]\n\(name) = on\n", "\(name) = on\n"] {
            let error = #expect(throws: SettingsText.Invalid.self) {
                try SettingsText.parse(ConfigurationText(text))
            }
            let problem = error?.diagnostics.first
            #expect(problem?.reason == "is not a setting" && problem?.fix == fix, "\(text)")
        }
    }

    @Test(arguments: SettingRow.table.map(\.name))
    func `each row reads what it writes`(_ name: String) throws {
        let row = try #require(SettingRow.table.first { $0.name == name })
        var settings = Settings()
        #expect(row.set(row.text(settings), in: &settings))
        #expect(settings == Settings())
        #expect(!row.choices.isEmpty)
        #expect(!row.documentation.isEmpty)
    }

    @Test(arguments: SettingRow.table.map(\.name))
    func `each row takes its bounds, and refuses what lies outside and nonsense`(
        _ name: String
    ) throws {
        let row = try #require(SettingRow.table.first { $0.name == name })
        var settings = Settings()
        var good: [String] = []
        var bad = ["nonsense", "-1", " "]
        switch row.field {
        case .interval(_, let range):
            good = [
                "\(range.lowerBound.nanoseconds / 1_000_000)ms",
                "\(range.upperBound.wholeSeconds)s",
            ]
            bad += ["\(range.upperBound.wholeSeconds + 1)s", "99999999999999999999s", "90"]
            if range.lowerBound > .zero {
                bad.append("\(range.lowerBound.nanoseconds / 1_000_000 - 1)ms")
            }
        case .count(_, let range), .bytes(_, let range):
            good = ["\(range.lowerBound)", "\(range.upperBound)"]
            bad += ["\(range.lowerBound - 1)", "\(range.upperBound + 1)", "1.5", "0x10"]
        case .proxy:
            good = ["", "http://127.0.0.1:3128", "socks5h://user:pw@proxy.example"]
            bad += ["ftp://proxy", "http://", "http://a b", "proxy:3128"]
        case .flag:
            good = ["on", "off"]
            bad += ["2", ""]
        case .text:
            good = ["", "a b", "-1"]
            bad = []
        case .timeOfDay:
            good = ["00:00", "24:00", "7:30"]
            bad += ["24:01", "12:60", "12", "1:2:3", ""]
        case .wakeFromSleep:
            good = ["off", "charger", "on"]
            bad += ["", "yes", "Charger"]
        case .profile:
            good = SettingRow.profiles.map(\.name)
            bad += ["ios8", ""]
        }
        for text in good { #expect(row.set(text, in: &settings), "\(text)") }
        for text in bad {
            var unchanged = settings
            #expect(!row.set(text, in: &unchanged), "\(text)")
            #expect(unchanged == settings)
        }
    }

    @Test func `names are unique, and each value has one row`() {
        #expect(Set(SettingRow.table.map(\.name)).count == SettingRow.table.count)
        var settings = Settings()
        let texts = SettingRow.table.map { $0.text(settings) }
        for (index, row) in SettingRow.table.enumerated() {
            let value: String
            switch row.field {
            case .interval(_, let range): value = "\(range.upperBound.wholeSeconds - 1)s"
            case .count(_, let range): value = "\(range.upperBound)"
            case .bytes(_, let range): value = "\(range.upperBound)"
            case .flag(let path): value = settings[keyPath: path] ? "off" : "on"
            case .text: value = "other"
            case .proxy: value = "http://proxy"
            case .timeOfDay: value = "04:44"
            case .wakeFromSleep: value = "on"
            case .profile: value = "ios26"
            }
            #expect(row.set(value, in: &settings))
            for other in SettingRow.table.indices where other > index {
                #expect(SettingRow.table[other].text(settings) == texts[other])
            }
            #expect(row.text(settings) != texts[index], "\(row.name)")
        }
    }

    @Test func `profiles are made of settings that exist`() {
        for profile in SettingRow.profiles {
            var settings = Settings()
            for (name, value) in profile.values {
                let row = SettingRow.table.first { $0.name == name }
                #expect(row?.set(value, in: &settings) == true, "\(profile.name): \(name)")
            }
        }
        #expect(SettingRow.profiles.map(\.name) == ["apple", "ios7", "ios26"])
    }

    @Test func `sizes have units`() throws {
        let row = try #require(SettingRow.table.first { $0.name == "memory-limit" })
        var settings = Settings()
        for (text, bytes) in [
            ("64M", Int64(64) << 20), ("64MiB", 64 << 20), ("2G", 2 << 30), ("1048576", 1 << 20),
            ("1024k", 1 << 20),
        ] {
            #expect(row.set(text, in: &settings), "\(text)")
            #expect(settings.memoryLimit == bytes)
        }
        for text in ["64X", "M", "9223372036854775807T", "-1M"] {
            #expect(!row.set(text, in: &settings), "\(text)")
        }
    }

    @Test func `new settings take effect at once`() throws {
        var bench = Bench()
        bench.configure { $0.runSlots = 1 }
        bench.install(.refreshing("a"), .refreshing("b"))
        #expect(bench.spawned.count == 1)
        bench.configure { $0.runSlots = 2 }
        #expect(bench.spawned.count == 1)
        bench.configure { $0.wakeGrant = .seconds(10) }
        let launch = try #require(bench.app("b")?.launches.first?.id)
        bench.started(launch)
        bench.advance(.seconds(5))
        #expect(bench.contains(.terminate(launch)))
    }

    /// What is wrong with a file of settings, as a person reads it.
    private func problems(_ text: String) -> [String] {
        do throws(SettingsText.Invalid) {
            _ = try SettingsText.parse(ConfigurationText(bytes: Array(text.utf8)))
            return []
        } catch {
            return error.diagnostics.map(\.description)
        }
    }

    @Test(arguments: SettingRow.formerNames)
    func `a name of an earlier version is refused, and the one of now is named`(
        _ former: String,
        _ name: String
    ) {
        #expect(
            problems("# ours\n\(former) = off")
                == ["line 2: \(former): is now called \(name). Write \(name) instead."]
        )
        let names = SettingRow.table.map(\.name)
        #expect(names.contains(name) && !names.contains(former))
    }

    @Test(arguments: SettingsText.warnedGrants)
    func `a warning that would eat its grant is refused, at the line that can be changed`(
        _ grant: String
    ) throws {
        #expect(problems("\(grant) = 5001ms") == [])
        #expect(problems("expiry-warning = 1s\n\(grant) = 2s") == [])
        for text in ["5s", "3s", "0s"] {
            let found = problems("# ours\n\(grant) = \(text)")
            #expect(
                found == [
                    "line 2: \(grant): \"\(text)\" is not longer than expiry-warning, 5s. "
                        + "Write more than 5s, or a shorter expiry-warning first."
                ]
            )
        }
        let row = try #require(SettingRow.table.first { $0.name == grant })
        let value = row.text(Settings())
        #expect(
            problems("\nexpiry-warning = 1h").contains(
                "line 2: expiry-warning: \"1h\" is not shorter than \(grant), \(value). "
                    + "Write less than \(value), or a longer \(grant) first."
            )
        )
    }
}
