package import Vocabulary

/// Ranges of one object over several connections. They are fetched side by side under the strong
/// validator of the first answer only: each is asked for under it (`If-Range`), and its answer must
/// name it again, with the same length of the whole. A connection that is refused, or that fails,
/// leaves its range to the others; one that brings another version ends all that has been begun.
extension Exchange {
    /// Of the request that is sent over this connection now.
    package func fields(on connection: Int) -> [HTTPField] {
        guard state == .filling, let missing, let claim = missing[connection] else { return fields }
        return ownFields + [
            HTTPField("Range", "bytes=\(claim.next)-\(claim.end - 1)"),
            HTTPField("If-Range", missing.validator.text),
        ]
    }

    /// Bytes that its answer may still bring.
    package func room(on connection: Int) -> Int64 {
        guard state == .filling else { return .max }
        return missing?[connection]?.room ?? 0
    }

    // MARK: Answers

    mutating func answeredRange(_ head: Head, _ connection: Int) -> [Action] {
        guard let missing, let claim = missing[connection], claim.answerEnd == nil else {
            return [.giveUp(connection)]
        }
        let range = head.fields.value(of: "Content-Range").flatMap(ContentRange.init)
        if isOfAnotherVersion(head, range, than: missing) { return startAnewAlone() }
        guard head.status == 206, let range, range.first == claim.next, let last = range.last,
            last < claim.askedEnd, range.total == missing.total,
            head.length.map({ $0 == last - claim.next + 1 }) ?? true,
            Validators.confirm(missing.validator, head.fields)
        else { return lose(connection, "the server sends no range (status \(head.status))") }
        self.missing?.answered(connection, end: last + 1)
        return []
    }

    /// It says so itself. What says nothing is no proof of either.
    private func isOfAnotherVersion(
        _ head: Head,
        _ range: ContentRange?,
        than missing: MissingRanges
    ) -> Bool {
        switch head.status {
        case 200:
            head.length ?? missing.total != missing.total
                && Validators.coding(of: head.fields) == missing.validator.coding
                || Validators.contradict(missing.validator, head.fields)
        case 206:
            range?.total ?? missing.total != missing.total
                || Validators.contradict(missing.validator, head.fields)
        case 416: range?.total ?? missing.total != missing.total
        default: false
        }
    }

    // MARK: Bodies

    mutating func receivedRange(
        _ count: Int64,
        _ connection: Int
    ) -> (offset: Int64?, actions: [Action]) {
        guard let offset = missing?.take(count, by: connection) else {
            return (nil, lose(connection, "the server sent more than it said"))
        }
        guard let missing, missing.count > 0 else {
            let total = self.missing?.total ?? 0
            return (offset, end(.complete(size: total)))
        }
        guard let claim = missing[connection], claim.isDone, let end = claim.answerEnd,
            end > claim.end
        else { return (offset, []) }
        return (offset, pass(connection))
    }

    /// It has brought its range, and its answer goes on.
    private mutating func pass(_ connection: Int) -> [Action] {
        let (isLonger, other) = missing?.extend(connection) ?? (false, nil)
        guard isLonger else { return [.giveUp(connection)] + finish(connection) }
        guard let other else { return [] }
        idle.append(other)
        return [.giveUp(other)] + employ()
    }

    mutating func endedRange(_ connection: Int) -> [Action] {
        guard let claim = missing?[connection] else { return [] }
        return claim.isDone ? finish(connection) : lose(connection, "the answer ended early")
    }

    // MARK: Connections

    /// It has brought what it was to bring.
    private mutating func finish(_ connection: Int) -> [Action] {
        missing?.release(connection)
        idle.append(connection)
        return employ()
    }

    mutating func lose(_ connection: Int, _ reason: String) -> [Action] {
        lose(connection, .init(.connection, reason: reason))
    }

    /// It is used again only if it has brought something: a server may have a limit.
    mutating func lose(
        _ connection: Int,
        _ interruption: ExchangeEnd.Interruption
    ) -> [Action] {
        guard let claim = missing?[connection] else { return [.giveUp(connection)] }
        missing?.release(connection)
        if claim.brought >= Self.partBytes { idle.append(connection) }
        let actions = [.giveUp(connection)] + employ()
        guard missing?.claims.isEmpty ?? true else { return actions }
        return actions + end(.interrupted(interruption))
    }

    /// Those that have nothing to do get a range, as far as there is one that is worth it.
    mutating func employ() -> [Action] {
        let busy = missing?.assign(to: idle) ?? []
        idle.removeAll { busy.contains($0) }
        return busy.map(Action.fetch)
    }
}
