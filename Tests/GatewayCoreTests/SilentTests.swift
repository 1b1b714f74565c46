import GatewayCore
import Testing
import Vocabulary

/// How often a device is woken for nothing to see.
struct SilentTests {
    @Test func `three go at once, then one every twenty minutes; the newest of the rest rides`() {
        var bench = GatewayBench()
        _ = bench.connect()
        for _ in 0..<3 {
            let sent = bench.push(silent: true).effects.sendings
            #expect(sent.count == 1)
            _ = bench.acknowledge(sent[0].id)
        }
        #expect(bench.push(silent: true).effects.storeReasons == [.overBudget])
        let held = bench.push(silent: true).push
        #expect(bench.pass(.minutes(20)).isEmpty)
        let sent = bench.push(silent: true)
        #expect(sent.effects.sendings.map(\.number) == [sent.push.number])
        let ridden = bench.after { $0.keptAlive(LinkID(1), nil, at: $1, into: &$2) }
        #expect(ridden.sendings.map(\.number) == [held.number])
        #expect(ridden.sendings.map(\.isRider) == [true])
    }

    @Test func `an alert is never held, and takes along what is`() {
        var bench = GatewayBench()
        _ = bench.connect(
            1,
            DeviceCondition(batteryPercent: 10, isOnMains: false, isLowPower: true)
        )
        let held = bench.push(silent: true)
        #expect(held.effects.storeReasons == [.lowPower])
        let alert = bench.push()
        #expect(alert.effects.sendings.map(\.number) == [alert.push.number, held.push.number])
        #expect(alert.effects.sendings.map(\.isRider) == [false, true])
    }

    @Test func `on battery a day has 24 silent wakes, on mains they are not counted`() {
        var bench = GatewayBench()
        _ = bench.connect(1, DeviceCondition(batteryPercent: 80, isOnMains: false))
        var count = 0
        for _ in 0..<40 {
            let sent = bench.push(silent: true).effects.sendings
            count += sent.count
            for sending in sent { _ = bench.acknowledge(sending.id) }
            _ = bench.pass(.minutes(20))
        }
        #expect(count == 24)
        _ = bench.after {
            $0.changed(LinkID(1), DeviceCondition(batteryPercent: 80), at: $1, into: &$2)
        }
        #expect(bench.push(silent: true).effects.sendings.count == 1)
    }

    @Test func `below 20 percent none goes, except on mains`() {
        var bench = GatewayBench()
        _ = bench.connect(1, DeviceCondition(batteryPercent: 19, isOnMains: false))
        #expect(bench.push(silent: true).effects.storeReasons == [.lowBattery])
        _ = bench.connect(2, DeviceCondition(batteryPercent: 19, isOnMains: true))
        #expect(bench.push(silent: true).effects.sendings.count == 1)
    }

    @Test func `priority 1 wakes nobody`() {
        var bench = GatewayBench()
        _ = bench.connect()
        let passive = bench.push(priority: .passive)
        #expect(passive.effects.storeReasons == [.passive])
        let ridden = bench.after { $0.keptAlive(LinkID(1), nil, at: $1, into: &$2) }
        #expect(ridden.sendings.map(\.number) == [passive.push.number])
    }

    @Test func `what a device counted itself over our restart is believed`() {
        var bench = GatewayBench()
        let device = DeviceCondition(batteryPercent: 80, isOnMains: false, silentWakes: 24)
        _ = bench.connect(1, device)
        #expect(bench.push(silent: true).effects.storeReasons == [.dailyBudget])
        let app = bench.app
        _ = bench.connect(2)
        bench.gateway.reported(silentLeft: 0, of: app, over: LinkID(2), at: bench.now)
        #expect(bench.push(silent: true).effects.storeReasons == [.overBudget])
    }

    @Test func `what is silent is read from the payload`() {
        let silent = PayloadScan(Array(#"{"aps":{"content-available":1},"a":[{"alert":1}]}"#.utf8))
        #expect(silent?.isSilent == true)
        let shown = PayloadScan(Array(#"{"aps":{"content-available":1,"badge":0}}"#.utf8))
        #expect(shown?.wakes == true && shown?.isSilent == false)
        #expect(PayloadScan(Array(#"{"aps":{"content-available":10}}"#.utf8))?.wakes == false)
        #expect(PayloadScan(Array(#"{"x":{"aps":{"content-available":1}}}"#.utf8))?.wakes == false)
        for wrong in [
            "", "[]", "{", "{}x", #"{"a"}"#, #"{"a":}"#, #"{"a":01}"#, #"{"a":"\ud800"}"#,
            #"{"a":tru}"#, "{\"a\":\"\n\"}", #"{"a":1,}"#, #"{"a":"\x"}"#,
        ] {
            #expect(PayloadScan(Array(wrong.utf8)) == nil, "\(wrong)")
        }
        let quote = [UInt8(ascii: "\"")]
        for bytes: [UInt8] in [
            [0xC0, 0x80], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80], [0xE2],
        ] {
            let text = Array("{\"a\":".utf8) + quote + bytes + quote + Array("}".utf8)
            #expect(PayloadScan(text) == nil)
        }
        let deep = String(repeating: "[", count: 100) + String(repeating: "]", count: 100)
        #expect(PayloadScan(Array(#"{"a":\#(deep)}"#.utf8)) == nil)
        let wide = #"{ "a" : [ 1.5e-3 , -0, "\ud83d\ude00 ü" , null, true, false ] , "b":{} }"#
        #expect(PayloadScan(Array(wide.utf8)) == PayloadScan(Array("{}".utf8)))
    }
}
