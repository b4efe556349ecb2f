// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import DemoBackend
import Foundation
import Testing

/// `rind check --connect` before backends that are right, and before everything else that may stand at an address.
@Suite(.timeLimit(.minutes(5))) struct ConnectionCheckTests {
    private static let token = ["--header", "Authorization: Bearer ada-token"]

    private static func check(
        _ url: String, _ arguments: [String] = [], _ environment: [String: String] = [:], input: String? = nil
    ) async throws -> Finished {
        try await Place.withDirectory { directory in
            try await RunningCommand.run(
                ["check", "--config", Place.quickstart, "--connect"] + arguments,
                environment: environment.merging(["RIND_BACKEND_URL": url]) { own, _ in own }, directory: directory,
                input: input
            )
        }
    }

    /// The lines about the backend.
    private static func backendLines(_ result: Finished) -> [String] {
        result.out.split(separator: "\n").map(String.init).filter {
            $0.wholeMatch(of: #/(ok|note|unsure|wrong) +backend .*/#) != nil
        }
    }

    @Test func `the right backend turns strangers away, and with a credential shows itself`() async throws {
        try await DemoBackend.withRunning { backend in
            // More lines than a page of the backend has.
            try await backend.edit((0..<1_200).map { .put("tags", ["id": .string("t-\($0)"), "label": "x"]) })
            let (url, before) = (try await backend.url, try await backend.records())
            let stranger = try await Self.check(url)
            #expect(stranger.status == 0, "\(stranger.out)")
            #expect(
                Self.backendLines(stranger) == [
                    "ok     backend  turns strangers away at GET /users/me (401), GET /sync/ack (401), "
                        + "POST /sync/stream (401); --header signs in and really asks"
                ])
            let file = "Authorization: Bearer ada-token\n\n"
            for (arguments, input) in [(Self.token, nil), (["--header-file", "-"], file)] {
                let known = try await Self.check(url, arguments, input: input)
                #expect(known.status == 0, "\(known.out)")
                let lines = Self.backendLines(known)
                #expect(lines.count == 6)
                #expect(
                    lines[0].contains(#/^ok .* GET /users/me: says at 'id' who the caller is: principal [0-9a-f]{12}$/#)
                )
                #expect(lines[1] == "ok     backend  GET /sync/ack: lists 0 checkpoints")
                #expect(lines[2] == "ok     backend  POST /sync/stream: streams lines of TagV1")
                #expect(lines[3] == "ok     backend  GET /users/me: refuses a made-up credential (401)")
                #expect(lines[4] == "ok     backend  POST /sync/stream: refuses a made-up credential (401)")
                #expect(
                    lines[5] == "ok     backend  POST /sync/push: reads a push, and names the line that it refuses")
            }
            // Nothing that changes something was called.
            #expect(backend.count("POST", "/sync/ack") + backend.count("DELETE", "/sync/ack") == 0)
            #expect(try await backend.records() == before)
        }
    }

    /// A backend that is not the configured one: the demo backend with another configuration.
    struct Mistake: Sendable, CustomTestStringConvertible {
        let testDescription: String
        var path = ""
        var environment: [String: String] = [:]
        var retires = false
        /// What is said of it to whoever is signed in.
        let said: String
        /// Whether a stranger sees it, too.
        var isOpen = true
        /// What is said of it to a stranger, if it is something else.
        var saidToStranger: String?
    }

    private static let stream = #"body {"types":"{types}"}"#
    private static let mistakes = [
        Mistake(testDescription: "a wrong base path", path: "/api", said: "GET /api/users/me: status 404"),
        Mistake(
            testDescription: "a wrong path of the who-am-I",
            environment: ["RIND_IDENTITY_PRINCIPAL": "backend:GET /users/self id"], said: "GET /users/self: status 404"),
        Mistake(
            testDescription: "a member that the who-am-I does not have",
            environment: ["RIND_IDENTITY_PRINCIPAL": "backend:GET /users/me userId"],
            said: "GET /users/me: nothing at 'userId'", isOpen: false),
        Mistake(
            testDescription: "a wrong path of the stream",
            environment: ["RIND_BACKEND_STREAM": "POST /sync/streams \(stream)"], said: "POST /sync/streams: status 404"
        ),
        Mistake(
            testDescription: "a wrong path of the list", environment: ["RIND_BACKEND_LIST": "GET /sync/acks"],
            said: "GET /sync/acks: status 404"),
        Mistake(
            testDescription: "a wrong path of the acks",
            environment: ["RIND_BACKEND_ACK": #"POST /sync/acks body {"acks":"{acks}"}"#],
            said: "POST /sync/acks: status 404", saidToStranger: "GET /sync/acks: status 404"),

        Mistake(
            testDescription: "types that the backend does not stream", retires: true,
            said: "POST /sync/stream: status 400, and its answer names TagsV1", isOpen: false),
        Mistake(
            testDescription: "TLS where there is none", environment: ["TLS": "1"], said: "(backend.tls)"),
    ]

    @Test(arguments: mistakes)
    func `a mistake in the configuration is not ok, and the line says where`(_ mistake: Mistake) async throws {
        var configuration = DemoConfiguration()
        if mistake.retires { configuration.retirement = DemoRetirement(["TagsV1"], style: .names) }
        try await DemoBackend.withRunning(configuration) { backend in
            var environment = mistake.environment
            var url = try await backend.url + mistake.path
            if environment.removeValue(forKey: "TLS") != nil { url = url.replacing("http:", with: "https:") }
            for arguments in mistake.isOpen ? [[], Self.token] : [Self.token] {
                let result = try await Self.check(url, arguments, environment)
                #expect(result.status == 1)
                let said = arguments.isEmpty ? mistake.saidToStranger ?? mistake.said : mistake.said
                #expect(
                    Self.backendLines(result).contains { !$0.hasPrefix("ok") && $0.contains(said) },
                    "\(result.out)")
                #expect(result.out.contains("= hint: "))
            }
        }
    }

    /// Something else that answers.
    struct Foreigner: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let said: String
        let answer: @Sendable (ScriptedServer.Request) -> ScriptedServer.Answer
        /// Whether only a user with a credential sees it.
        var isBehindLogin = false
        /// How the line begins for a stranger; for whoever is signed in it is wrong.
        var verdict = "wrong"
        /// What is said to whoever is signed in, if it is something else.
        var saidToKnown: String?
    }

    private static let foreigners = [
        Foreigner(testDescription: "nginx's welcome page", said: "status 404, a page of HTML") {
            $0.path == "/" ? .page() : .page("404 Not Found")
        },
        Foreigner(testDescription: "a login page with status 200", said: "status 200, a page of HTML") { _ in .page() },
        Foreigner(testDescription: "a redirection to the login", said: "status 302, a redirection to /login") { _ in
            .status("302 Found", "Location: /login?next=%2Fsync")
        },
        Foreigner(testDescription: "a server that says 500", said: "status 500, the backend failed") { _ in
            .status("500 Oh")
        },
        Foreigner(testDescription: "JSON of something else", said: "and no JSON, but text/plain") { _ in
            ScriptedServer.Answer(fields: ["Content-Type: text/plain"], body: "It works")
        },
        Foreigner(
            testDescription: "a stream that is an array",
            said: "the stream's line 1 is of the kind array, and each line must be an object",
            answer: { rightHead($0) ?? .json("[{\"type\":\"TagV1\",\"ack\":\"TagV1|1\",\"data\":{\"id\":\"t\"}}]\n") },
            isBehindLogin: true),
        Foreigner(
            testDescription: "a stream without its complete line", said: "ends without the line 'SyncCompleteV1'",
            answer: { rightHead($0) ?? .json("{\"type\":\"TagV1\",\"ack\":\"TagV1|1\",\"data\":{\"id\":\"t\"}}\n") },
            isBehindLogin: true),
        Foreigner(
            testDescription: "lines without acks", said: "line 1 (TagV1) has no text at 'ack'",
            answer: { rightHead($0) ?? .json("{\"type\":\"TagV1\",\"ack\":{},\"data\":{\"id\":\"t\"}}\n") },
            isBehindLogin: true),
        Foreigner(
            testDescription: "a list that is none",
            said: "GET /sync/ack: the backend's answer is not what was agreed on",
            answer: {
                $0.method == "GET" && $0.path == "/sync/ack" && $0.isSignedIn ? .json("{}") : rightHead($0) ?? .json("")
            },
            isBehindLogin: true),
        Foreigner(
            testDescription: "a who-am-I for strangers", said: "without a credential",
            answer: { $0.path == "/users/me" ? .json(#"{"id":"x"}"#) : .status("401 No") },
            saidToKnown: "GET /sync/ack: status 401, the credential is not accepted"),
        Foreigner(
            testDescription: "a who-am-I that rounds its ids",
            said: "GET /users/me: what is at 'id' is neither a text of 1 to 255 bytes nor an integer: number",
            answer: { $0.path == "/users/me" && $0.isSignedIn ? .json(#"{"id":1.5}"#) : rightHead($0) ?? .json("") },
            isBehindLogin: true),
        Foreigner(
            testDescription: "a login in pages", said: "GET /users/me: status 401, a page of HTML",
            answer: { _ in .page("401 Unauthorized") }, verdict: "unsure",
            saidToKnown: "GET /users/me: status 401, the credential is not accepted"),
    ]

    /// The right answers to everything but the stream, of which strangers get none.
    @Sendable private static func rightHead(_ request: ScriptedServer.Request) -> ScriptedServer.Answer? {
        switch request.path {
        case "/users/me": request.isSignedIn ? .json(#"{"id":"ada"}"#) : .status("401 No")
        case "/sync/ack": request.isSignedIn ? .json("[]") : .status("401 No")
        case "/sync/stream": request.isSignedIn ? nil : .status("401 No")
        default: .status("404 Not Found")
        }
    }

    /// A stream of nothing.
    private static let wholeStream = #"{"type":"SyncCompleteV1","ack":"SyncCompleteV1|1","data":{}}"# + "\n"

    @Test(arguments: foreigners)
    func `what is not the backend is not ok`(_ foreigner: Foreigner) async throws {
        try await ScriptedServer.with(foreigner.answer) { server in
            for arguments in foreigner.isBehindLogin ? [Self.token] : [[], Self.token] {
                let result = try await Self.check(server.url, arguments)
                let said = arguments.isEmpty ? foreigner.said : foreigner.saidToKnown ?? foreigner.said
                let verdict = arguments.isEmpty ? foreigner.verdict : "wrong"
                #expect(result.status == 1)
                let lines = Self.backendLines(result).filter { $0.contains(said) }
                #expect(!lines.isEmpty && lines.allSatisfy { $0.hasPrefix("\(verdict) ") }, "\(result.out)")
                // The query of a redirection may carry what is secret.
                #expect(!result.out.contains("next="))
            }
            #expect(server.requests.allSatisfy { $0.method == "GET" || $0.path == "/sync/stream" })
        }
    }

    @Test func `a server that turns away whatever it is asked shows nothing`() async throws {
        try await ScriptedServer.with({ _ in .status("401 No") }) { server in
            let stranger = try await Self.check(server.url)
            #expect(stranger.status == 1)
            let lines = Self.backendLines(stranger)
            #expect(lines.count == 1)
            #expect(lines.first?.hasPrefix("unsure backend  \(server.url) turns strangers away with 401") == true)
            #expect(stranger.out.contains("sign in with --header"))
            let known = try await Self.check(server.url, Self.token)
            #expect(known.status == 1)
            #expect(known.out.contains("GET /users/me: status 401, the credential is not accepted"))
        }
    }

    @Test(arguments: ["GET /sync/ack", "GET /sync/akcs"])
    func `a login that stands before the routing shows nothing of the paths behind it`(_ list: String) async throws {
        try await ScriptedServer.with({ request in
            let isTurnedAway = request.path.hasPrefix("/sync/") || request.path == "/users/me"
            return isTurnedAway ? .status("401 No") : .status("404 Not Found")
        }) { server in
            let result = try await Self.check(server.url, [], ["RIND_BACKEND_LIST": list])
            #expect(result.status == 1)
            let lines = Self.backendLines(result)
            #expect(
                lines.first
                    == "ok     backend  turns strangers away at GET /users/me (401); --header signs in and really asks")
            #expect(lines.count > 2 && lines.dropFirst().allSatisfy { $0.hasPrefix("unsure ") }, "\(result.out)")
            for (place, method) in [(list, "GET"), ("POST /sync/stream", "POST")] {
                let said = "\(place): status 401; the made-up \(method) /sync/rind-check-"
                #expect(lines.contains { $0.contains(said) && $0.hasSuffix(": status 401") }, "\(result.out)")
            }
            #expect(result.out.contains("sign in with --header"))
        }
    }

    @Test(arguments: ["GET /sync/ack", "POST /sync/stream"])
    func `a list or a stream that strangers get is wrong`(_ place: String) async throws {
        try await ScriptedServer.with({ request in
            var request = request
            if "\(request.method) \(request.path)" == place { request.isSignedIn = true }
            return Self.rightHead(request) ?? .json(Self.wholeStream)
        }) { server in
            let stranger = try await Self.check(server.url)
            #expect(stranger.status == 1)
            #expect(
                Self.backendLines(stranger).contains("wrong  backend  \(place): answers without a credential"),
                "\(stranger.out)")
            let known = try await Self.check(server.url, Self.token)
            // Whoever comes with a wrong credential gets the stream, too.
            #expect(known.out.contains("wrong") == (place == "POST /sync/stream"), "\(known.out)")
        }
    }

    @Test(arguments: [
        ("200 OK", "ok     backend  POST /sync/ack/set: takes a list without tokens (200)", 0),
        ("422 Unprocessable", "ok     backend  POST /sync/ack/set: refuses a list without tokens (422)", 0),
        ("500 Oh", "note   backend  POST /sync/ack/set: status 500 to a list without tokens", 0),
        ("404 Not Found", "wrong  backend  POST /sync/ack/set: status 404", 1),
        ("405 Not Allowed", "wrong  backend  POST /sync/ack/set: status 405", 1),
        ("503 Busy", "unsure backend  POST /sync/ack/set: status 503, the backend is busy", 1),
    ])
    func `a path of acks of its own is asked with no token, and by a stranger not at all`(
        _ answer: String, _ said: String, _ status: Int32
    ) async throws {
        let environment = ["RIND_BACKEND_ACK": #"POST /sync/ack/set body {"acks":"{acks}"}"#]
        try await ScriptedServer.with({ request in
            if request.path == "/sync/ack/set" {
                return request.method == "POST" ? .status(answer) : .page("404 Not Found")
            }
            return Self.rightHead(request) ?? .json(Self.wholeStream)
        }) { server in
            let stranger = try await Self.check(server.url, [], environment)
            #expect(stranger.status == 1)
            #expect(Self.backendLines(stranger).contains("unsure backend  GET /sync/ack/set: status 404"))
            #expect(!server.requests.contains { $0.path == "/sync/ack/set" && $0.method != "GET" })
            let known = try await Self.check(server.url, Self.token, environment)
            #expect(known.status == status, "\(known.out)")
            #expect(Self.backendLines(known).contains { $0.hasPrefix(said) })
        }
    }

    @Test(arguments: [false, true])
    func `what forgets checkpoints is never called: a 404 to its path is noted, and is no failure`(
        _ isPage: Bool
    ) async throws {
        let environment = ["RIND_BACKEND_FORGET": #"POST /sync/ack/drop body {"types":"{namespaces}"}"#]
        try await ScriptedServer.with({ request in
            if request.path == "/sync/ack/drop" { return isPage ? .page("404 Not Found") : .status("404 Not Found") }
            return Self.rightHead(request) ?? .json(Self.wholeStream)
        }) { server in
            let known = try await Self.check(server.url, Self.token, environment)
            #expect(known.status == 0, "\(known.out)")
            #expect(Self.backendLines(known).contains("note   backend  GET /sync/ack/drop: status 404"))
            let stranger = try await Self.check(server.url, [], environment)
            #expect(stranger.status == 1)
            #expect(Self.backendLines(stranger).contains("unsure backend  GET /sync/ack/drop: status 404"))
            #expect(!server.requests.contains { $0.path == "/sync/ack/drop" && $0.method != "GET" })
        }
    }

    @Test func `a field that is not sent on, and a caller whom the rule does not find, are wrong`() async throws {
        try await DemoBackend.withRunning { backend in
            let url = try await backend.url
            let unsent = try await Self.check(url, Self.token + ["--header", "X-Tenant: a"])
            #expect(unsent.status == 1)
            #expect(unsent.out.contains("the field 'X-Tenant' of '--header' is not sent on"))
            let anybody = try await Self.check(url, ["--header", "User-Agent: a"])
            #expect(anybody.status == 0 && anybody.out.contains("turns strangers away"))
            let cookie = ["RIND_IDENTITY_PRINCIPAL": "cookie:session"]
            let nobody = try await Self.check(url, Self.token, cookie)
            #expect(nobody.status == 1)
            #expect(nobody.out.contains("no credential where [identity] principal looks"))
            let bearer = try await Self.check(url, Self.token, ["RIND_IDENTITY_PRINCIPAL": "bearer"])
            #expect(bearer.status == 0, "\(bearer.out)")
            #expect(bearer.out.contains("the credential says who the caller is: principal "))
        }
    }

    @Test func `a file of fields that is none has its own status, and its text is not repeated`() async throws {
        let result = try await Self.check("http://127.0.0.1:1", ["--header-file", "-"], input: "a-secret\n")
        #expect(result.status == 65)
        #expect(result.error.contains("Line 1 of - is no header field"))
        #expect(!(result.out + result.error).contains("a-secret"))
        #expect(try await Self.check("http://127.0.0.1:1", ["--header-file", "none"]).status == 66)
        let alone = try await RunningCommand.run("check", "--config", Place.quickstart, "-H", "A: b")
        #expect(alone.status == 64)
    }
}
