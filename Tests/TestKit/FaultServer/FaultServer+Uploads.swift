import Glibc
import Synchronization
import Vocabulary

/// The server takes files, as a whole or by draft-ietf-httpbis-resumable-upload.
extension FaultServer {
    /// What it does with files for one path.
    package struct Upload: Sendable {
        /// The version of the draft that it speaks; nil: none.
        package var interop: Int?
        /// Closes the connection after so many bytes of a body.
        package var dropsAfter: Int64?
        /// After so many bytes of a body it waits until `release`.
        package var holdsAfter: Int64?
        /// Closes the connection in place of the answer to a whole file.
        package var losesAnswer = false
        /// Has lost what it has made.
        package var forgets = false
        /// More is not taken in one request.
        package var limit: Int64?
        /// Other than 200, in place of taking anything.
        package var status: Int?
        /// Of the answer to a whole file.
        package var body = ""
        /// Leads elsewhere, with status 307.
        package var redirect: String?
        package init(interop: Int? = nil) { self.interop = interop }
    }

    /// What has been taken.
    struct Uploads: Sendable {
        /// Whole files, by path.
        var files: [String: [[UInt8]]] = [:]
        var resources: [Resource] = []

        struct Resource: Sendable {
            let path: String
            var bytes: [UInt8] = []
            var isComplete = false
            /// Whose request may add to it: the last one's.
            var turn = 0
        }
    }

    package func takeUploads(_ path: String, _ upload: Upload) {
        var behaviour = Behaviour(VersionedObject(version: 0, size: 0))
        behaviour.upload = upload
        set(path, behaviour)
    }

    package func changeUpload(_ path: String, _ body: (inout Upload) -> Void) {
        change(path) { behaviour in
            guard var upload = behaviour.upload else { return }
            body(&upload)
            behaviour.upload = upload
        }
    }

    /// The whole files that it was given for a path.
    package func files(_ path: String) -> [[UInt8]] {
        shared.withLock { $0.uploads.files[path] ?? [] }
    }

    /// What is on its way to resources is lost, also what a program that has ended has left in a
    /// socket.
    package func cutUploads() {
        shared.withLock { shared in
            for index in shared.uploads.resources.indices {
                shared.uploads.resources[index].turn += 1
            }
        }
    }

    // MARK: Requests

    /// False: the connection is over.
    func take(
        _ socket: Int32,
        _ request: Request,
        _ upload: Upload?,
        _ input: inout [UInt8]
    ) -> Bool {
        if let upload {
            if let status = upload.status { return refuse(socket, status) }
            if let redirect = upload.redirect {
                return refuse(socket, 307, ["Location: \(redirect)"])
            }
            return create(socket, request, upload, &input)
        }
        let number = request.path.split(separator: "/").last.flatMap { Int($0) }
        let known = shared.withLock { shared -> (Int, Uploads.Resource, Upload)? in
            guard let number, shared.uploads.resources.indices.contains(number) else { return nil }
            shared.uploads.resources[number].turn += 1
            let resource = shared.uploads.resources[number]
            guard let upload = shared.behaviours[resource.path]?.upload, !upload.forgets else {
                return nil
            }
            return (number, resource, upload)
        }
        guard let (number, resource, upload) = known else { return refuse(socket, 404) }
        let offset = "Upload-Offset: \(resource.bytes.count)"
        guard request.method != "HEAD" else {
            let complete = "Upload-Complete: \(resource.isComplete ? "?1" : "?0")"
            return send(socket, "HTTP/1.1 204 X\r\n\(offset)\r\n\(complete)\r\n\r\n")
        }
        if request.method == "DELETE" { return send(socket, "HTTP/1.1 204 X\r\n\r\n") }
        guard request.fields["content-type"] == "application/partial-upload" else {
            return refuse(socket, 415)
        }
        if resource.isComplete { return refuse(socket, 400) }
        guard request.fields["upload-offset"] == "\(resource.bytes.count)" else {
            return refuse(socket, 409, [offset])
        }
        return receive(socket, request, upload, (number, resource.turn), &input)
    }

    /// What of a body is still to come is not read.
    private func refuse(_ socket: Int32, _ status: Int, _ fields: [String] = []) -> Bool {
        let extra = fields.map { $0 + "\r\n" }.joined()
        let head = "HTTP/1.1 \(status) X\r\nContent-Length: 0\r\nConnection: close\r\n"
        _ = send(socket, head + extra + "\r\n")
        return drain(socket)
    }

    /// A connection that is closed with bytes unread takes the answer along.
    private func drain(_ socket: Int32) -> Bool {
        shutdown(socket, Int32(SHUT_WR))
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while recv(socket, &buffer, buffer.count, 0) > 0 {}
        return false
    }

    private func create(
        _ socket: Int32,
        _ request: Request,
        _ upload: Upload,
        _ input: inout [UInt8]
    ) -> Bool {
        let version = request.fields["upload-draft-interop-version"]
        guard let interop = upload.interop, version == "\(interop)" else {
            return receive(socket, request, upload, nil, &input)
        }
        let number = shared.withLock { shared in
            shared.uploads.resources.append(Uploads.Resource(path: request.path))
            return shared.uploads.resources.count - 1
        }
        let limit = upload.limit.map { "Upload-Limit: max-append-size=\($0)\r\n" } ?? ""
        let interim =
            "HTTP/1.1 104 Upload Resumption Supported\r\nLocation: /made/\(number)\r\n"
            + "Upload-Draft-Interop-Version: \(interop)\r\n\(limit)\r\n"
        guard send(socket, interim) else { return false }
        return receive(socket, request, upload, (number, 0), &input)
    }

    /// The body. `place`: the resource that it goes to, and whose turn it is.
    private func receive(
        _ socket: Int32,
        _ request: Request,
        _ upload: Upload,
        _ place: (number: Int, turn: Int)?,
        _ input: inout [UInt8]
    ) -> Bool {
        let length = request.fields["content-length"].flatMap { Int64($0) } ?? 0
        if let limit = upload.limit, length > limit { return refuse(socket, 413) }
        var whole: [UInt8] = []
        var count: Int64 = 0
        while true {
            if upload.holdsAfter == count, count < length { waitForRelease() }
            if upload.dropsAfter == count { return false }
            guard count < length else { break }
            let stops = [upload.holdsAfter, upload.dropsAfter].compactMap { $0 }
            let stop = stops.filter { $0 > count }.min() ?? length
            let wanted = Int(min(min(stop, length) - count, 65_536))
            guard let bytes = read(socket, wanted, &input) else { return false }
            count += Int64(bytes.count)
            guard let place else {
                whole += bytes
                continue
            }
            let isItsTurn = shared.withLock { shared in
                guard shared.uploads.resources[place.number].turn == place.turn else {
                    return false
                }
                shared.uploads.resources[place.number].bytes += bytes
                return true
            }
            guard isItsTurn else { return false }
        }
        let isLast = request.fields["upload-complete"] != "?0"
        guard isLast || place == nil else {
            return send(
                socket,
                "HTTP/1.1 204 X\r\nUpload-Complete: ?0\r\n\r\n"
            )
        }
        shared.withLock { shared in
            var path = request.path
            if let place {
                shared.uploads.resources[place.number].isComplete = true
                let resource = shared.uploads.resources[place.number]
                (path, whole) = (resource.path, resource.bytes)
            }
            shared.uploads.files[path, default: []].append(whole)
        }
        if upload.losesAnswer { return false }
        let complete = place == nil ? "" : "Upload-Complete: ?1\r\n"
        let body = "Content-Length: \(upload.body.utf8.count)\r\n\r\n\(upload.body)"
        return send(socket, "HTTP/1.1 201 X\r\n\(complete)\(body)")
    }

    /// At most `count` bytes; nil: there are no more.
    private func read(_ socket: Int32, _ count: Int, _ input: inout [UInt8]) -> [UInt8]? {
        if !input.isEmpty {
            let bytes = Array(input.prefix(count))
            input.removeFirst(bytes.count)
            return bytes
        }
        var buffer = [UInt8](repeating: 0, count: count)
        let got = recv(socket, &buffer, count, 0)
        return got > 0 ? Array(buffer[..<got]) : nil
    }
}
