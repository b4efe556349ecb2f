// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import GatewayTesting

/// Damages the answers of a backend by a seed.
struct AnswerMutator {
    var mutator: ByteMutator
    /// Tells whose answer it is; stands in answers that go to this client alone.
    let mark: String

    /// A field that no answer to a client may ever have, since it stands behind an answer's end.
    static let smuggled = "666666666-666666666"

    private static let statuses = [
        100, 101, 103, 199, 200, 201, 202, 204, 205, 206, 207, 299, 300, 301, 302, 304, 307, 400, 401, 402, 403, 404,
        405, 406,
        408, 409, 410, 412, 413, 415, 418, 422, 425, 426, 429, 431, 451, 499, 500, 501, 502, 503, 504, 511, 599, 600,
        999,
        0, 1, 99, 1000,
    ]

    private static let fields = [
        "Content-Length: 5", "Content-Length: 0", "Content-Length: -1", "Content-Length: 5, 5", "Content-Length: x",
        "Content-Length: 9223372036854775808", "Content-Length: 18446744073709551617", "Content_Length: 1",
        "Transfer-Encoding: chunked", "Transfer-Encoding: identity", "Transfer-Encoding: gzip, chunked",
        "Transfer-Encoding: chunked, chunked", "Transfer-Encoding:", "Connection: close", "Connection: X-Trial",
        "Connection: upgrade", "Upgrade: h2c", "Content-Encoding: gzip", "Content-Encoding: deflate",
        "Content-Encoding: br", "Content-Encoding: gzip, gzip", "Content-Encoding: identity", "Content-Type: text/html",
        "Content-Type:", "Content-Type: application/json; charset=utf-7", "Retry-After: 0",
        "Retry-After: 99999999999999",
        "Retry-After: -5", "Retry-After: Fri, 31 Dec 9999 23:59:59 GMT", "Location: //evil", "Set-Cookie: a=b; c",
        "Set-Cookie: \u{1}", "ETag: \"x\", y", "WWW-Authenticate:", "Trailer: X", "Keep-Alive: timeout=0",
        "Rind-Error: x",
        "X-Request-Id: other", "Date: yesterday", "Content-Range: bytes 0-0/9", "no colon", ": no name", " folded: x",
        "X-Latin: \u{e9}", "X-Null: a\u{0}b", "X Space: 1", "Strict-Transport-Security: max-age=1", "HTTP/1.1 200 OK",
    ]

    /// The answer as the client it was meant for should get it.
    static func faithful(_ answer: RawAnswer, method: String, mark: String) -> [UInt8] {
        head(answer, ["X-Trial: \(mark)"] + framing(answer, method)) + (method == "HEAD" ? [] : answer.body)
    }

    /// The answer with something wrong.
    mutating func damaged(_ original: RawAnswer, method: String) -> RelayedAnswer {
        var answer = original
        let lines = ["X-Trial: \(mark)"]
        switch mutator.number(14) {
        case 0, 1:
            mutator.damageContent(&answer.body, times: 3)
        case 2, 3:
            damageLines(&answer)
        case 4:
            answer.status = mutator.one(of: Self.statuses)
            if mutator.percent(30) { answer.body = [] }
            return RelayedAnswer(bytes: Self.faithful(answer, method: method, mark: mark))
        case 5, 6:
            var all = lines + Self.framing(answer, method)
            for _ in 0...mutator.number(2) {
                all.insert(mutator.one(of: Self.fields), at: mutator.number(all.count + 1))
            }
            return RelayedAnswer(
                bytes: Self.head(answer, all) + answer.body, ending: mutator.percent(70) ? .close : .keep)
        case 7:
            var bytes = Self.faithful(answer, method: method, mark: mark)
            let head = bytes.count - answer.body.count
            mutator.damageHead(&bytes, 0..<max(0, head - 2), times: 3)
            return RelayedAnswer(bytes: bytes, ending: .close)
        case 8: return cut(answer, method)
        case 9: return wrongLength(answer, lines)
        case 10: return chunked(answer, lines)
        case 11:
            let forged = "HTTP/1.1 200 OK\r\nX-Trial: \(Self.smuggled)\r\nContent-Length: 2\r\n\r\nno"
            let bytes = Self.faithful(answer, method: method, mark: mark) + Array(forged.utf8)
            return RelayedAnswer(bytes: bytes)
        case 12: return oddity(answer, method)
        default:
            if let plain = try? gzip(answer.body) {
                answer.body = plain
                if mutator.percent(60) { mutator.damageHead(&answer.body, 0..<answer.body.count) }
                let all = lines + ["Content-Encoding: gzip"] + Self.framing(answer, method)
                return RelayedAnswer(bytes: Self.head(answer, all) + answer.body)
            }
        }
        return RelayedAnswer(bytes: Self.faithful(answer, method: method, mark: mark))
    }

    private mutating func damageLines(_ answer: inout RawAnswer) {
        var lines = answer.body.split(separator: 0x0A, omittingEmptySubsequences: false).map { Array($0) }
        for _ in 0...mutator.number(3) where !lines.isEmpty {
            let place = mutator.number(lines.count)
            switch mutator.number(9) {
            case 0: lines.remove(at: place)
            case 1: lines.insert(lines[place], at: mutator.number(lines.count))
            case 2: lines.swapAt(place, mutator.number(lines.count))
            case 3: lines.insert(Array(mutator.one(of: Self.lines).utf8), at: place)
            case 4: lines[place] = Array(lines[place].prefix(mutator.number(lines[place].count)))
            case 5: lines.removeLast(lines.count - place)
            case 6: lines[place] = [UInt8](repeating: UInt8(ascii: "["), count: 1 << mutator.number(14))
            case 7: lines.insert([UInt8](repeating: UInt8(ascii: " "), count: 1 << mutator.number(16)), at: place)
            default: mutator.damageContent(&lines[place])
            }
        }
        answer.body = Array(lines.joined(separator: [0x0A]))
    }

    private static let lines = [
        #"{"type":"SyncResetV1","data":{},"ack":"SyncResetV1|reset"}"#,
        #"{"type":"SyncCompleteV1","data":{},"ack":"x"}"#,
        #"{"type":"SyncCompleteV1"}"#, #"{"type":"SyncAckV1","data":{},"ack":"TaskV2|zzz"}"#,
        #"{"type":"","data":{},"ack":""}"#,
        #"{"type":"TaskV2","data":{},"ack":"TaskV2|1"}"#, #"{"type":"TaskV2","data":null,"ack":null}"#,
        #"{"type":"TaskDeleteV1","data":{"taskId":"p0"},"ack":"TaskDeleteV1|1"}"#,
        #"{"type":"NewV9","data":{},"ack":"NewV9|1"}"#,
        #"{"type":"TaskTagDeleteV1","data":{"taskId":5,"tagId":{}},"ack":"|"}"#, "", "\r", "null", "[]", "{}",
        "\u{feff}", "\u{0}",
        #"{"type":"TagV1","data":{"id":"../x","label":"\ud800"},"ack":"TagV1|\u0000"}"#,
        #"{"results":[{"line":0,"outcome":"conflict"},{"line":99999999999,"outcome":"rejected","id":5}]}"#,
    ]

    private mutating func cut(_ answer: RawAnswer, _ method: String) -> RelayedAnswer {
        let bytes = Self.faithful(answer, method: method, mark: mark)
        let ending: RelayedAnswer.Ending = mutator.percent(4) ? .silence : .close
        return RelayedAnswer(bytes: Array(bytes.prefix(mutator.number(bytes.count))), ending: ending)
    }

    private mutating func wrongLength(_ answer: RawAnswer, _ lines: [String]) -> RelayedAnswer {
        let length = max(0, answer.body.count + mutator.one(of: [-10, -1, 1, 2, 1_000, 1 << 40]))
        let bytes = Self.head(answer, lines + ["Content-Length: \(length)"]) + answer.body
        return RelayedAnswer(bytes: bytes, ending: mutator.percent(3) ? .silence : .close)
    }

    private mutating func chunked(_ answer: RawAnswer, _ lines: [String]) -> RelayedAnswer {
        var body = RequestDraft.chunks(answer.body, of: 1 + mutator.number(500))
        if mutator.percent(60) { mutator.damageHead(&body, 0..<body.count, times: 3) }
        if mutator.percent(20) { body = body.dropLast(2) + Array("X-Trailer: a\r\nContent-Length: 5\r\n\r\n".utf8) }
        var all = lines + ["Transfer-Encoding: chunked"]
        // Whoever believes the length takes the rest for the next answer.
        if mutator.percent(25) { all.insert("Content-Length: \(1 + mutator.number(20))", at: mutator.number(3)) }
        let ending: RelayedAnswer.Ending = mutator.percent(70) ? .close : .keep
        return RelayedAnswer(bytes: Self.head(answer, all) + body, ending: ending)
    }

    private mutating func oddity(_ answer: RawAnswer, _ method: String) -> RelayedAnswer {
        let faithful = Self.faithful(answer, method: method, mark: mark)
        switch mutator.number(6) {
        case 0: return RelayedAnswer(bytes: [], ending: .close)
        case 1:
            return RelayedAnswer(
                bytes: Array("HTTP/1.1 103 Early\r\nLink: x\r\n\r\nHTTP/1.1 100\r\n\r\n".utf8) + faithful)
        case 2: return RelayedAnswer(bytes: Self.head(answer, []) + answer.body, ending: .close)
        case 3:
            let long = "X-Long: " + String(repeating: "x", count: 1 << (10 + mutator.number(8)))
            return RelayedAnswer(bytes: Self.head(answer, [long] + Self.framing(answer, method)) + answer.body)
        case 4: return RelayedAnswer(bytes: Array("HTTP/0.9\n".utf8) + faithful, ending: .close)
        default: return RelayedAnswer(bytes: (0..<200).map { _ in UInt8(mutator.number(256)) }, ending: .close)
        }
    }

    private static func framing(_ answer: RawAnswer, _ method: String) -> [String] {
        answer.status == 204 || answer.status == 304 || (100..<200).contains(answer.status)
            ? [] : ["Content-Length: \(answer.body.count)"]
    }

    private static func head(_ answer: RawAnswer, _ lines: [String]) -> [UInt8] {
        var text = "HTTP/1.1 \(answer.status) Said\r\n"
        let framing: Set = ["content-length", "transfer-encoding", "connection"]
        for field in answer.fields where !framing.contains(field.name.lowercased()) {
            text += "\(field.name): \(field.value)\r\n"
        }
        for line in lines { text += line + "\r\n" }
        return Array((text + "\r\n").utf8)
    }
}
