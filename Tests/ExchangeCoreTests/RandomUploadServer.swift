import ExchangeCore
import TestKit
import Vocabulary

/// A server that takes uploads, breaks off, forgets, and answers with all kinds of statuses. It
/// keeps to the draft where it speaks it, and tells how often it was given a whole file.
struct RandomUploadServer {
    var random: SeededRandom
    /// That it speaks; nil: none.
    let interop: UploadInterop?
    /// Each that it was given as a whole, as the numbers of its bytes.
    private(set) var files: [[Int]] = []
    private var resources: [Resource] = []
    private var begun = 0

    private struct Resource {
        let name: Int
        var bytes: [Int] = []
        var isComplete = false
        var isGone = false
    }

    /// What comes back of one request.
    struct Answer {
        var interim: [Exchange.Head] = []
        /// Bytes of the body that were read.
        var taken = 0
        /// Nil: the connection breaks.
        var head: Exchange.Head?
    }

    init(seed: UInt64) {
        random = SeededRandom(seed: seed)
        interop = random.pick(from: [UploadInterop.six, .eight, nil]) ?? nil
    }

    mutating func answer(_ request: UploadExchange.Request) -> Answer {
        let speaks = interop.map { "\($0.rawValue)" }
        let asked = request.fields.value(of: "Upload-Draft-Interop-Version")
        if let place = request.url.split(separator: "/").last.flatMap({ Int($0) }) {
            guard let index = resources.firstIndex(where: { $0.name == place }),
                !resources[index].isGone, asked == speaks
            else { return Answer(head: head(404)) }
            if random.below(25) == 0 {
                resources[index].isGone = true
                return Answer(head: head(random.pick(from: [404, 410]) ?? 404))
            }
            return request.method == "HEAD" ? offset(index) : append(request, index)
        }
        return create(request, resumable: asked == speaks && random.below(8) > 0)
    }

    private mutating func create(_ request: UploadExchange.Request, resumable: Bool) -> Answer {
        var answer = Answer()
        var index: Int?
        if resumable {
            begun += 1
            resources.append(Resource(name: begun))
            index = resources.count - 1
            answer.interim.append(informing([HTTPField("Location", "/made/\(begun)")]))
        }
        return take(request, index, &answer)
    }

    private mutating func append(_ request: UploadExchange.Request, _ index: Int) -> Answer {
        let offset = request.fields.value(of: "Upload-Offset").flatMap { Int($0) }
        guard !resources[index].isComplete else { return Answer(head: head(400)) }
        guard offset == resources[index].bytes.count else {
            let real = HTTPField("Upload-Offset", "\(resources[index].bytes.count)")
            return Answer(head: head(409, [real]))
        }
        var answer = Answer()
        return take(request, index, &answer)
    }

    private mutating func take(
        _ request: UploadExchange.Request,
        _ index: Int?,
        _ answer: inout Answer
    ) -> Answer {
        let body = (request.body ?? 0..<0).map { Int($0) }
        let fate = random.below(4)
        answer.taken = fate == 0 ? random.below(body.count + 1) : body.count
        // A network swallows some of what was sent.
        let arrived = fate == 0 ? random.below(answer.taken + 1) : answer.taken
        if let index {
            resources[index].bytes += body.prefix(arrived)
            if random.below(2) == 0 {
                let offset = "\(resources[index].bytes.count)"
                answer.interim.append(informing([HTTPField("Upload-Offset", offset)]))
            }
        }
        guard arrived == body.count, fate > 0 else {
            if random.below(3) == 0 { answer.head = head(503) }
            return answer
        }
        guard request.fields.value(of: "Upload-Complete") == "?1" else {
            answer.head = head(204, [isComplete(false)])
            return answer
        }
        if fate == 1, random.below(3) == 0 {
            // Before it was given to anybody.
            answer.head = head(random.pick(from: [503, 429]) ?? 503)
            return answer
        }
        files.append(index.map { resources[$0].bytes } ?? body)
        if let index { resources[index].isComplete = true }
        // The answer may be lost.
        guard random.below(4) > 0 else { return answer }
        let says = index != nil && random.below(3) > 0
        answer.head = head(200, says ? [isComplete(true)] : [])
        return answer
    }

    /// Now and then as the first drafts call it.
    private mutating func isComplete(_ holds: Bool) -> HTTPField {
        random.below(4) > 0
            ? HTTPField("Upload-Complete", holds ? "?1" : "?0")
            : HTTPField("Upload-Incomplete", holds ? "?0" : "?1")
    }

    private mutating func offset(_ index: Int) -> Answer {
        let resource = resources[index]
        return Answer(
            head: head(
                204,
                [
                    HTTPField("Upload-Offset", "\(resource.bytes.count)"),
                    isComplete(resource.isComplete),
                ]
            )
        )
    }

    private func head(_ status: Int, _ fields: [HTTPField] = []) -> Exchange.Head {
        Exchange.Head(status: status, fields: fields, length: nil)
    }

    private mutating func informing(_ fields: [HTTPField]) -> Exchange.Head {
        var version = "\(interop?.rawValue ?? 0)"
        if random.below(20) == 0 { version = "7" }
        return head(104, fields + [HTTPField("Upload-Draft-Interop-Version", version)])
    }
}
