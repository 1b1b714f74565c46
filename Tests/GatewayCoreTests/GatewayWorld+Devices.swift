import GatewayCore
import Vocabulary

/// What devices say beside registering apps and acknowledging pushes.
extension GatewayWorld {
    mutating func anyCondition() -> DeviceCondition {
        DeviceCondition(
            batteryPercent: random.below(4) == 0 ? 10 : 50,
            isOnMains: random.below(2) == 0,
            isLowPower: random.below(6) == 0,
            isUnmetered: random.below(2) == 0
        )
    }

    /// Why no silent push may wake a device in this condition; nil: one may.
    func reasonToWait(_ condition: DeviceCondition?) -> String? {
        guard let condition else { return nil }
        if condition.isLowPower { return "low power" }
        let isLow = condition.batteryPercent.map { $0 < limits.silentBattery } ?? false
        return isLow && !condition.isOnMains ? "a low battery" : nil
    }

    mutating func tellMore(_ index: Int) {
        guard let link = devices[index].link else { return }
        let names = apps + rareApps
        switch random.below(6) {
        case 0..<2:
            let condition = anyCondition()
            // One that is being read hears of it later.
            devices[index].condition = store.questions.isEmpty ? condition : nil
            count("conditions")
            if condition.isOnMains, condition.isUnmetered { contact(index) }
            feed(.link(link, .changed(condition)))
        case 2:
            guard let app = driver.apps.number(of: names[pick(names.count)]) else { return }
            feed(.link(link, .opened(app)))
        case 3:
            guard let app = driver.apps.number(of: names[pick(names.count)]) else { return }
            feed(.link(link, .reported(silentLeft: 0, app)))
        case 4:
            let key: [UInt8]? = random.below(4) == 0 ? nil : []
            feed(.link(link, .subscribe(names[pick(names.count)], key: key)))
        default: refuse(index, link)
        }
    }

    /// It has no such app any more: a push that has come to it is not taken.
    private mutating func refuse(_ index: Int, _ link: LinkID) {
        guard !devices[index].acknowledgements.isEmpty, random.below(4) == 0 else { return }
        let place = pick(devices[index].acknowledgements.count)
        let id = devices[index].acknowledgements.remove(at: place)
        devices[index].acknowledgedCount += 1
        if let push = sentPushes[id] {
            let bundle = store.bundle(of: push.app)
            // Its token is over as soon as the gateway keeps that.
            devices[index].tokens[bundle] = nil
        }
        count("refusals")
        feed(.link(link, .refused(id)))
    }
}
