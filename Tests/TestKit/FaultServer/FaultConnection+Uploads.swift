import Synchronization
import Vocabulary

/// Files that are sent to the server.
extension FaultConnection {
    private typealias Upload = FaultServer.Upload
    private typealias Resource = FaultServer.Uploads.Resource

    /// False: the connection is over.
    func receiveUpload(_ request: FaultServer.Request, _ upload: FaultServer.Upload?) -> Bool {
        if let upload {
            if let status = upload.status { return refuse(status) }
            if let redirect = upload.redirect {
                return refuse(307, ["Location: \(redirect)"])
            }
            return create(request, upload)
        }
        let number = request.path.split(separator: "/").last.flatMap { Int($0) }
        let known = state.shared.withLock { shared -> (Int, Resource, Upload)? in
            guard let number, shared.uploads.resources.indices.contains(number) else { return nil }
            shared.uploads.resources[number].turn += 1
            let resource = shared.uploads.resources[number]
            guard let upload = shared.behaviours[resource.path]?.upload, !upload.forgets else {
                return nil
            }
            return (number, resource, upload)
        }
        guard let (number, resource, upload) = known else { return refuse(404) }
        let offset = "Upload-Offset: \(Int64(resource.bytes.count) + upload.offsetError)"
        guard request.method != "HEAD" else {
            let complete = "Upload-Complete: \(resource.isComplete ? "?1" : "?0")"
            return send("HTTP/1.1 204 X\r\n\(offset)\r\n\(complete)\r\n\r\n")
        }
        if request.method == "DELETE" { return send("HTTP/1.1 204 X\r\n\r\n") }
        guard request.fields["content-type"] == "application/partial-upload" else {
            return refuse(415)
        }
        if resource.isComplete { return refuse(400) }
        guard request.fields["upload-offset"] == "\(resource.bytes.count)" else {
            return refuse(409, [offset])
        }
        return receive(request, upload, (number, resource.turn))
    }

    /// What of a body is still to come is not read.
    private func refuse(_ status: Int, _ fields: [String] = []) -> Bool {
        let extra = fields.map { $0 + "\r\n" }.joined()
        let head = "HTTP/1.1 \(status) X\r\nContent-Length: 0\r\nConnection: close\r\n"
        if send(head + extra + "\r\n") { drain() }
        return false
    }

    private func create(_ request: FaultServer.Request, _ upload: Upload) -> Bool {
        let version = request.fields["upload-draft-interop-version"]
        guard let interop = upload.interop, version == "\(interop)" else {
            return receive(request, upload, nil)
        }
        let number = state.shared.withLock { shared in
            shared.uploads.resources.append(Resource(path: request.path))
            return shared.uploads.resources.count - 1
        }
        guard !upload.losesInterim else { return receive(request, upload, (number, 0)) }
        let limit = upload.limit.map { "Upload-Limit: max-append-size=\($0)\r\n" } ?? ""
        let interim =
            "HTTP/1.1 104 Upload Resumption Supported\r\nLocation: /made/\(number)\r\n"
            + "Upload-Draft-Interop-Version: \(upload.saidInterop ?? interop)\r\n\(limit)\r\n"
        guard send(interim) else { return false }
        return receive(request, upload, (number, 0))
    }

    /// The body. `place`: the resource that it goes to, and whose turn it is.
    private func receive(
        _ request: FaultServer.Request,
        _ upload: Upload,
        _ place: (number: Int, turn: Int)?
    ) -> Bool {
        let length = request.fields["content-length"].flatMap { Int64($0) } ?? 0
        if let limit = upload.limit, length > limit { return refuse(413) }
        var whole: [UInt8] = []
        var count: Int64 = 0
        while true {
            if upload.holdsAfter == count, count < length { state.waitForRelease(request.path) }
            if upload.dropsAfter == count { return false }
            guard count < length else { break }
            let stops = [upload.holdsAfter, upload.dropsAfter].compactMap { $0 }
            let stop = stops.filter { $0 > count }.min() ?? length
            let wanted = Int(min(min(stop, length) - count, 65_536))
            guard let bytes = read(wanted) else { return false }
            count += Int64(bytes.count)
            guard let place else {
                whole += bytes
                continue
            }
            let isItsTurn = state.shared.withLock { shared in
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
            return send("HTTP/1.1 204 X\r\nUpload-Complete: ?0\r\n\r\n")
        }
        state.shared.withLock { shared in
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
        return send("HTTP/1.1 201 X\r\n\(complete)\(body)")
    }
}
