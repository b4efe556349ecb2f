// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// What `rind check --connect` finds out by requests that change nothing, from backends with the faults of real ones.
@Suite(.timeLimit(.minutes(2))) struct BackendProbesTests {
    /// A backend, and the one finding that is not ok.
    struct Backend: Sendable, CustomTestStringConvertible {
        let testDescription: String
        /// The answers to a credential that is made up, to a token that was never given out, and to a push with a line.
        var stranger = ScriptedServer.Answer.status("401 No")
        /// The answer of the stream alone.
        var strangersStream = ScriptedServer.Answer.status("401 No")
        var tokenAhead = ScriptedServer.Answer.json(Self.reset)
        var push: @Sendable (String) -> ScriptedServer.Answer = ScriptedServer.refusePush
        var token = "SyncCompleteV1|7"
        var lines = ""
        var said: String?
        var hint = ""
        var status: Int32 = 1

        private static let reset = #"{"type":"SyncResetV1","data":{},"ack":"SyncResetV1|reset"}"# + "\n"

        func answer(_ request: ScriptedServer.Request, _ body: String) -> ScriptedServer.Answer {
            let isStream = request.path == "/sync/stream"
            guard request.isSignedIn else { return isStream ? strangersStream : stranger }
            guard isStream else { return .json(#"{"id":"ada"}"#) }
            if body.contains("SyncCompleteV1") { return tokenAhead }
            let end = #"{"type":"SyncCompleteV1","data":{},"ack":"\#(token)"}"#
            return .json(lines + end + "\n")
        }
    }

    private static func list(_ id: String, _ ack: String) -> String {
        #"{"type":"ListV1","data":{"id":"\#(id)","title":"a","createdAt":"2026-01-01T00:00:00Z"},"ack":"\#(ack)"}"#
            + "\n"
    }

    private static let credential = "GET /users/me: status"
    private static let pushed = "POST /sync/push:"
    private static let stream = "POST /sync/stream:"
    private static let whole = #"{"type":"SyncCompleteV1","data":{},"ack":"SyncCompleteV1|7"}"# + "\n"

    private static let backends = [
        Backend(testDescription: "a right one", status: 0),
        Backend(testDescription: "a token is refused", tokenAhead: .status("410 Gone"), status: 0),
        // What follows is wrong.
        Backend(
            testDescription: "everybody is served", stranger: .json(#"{"id":"guest"}"#),
            said: "wrong  backend  \(credential) 200 to a made-up credential",
            hint: "whoever asks is served: does the backend check tokens there?"),
        Backend(
            testDescription: "an expired sign-in is a user who is not there", stranger: .status("404 Not Found"),
            said: "wrong  backend  \(credential) 404 to a made-up credential",
            hint: "where a sign-in has expired, the app would take its account for deleted: answer 401"),
        Backend(
            testDescription: "an expired sign-in is a fault", stranger: .status("500 Oh"),
            said: "wrong  backend  \(credential) 500 to a made-up credential",
            hint: "where a sign-in has expired, the app would get 502 and not sign in anew: answer 401"),
        Backend(
            testDescription: "tokens of a lost database are taken", tokenAhead: .json(whole),
            said: "note   backend  \(stream) takes a token that it cannot have made",
            hint:
                "after a backup is restored, devices miss changes: answer with a reset (docs/BACKEND-PROTOCOL.md, 7), "
                + "or run 'rind state distrust --restored backend' each time", status: 0),
        Backend(
            testDescription: "tokens of a lost database are taken, and tell nothing", tokenAhead: .json(whole),
            token: "SyncCompleteV1|xyz", said: "note   backend  \(stream) takes a token that is none",
            hint: "after a backup is restored, devices miss changes; its tokens do not show their age, so nothing is "
                + "noticed: answer with a reset (docs/BACKEND-PROTOCOL.md, 7), or run "
                + "'rind state distrust --restored backend' each time", status: 0),
        Backend(
            testDescription: "tokens of a lost database are a fault", tokenAhead: .status("500 Oh"),
            said: "wrong  backend  \(stream) status 500 to a token that it cannot have made",
            hint: "after a backup is restored, each pull of such a device fails: answer with a reset "
                + "(docs/BACKEND-PROTOCOL.md, 7)"),
        Backend(
            testDescription: "there is nothing for pushes", push: { _ in .status("404 Not Found") },
            said: "wrong  backend  \(pushed) status 404 to a push of no lines", hint: "[push] path"),
        Backend(
            testDescription: "the account may not push", push: { _ in .status("403 No") },
            said: "wrong  backend  \(pushed) status 403 to a push of no lines",
            hint: "may the account push? [push] path"),
        Backend(
            testDescription: "an empty push is a fault",
            push: { $0.isEmpty ? .status("500 Oh") : ScriptedServer.refusePush($0) },
            said: "note   backend  \(pushed) status 500 to a push of no lines",
            hint: "some backends fail at an empty body; apps push none", status: 0),
        Backend(
            testDescription: "no body is read", push: { _ in .json(#"{"results":[]}"#) },
            said: "wrong  backend  \(pushed) answers 200 to a push of one line, without a result for it",
            hint: "it may not have read the line, so apps would get 502 push.unknown_outcome: does its server read a "
                + "body with Content-Length, and does it answer with one result a line? (docs/BACKEND-PROTOCOL.md, 8.6)"
        ),
        Backend(
            testDescription: "a push has no results", push: { _ in .json(#"{"ok":true}"#) },
            said:
                "wrong  backend  \(pushed) the backend's answer is not what was agreed on: there are no results, to a push of one "
                + "line that it has to refuse",
            hint: "a push of an app would be 502 again and again: answer 422 and name the line that is refused, and "
                + "200 with one result a line (docs/BACKEND-PROTOCOL.md, 8.6 and 8.7)"),
        Backend(
            testDescription: "no body is read, and an empty one is a fault",
            push: { $0.isEmpty ? .status("500 Oh") : .json(#"{"results":[]}"#) },
            said: "wrong  backend  \(pushed) answers 200 to a push of one line, without a result for it",
            hint: "it may not have read the line, so apps would get 502 push.unknown_outcome: does its server read a "
                + "body with Content-Length, and does it answer with one result a line? (docs/BACKEND-PROTOCOL.md, 8.6)"
        ),
        Backend(
            testDescription: "an empty push has no results",
            push: { $0.isEmpty ? .json(#"{"ok":true}"#) : ScriptedServer.refusePush($0) }, status: 0),
        Backend(
            testDescription: "a table that is not there is a conflict",
            push: {
                $0.isEmpty
                    ? ScriptedServer.refusePush($0)
                    : ScriptedServer.Answer(
                        status: "409 No", fields: ["Content-Type: application/json"],
                        body: #"{"results":[{"line":0,"outcome":"conflict"}]}"#)
            },
            said: "wrong  backend  \(pushed) says 'conflict' of a table that it does not have",
            hint: "a device would be told to sync again for ever: say 'rejected' (docs/BACKEND-PROTOCOL.md, 8.5)"),
        Backend(
            testDescription: "the backend is busy when it is pushed to",
            push: { $0.isEmpty ? ScriptedServer.refusePush($0) : .status("503 Busy") },
            said: "unsure backend  URL: the backend is busy (503) (backend.busy)", hint: "try again"),
        Backend(
            testDescription: "the stream asks nobody", strangersStream: .json(whole),
            said: "wrong  backend  \(stream) status 200 to a made-up credential",
            hint: "whoever asks is served: does the backend check tokens there?"),
        Backend(
            testDescription: "what is no token is another fault than one that has expired",
            stranger: .status("400 Bad"), said: "unsure backend  \(credential) 400 to a made-up credential",
            hint: "if it is so for an expired token, too, the app gets 502 and does not sign in anew: answer 401"),
        Backend(
            testDescription: "tokens tell nothing, and what is none is refused", tokenAhead: .status("400 Bad"),
            token: "SyncCompleteV1|xyz", said: "note   backend  \(stream) refuses a token that is none (400)",
            hint:
                "its tokens do not show their age, so none of a lost database was tried (docs/BACKEND-PROTOCOL.md, 7)",
            status: 0),
        Backend(
            testDescription: "tokens go back and forth", lines: list("l1", "a|2") + list("l2", "a|1"),
            said:
                "unsure backend  \(stream) ListV1: 1 line with an older token than the line before; if the stream breaks "
                + "between the two, the newer token confirms both",
            hint: "send the lines of a namespace in the order of their tokens (docs/BACKEND-PROTOCOL.md, 4)"),
        Backend(
            testDescription: "a token is a number",
            lines: list("l1", "a|1").replacing(#""a|1""#, with: "1"),
            said:
                "unsure backend  \(stream) ListV1: 1 line whose token in 'ack' is a number; it goes back as a text, and a "
                + "token should be one", hint: ""),
        Backend(
            testDescription: "a record is deleted and comes again",
            lines: #"{"type":"ListDeleteV1","data":{"listId":"l1"},"ack":"b|2"}"# + "\n" + list("l1", "a|1"), status: 0),
        Backend(
            testDescription: "whatever is pushed is applied",
            push: { .json($0.isEmpty ? #"{"results":[]}"# : #"{"results":[{"line":0,"outcome":"ok"}]}"#) },
            said: "note   backend  \(pushed) says that it has applied a delete of 'ID' in the table 'rind_check'",
            hint:
                "pushes of a table whose name it does not know would be lost: answer 422 (docs/BACKEND-PROTOCOL.md, 8.5)",
            status: 0),
        Backend(
            testDescription: "no line is named",
            push: { $0.isEmpty ? ScriptedServer.refusePush($0) : .status("400 No") },
            said:
                "wrong  backend  \(pushed) the backend refuses the request (400), to a push of one line that it has to "
                + "refuse",
            hint: "a push of an app would be 502 again and again: answer 422 and name the line that is refused, and "
                + "200 with one result a line (docs/BACKEND-PROTOCOL.md, 8.6 and 8.7)"),
        Backend(
            testDescription: "a line that cannot be taken is a fault",
            push: { $0.isEmpty ? ScriptedServer.refusePush($0) : .status("500 Oh") },
            said: "wrong  backend  \(pushed) the backend failed (500), to a push of one line that it has to refuse",
            hint: "a push of an app would be 502 again and again: answer 422 and name the line that is refused, and "
                + "200 with one result a line (docs/BACKEND-PROTOCOL.md, 8.6 and 8.7)"),
        Backend(
            testDescription: "two lines have one token", lines: list("l1", "a|1") + list("l2", "a|1"),
            said: "unsure backend  \(stream) ListV1: 1 line with the token of the line before; if the stream breaks "
                + "between the two, the second is lost until the next full comparison",
            hint: "give each line a token of its own (docs/BACKEND-PROTOCOL.md, 4)"),
        Backend(
            testDescription: "a record comes and is deleted",
            lines: list("l1", "a|1") + #"{"type":"ListDeleteV1","data":{"listId":"l1"},"ack":"b|2"}"# + "\n",
            said:
                "note   backend  \(stream) lists: a record comes and is deleted behind it, in another namespace; it is kept, and the "
                + "next pull compares the whole type",
            hint: "give rows and deletions one namespace if they are events (docs/BACKEND-PROTOCOL.md, 3)", status: 0),
    ]

    @Test(arguments: backends)
    func `a fault that would only show when it hurts is found by a request that changes nothing`(
        _ backend: Backend
    ) async throws {
        let script: ScriptedServer.Script = { request, _, body in backend.answer(request, body) }
        let result = try await ScriptedServer.with(reading: script, pushes: backend.push) { server in
            try await Place.withDirectory { directory in
                try await RunningCommand.run(
                    [
                        "check", "--config",
                        Place.root.appending(path: "examples/python-backend/rind.ini").path(percentEncoded: false),
                        "--connect", "--header", "Authorization: Bearer ada-token",
                    ], environment: ["RIND_BACKEND_URL": server.url], directory: directory)
            }
        }
        let text = result.out.replacing(#/rind-check-[0-9a-z]+/#, with: "ID")
            .replacing(#/http:..127\.0\.0\.1:[0-9]+/#, with: "URL")
        let lines = text.split(separator: "\n").map(String.init)
        #expect(result.status == backend.status, "\(result.out)\(result.error)")
        let odd = lines.indices.filter { lines[$0].contains(#/^(note|unsure|wrong) /#) }
        #expect(odd.map { lines[$0] } == [backend.said].compactMap(\.self), "\(result.out)")
        if let place = odd.first, !backend.hint.isEmpty {
            #expect(lines[place + 1].hasSuffix("= hint: \(backend.hint)"), "\(result.out)")
        }
    }
}
