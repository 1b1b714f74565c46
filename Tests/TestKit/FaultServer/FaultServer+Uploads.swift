import Synchronization

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
        /// Makes what can be gone on with, and does not say so.
        package var losesInterim = false
        /// What it says in place of its version.
        package var saidInterop: Int?
        /// Says that it has so many bytes more than it has.
        package var offsetError: Int64 = 0
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
        state.shared.withLock { $0.uploads.files[path] ?? [] }
    }

    /// Of what has been taken only the numbers are kept.
    package func forgetUploads() {
        state.shared.withLock { shared in
            shared.uploads.files = [:]
            for index in shared.uploads.resources.indices {
                shared.uploads.resources[index].bytes = []
            }
        }
    }

    /// What is on its way to resources is lost, also what a program that has ended has left in a
    /// socket.
    package func cutUploads() {
        state.shared.withLock { shared in
            for index in shared.uploads.resources.indices {
                shared.uploads.resources[index].turn += 1
            }
        }
    }
}
