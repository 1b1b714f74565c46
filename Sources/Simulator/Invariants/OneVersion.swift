import DeviceCore
import Vocabulary

/// A file that gets its name is one version of the object, and all of it, whatever the servers, the
/// connections and the machine have done. So is what was said of it.
final class OneVersion: EffectInvariant {
    let name = "a downloaded file is one version, and whole"

    func performed(_ effect: Effect, at now: Moment, _ world: World) -> String? {
        guard case .transfer(let id, .place(let placement)) = effect,
            let index = world.network.partIndex(placement.file)
        else { return nil }
        let file = world.network.files[index]
        guard let version = file.version else { return "transfer \(id) joins \(file.runs)" }
        guard let url = url(of: id),
            let object = world.network.objects.first(where: { $0.url == url })
        else { return nil }
        let size = object.sizes[version]
        if file.size != size { return "transfer \(id) has \(file.size) bytes of \(size)" }
        let time = VirtualObject.time(of: version)
        if placement.modified == time { return nil }
        return "transfer \(id) is of \(placement.modified ?? "no time"), not of \(time)"
    }

    private var urls: [TransferID: String] = [:]
    private func url(of id: TransferID) -> String? { urls[id] }
}

extension OneVersion: CommitInvariant {
    func committed(_ changes: [Change]) -> String? {
        for case .put(.transfer(let record)) in changes {
            urls[record.transfer.id] = record.transfer.order.url
        }
        return nil
    }
}
