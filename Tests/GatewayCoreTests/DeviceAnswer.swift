import GatewayCore
import Vocabulary

/// The end of a test of admission: the device's record comes, and the waiting pushes are answered.
struct DeviceAnswer {
    /// In the order of the answers.
    var refusals: [Reason] = []

    /// `isActive`: the app is still registered.
    init(
        _ driver: inout GatewayDriver,
        _ app: AppNumber,
        isActive: Bool,
        at now: Moment,
        behind actions: [GatewayAction]
    ) {
        var actions = actions
        var registration = Registration(app: app, generation: 1, isActive: true)
        if !isActive {
            let end = Registration.Ended(generation: 1, at: now.wall)
            registration = Registration(app: app, generation: 1, isActive: false, ended: [end])
        }
        let record = StoreAnswer.record(StoredDevice(registrations: [registration]))
        driver.handle(.answered(.record(DeviceID(1)), record), at: now, into: &actions)
        for case .answer(_, .refused(let reason, _)) in actions { refusals.append(reason) }
    }
}
