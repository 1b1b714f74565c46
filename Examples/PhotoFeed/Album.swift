import Foundation

/// A photo as the server lists it.
struct Photo: Codable, Hashable, Sendable {
    let id: String
    let title: String
    /// Addresses, absolute or beginning at the server.
    let thumbnail, image: String

    /// Its id is the name of a file: nothing that leads elsewhere.
    var isUsable: Bool {
        !id.isEmpty && id.count <= 64
            && id.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-") }
    }

    func address(of path: String, on server: URL) -> URL? {
        guard let url = URL(string: path, relativeTo: server)?.absoluteURL else { return nil }
        return url.scheme == "http" || url.scheme == "https" ? url : nil
    }
}

/// The photos on this device: a list, and for each a thumbnail and, later, its image.
@MainActor
final class Album {
    private(set) var photos: [Photo] = []
    private let folder: URL
    private var list: URL { folder.appendingPathComponent("photos.json") }

    init() {
        folder = FileManager.default
            .urls(for: .applicationSupportDirectory, in: .userDomainMask)[0]
            .appendingPathComponent("photofeed", isDirectory: true)
        try? FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        if let data = try? Data(contentsOf: list) {
            photos = (try? JSONDecoder().decode([Photo].self, from: data)) ?? []
        }
    }

    private func file(_ kind: String, _ id: String) -> URL {
        folder.appendingPathComponent("\(id).\(kind)")
    }

    func quality(of photo: Photo) -> String {
        if hasImage(of: photo) { return "full" }
        return hasThumbnail(of: photo) ? "thumbnail" : "nothing yet"
    }

    func hasThumbnail(of photo: Photo) -> Bool { exists(file("thumbnail", photo.id)) }
    func hasImage(of photo: Photo) -> Bool { exists(file("image", photo.id)) }
    private func exists(_ url: URL) -> Bool { FileManager.default.fileExists(atPath: url.path) }

    /// What the server lists now.
    func take(_ listed: [Photo]) throws {
        photos = listed
        try JSONEncoder().encode(photos).write(to: list, options: .atomic)
    }

    func takeThumbnail(of photo: Photo, _ data: Data) throws {
        try data.write(to: file("thumbnail", photo.id), options: .atomic)
    }

    func takeImage(of id: String, from location: URL) throws {
        let target = file("image", id)
        if exists(target) { try FileManager.default.removeItem(at: target) }
        try FileManager.default.moveItem(at: location, to: target)
    }
}
