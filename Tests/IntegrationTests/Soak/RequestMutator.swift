// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// Makes the exchanges of a course: valid requests, most of them damaged, as the seed and their number say.
struct RequestMutator {
    let requests: GenuineRequests
    var mutator: ByteMutator

    /// The exchange.
    mutating func exchange() -> MutatedExchange {
        switch mutator.number(100) {
        case 0..<10: whole("valid", requests.draft(&mutator))
        case 10..<28: whole("content", damagedContent())
        case 28..<37: whole("fields", withOddFields())
        case 37..<42: unframed("framing fields", withFramingFields().bytes)
        case 42..<49: cut()
        case 49..<56: chunked()
        case 56..<63: compressed()
        case 63..<71: raw()
        case 71..<79: rawHead()
        case 79..<87: pipelined()
        case 87..<91: hungUp()
        case 91..<96: oddTarget()
        default: oddMethod()
        }
    }

    private func whole(_ kind: String, _ draft: RequestDraft) -> MutatedExchange {
        MutatedExchange(kind: kind, pieces: [draft.bytes], methods: [draft.method])
    }

    /// How many answers come is unknown; what is no HTTP must end the connection.
    private func unframed(_ kind: String, _ bytes: [UInt8]) -> MutatedExchange {
        MutatedExchange(kind: kind, pieces: [bytes], methods: [], ending: .halfClose)
    }

    /// A draft whose answer has a body where there is one, since the method may be damaged.
    private mutating func readable() -> RequestDraft {
        var draft = requests.draft(&mutator)
        if draft.method == "HEAD" { draft.method = "GET" }
        return draft
    }

    private mutating func withBody() -> RequestDraft {
        while true {
            let draft = readable()
            if !draft.body.isEmpty { return draft }
        }
    }

    private mutating func damagedContent() -> RequestDraft {
        var draft = requests.draft(&mutator)
        if !draft.body.isEmpty, mutator.percent(80) {
            mutator.damageContent(&draft.body, times: 4)
        } else {
            var target = Array(draft.target.utf8)
            mutator.damageContent(&target)
            // What stays is a target still, so that there is one answer.
            let kept = target.filter { (0x21...0x7E).contains($0) }
            draft.target = "/" + String(decoding: kept, as: UTF8.self).drop { $0 == "/" }
        }
        return draft
    }

    private mutating func withOddFields() -> RequestDraft {
        var draft = requests.draft(&mutator)
        for _ in 0...mutator.number(3) {
            let field = mutator.one(of: Self.oddFields)
            // Behind the host, or before it.
            draft.fields.insert(field, at: mutator.percent(50) ? draft.fields.count : 0)
        }
        if mutator.percent(10) { draft.fields.append(draft.fields[mutator.number(draft.fields.count)]) }
        if mutator.percent(5) {
            draft.fields.append(("X-Long", String(repeating: "x", count: 1 << (8 + mutator.number(8)))))
        }
        if mutator.percent(5) { for number in 0..<300 { draft.fields.append(("X-\(number)", "v")) } }
        return draft
    }

    private mutating func withFramingFields() -> RequestDraft {
        var draft = withBody()
        draft.framing = mutator.percent(50) ? .length : .asIs
        for _ in 0...mutator.number(2) { draft.fields.append(mutator.one(of: Self.framingFields)) }
        if mutator.percent(30) { draft.body = RequestDraft.chunks(draft.body, of: 100) }
        return draft
    }

    private mutating func cut() -> MutatedExchange {
        let draft = withBody()
        let framed = draft.framedBody
        return unframed("body cut", draft.head + framed.prefix(mutator.number(framed.count)))
    }

    private mutating func chunked() -> MutatedExchange {
        var draft = withBody()
        draft.framing = .chunked
        guard mutator.percent(70) else { return whole("chunked", draft) }
        var body = draft.framedBody
        switch mutator.number(6) {
        case 0: mutator.damageHead(&body, 0..<min(body.count, 12))
        case 1: body = Array(mutator.one(of: Self.chunkSizes).utf8) + Array("\r\n".utf8) + body.dropFirst(5)
        case 2: body = Array(body.dropLast(mutator.number(8)))
        case 3: body = body.dropLast(2) + Array("Content-Length: 3\r\nX-Trailer: yes\r\n\r\n".utf8)
        case 4: body = Array("5;\(String(repeating: "e", count: mutator.number(20_000)))\r\n".utf8) + body
        default: mutator.damageHead(&body, 0..<body.count, times: 5)
        }
        return unframed("chunks", draft.head + body)
    }

    private mutating func compressed() -> MutatedExchange {
        var draft = withBody()
        draft.fields.append(
            ("Content-Encoding", mutator.one(of: ["gzip", "gzip", "gzip", "deflate", "gzip, gzip", "br"])))
        if mutator.percent(8) { draft.body += [UInt8](repeating: 0x20, count: 2 << 20) }
        guard var body = try? gzip(draft.body) else { return whole("gzip", draft) }
        switch mutator.number(6) {
        case 0: break
        case 1: body = Array(body.dropLast(1 + mutator.number(body.count - 1)))
        case 2: body[mutator.number(body.count)] ^= UInt8(1 << mutator.number(8))
        case 3: body += mutator.percent(50) ? body : [0, 1, 2, 3]
        case 4: body = draft.body
        default: mutator.damageHead(&body, 0..<body.count)
        }
        draft.body = body
        if mutator.percent(30) { draft.framing = .chunked }
        return whole("gzip", draft)
    }

    private mutating func raw() -> MutatedExchange {
        var bytes = readable().bytes
        mutator.damageHead(&bytes, 0..<bytes.count, times: 6)
        return unframed("bytes", bytes)
    }

    private mutating func rawHead() -> MutatedExchange {
        let draft = readable()
        var head = draft.head
        mutator.damageHead(&head, 0..<max(0, head.count - 4))
        return unframed("head", head + draft.framedBody)
    }

    private mutating func pipelined() -> MutatedExchange {
        let drafts = (0..<(2 + mutator.number(3))).map { _ in
            mutator.percent(50) ? damagedContent() : requests.draft(&mutator)
        }
        let bytes = Array(drafts.map(\.bytes).joined())
        var exchange = MutatedExchange(kind: "pipelined", pieces: [bytes], methods: drafts.map(\.method))
        if mutator.percent(30) {
            let place = mutator.number(bytes.count)
            exchange.pieces = [Array(bytes[..<place]), Array(bytes[place...])]
        }
        return exchange
    }

    private mutating func hungUp() -> MutatedExchange {
        let bytes = requests.draft(&mutator).bytes
        let sent = mutator.percent(50) ? bytes : Array(bytes.prefix(mutator.number(bytes.count)))
        return MutatedExchange(kind: "hung up", pieces: [sent], methods: [], ending: .hangUp)
    }

    private mutating func oddTarget() -> MutatedExchange {
        var draft = readable()
        draft.target = mutator.one(of: Self.targets)
        if mutator.percent(5) { draft.target += String(repeating: "a", count: 1 << (8 + mutator.number(9))) }
        return unframed("target", draft.bytes)
    }

    private mutating func oddMethod() -> MutatedExchange {
        var draft = readable()
        draft.method = mutator.one(of: Self.methods)
        return unframed("method", draft.bytes)
    }
}
