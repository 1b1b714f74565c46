import Vocabulary

// The first byte tells orders from reports, and each from the others.

extension NetworkOrder: LinkValue {
    init(from fields: inout FieldReader) throws(NetworkError) {
        self =
            switch try fields.byte() {
            case 1: .hello(version: try fields.take())
            case 2: .begin(try fields.take(), try fields.take())
            case 3: .upload(try fields.take(), try fields.take())
            case 4: .proceed(try fields.take())
            case 5: .stop(try fields.take())
            case 6: .remove(try fields.take())
            case 7: .stored(try fields.take(), durable: try fields.take())
            case _: throw NetworkError("no such order")
            }
    }

    func put(to fields: inout FieldWriter) {
        switch self {
        case .hello(let version):
            fields.byte(1)
            fields.put(version)
        case .begin(let id, let order):
            fields.byte(2)
            fields.put(id)
            fields.put(order)
        case .upload(let id, let order):
            fields.byte(3)
            fields.put(id)
            fields.put(order)
        case .proceed(let id):
            fields.byte(4)
            fields.put(id)
        case .stop(let id):
            fields.byte(5)
            fields.put(id)
        case .remove(let removal):
            fields.byte(6)
            fields.put(removal)
        case .stored(let id, let durable):
            fields.byte(7)
            fields.put(id)
            fields.put(durable)
        }
    }
}

extension NetworkReport: LinkValue {
    init(from fields: inout FieldReader) throws(NetworkError) {
        self =
            switch try fields.byte() {
            case 0x81: .hello(version: try fields.take(), lacks: try fields.take())
            case 0x82: .retires
            case 0x83: .answered(try fields.take(), try fields.take())
            case 0x84: .resource(try fields.take(), try fields.take())
            case 0x85:
                .progress(
                    try fields.take(),
                    received: try fields.take(),
                    durable: try fields.take()
                )
            case 0x86: .ranges(try fields.take(), try fields.take())
            case 0x87: .ended(try fields.take(), try fields.take(), durable: try fields.take())
            case 0x88: .sent(try fields.take(), try fields.take())
            case _: throw NetworkError("no such report")
            }
    }

    func put(to fields: inout FieldWriter) {
        switch self {
        case .hello(let version, let lacks):
            fields.byte(0x81)
            fields.put(version)
            fields.put(lacks)
        case .retires:
            fields.byte(0x82)
        case .answered(let id, let answer):
            fields.byte(0x83)
            fields.put(id)
            fields.put(answer)
        case .resource(let id, let resource):
            fields.byte(0x84)
            fields.put(id)
            fields.put(resource)
        case .progress(let id, let received, let durable):
            fields.byte(0x85)
            fields.put(id)
            fields.put(received)
            fields.put(durable)
        case .ranges(let id, let ranges):
            fields.byte(0x86)
            fields.put(id)
            fields.put(ranges)
        case .ended(let id, let end, let durable):
            fields.byte(0x87)
            fields.put(id)
            fields.put(end)
            fields.put(durable)
        case .sent(let id, let part):
            fields.byte(0x88)
            fields.put(id)
            fields.put(part)
        }
    }
}
