import Foundation

/// An episode that is on this device, or is to be.
struct Episode: Codable, Sendable {
    /// Its file is named by it: what the server says names no file.
    let number: Int
    let id, title: String
    let url: URL
    let bytes: Int64?
    /// Of a download that was interrupted.
    var resumeData: Data?
}

/// The newest episodes of the show.
@MainActor
final class Shelf {
    /// Older ones make room for newer ones.
    static let size = 3

    private struct State: Codable {
        var lastNumber = 0
        var episodes: [Episode] = []
    }

    private var state = State()
    private let folder: URL
    private var list: URL { folder.appendingPathComponent("shelf.json") }

    /// The newest is the first.
    var episodes: [Episode] { state.episodes }

    init() {
        folder = FileManager.default
            .urls(for: .applicationSupportDirectory, in: .userDomainMask)[0]
            .appendingPathComponent("podcasts", isDirectory: true)
        try? FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        if let data = try? Data(contentsOf: list) {
            state = (try? JSONDecoder().decode(State.self, from: data)) ?? State()
        }
    }

    private func file(_ number: Int) -> URL { folder.appendingPathComponent("\(number).mp3") }

    func has(_ episode: Episode) -> Bool {
        FileManager.default.fileExists(atPath: file(episode.number).path)
    }

    /// What the server lists now. An episode keeps its number. What leaves the shelf is removed.
    func take(_ show: Show, from server: URL) throws {
        var taken: [Episode] = []
        for item in show.items where taken.count < Self.size {
            guard !taken.contains(where: { $0.id == item.id }),
                let audio = item.attachments?.first(where: { $0.mimeType.hasPrefix("audio/") }),
                let url = URL(string: audio.url, relativeTo: server)?.absoluteURL,
                url.scheme == "http" || url.scheme == "https"
            else { continue }
            let known = state.episodes.first { $0.id == item.id && $0.url == url }
            if known == nil { state.lastNumber += 1 }
            taken.append(
                known
                    ?? Episode(
                        number: state.lastNumber,
                        id: item.id,
                        title: item.title ?? "Untitled",
                        url: url,
                        bytes: audio.sizeInBytes
                    )
            )
        }
        let numbers = Set(taken.map(\.number))
        let gone = state.episodes.filter { !numbers.contains($0.number) }
        state.episodes = taken
        try save()
        for episode in gone where has(episode) {
            try FileManager.default.removeItem(at: file(episode.number))
        }
    }

    /// Its file has come.
    func take(_ location: URL, as number: Int) throws {
        let target = file(number)
        if FileManager.default.fileExists(atPath: target.path) {
            try FileManager.default.removeItem(at: target)
        }
        try FileManager.default.moveItem(at: location, to: target)
        // Of an earlier download, if there was one.
        _ = try takeResumeData(for: number)
    }

    func keep(_ resumeData: Data, for number: Int) throws {
        guard let index = state.episodes.firstIndex(where: { $0.number == number }) else { return }
        state.episodes[index].resumeData = resumeData
        try save()
    }

    /// It can be used once, so it is forgotten first.
    func takeResumeData(for number: Int) throws -> Data? {
        guard let index = state.episodes.firstIndex(where: { $0.number == number }),
            let data = state.episodes[index].resumeData
        else { return nil }
        state.episodes[index].resumeData = nil
        try save()
        return data
    }

    private func save() throws {
        try JSONEncoder().encode(state).write(to: list, options: .atomic)
    }
}
