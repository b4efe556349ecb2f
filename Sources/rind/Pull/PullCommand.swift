// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Curl
import HTTPTypes
import SyncModel

/// `rind pull`.
struct PullCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pull", abstract: "Pulls once, as WatermelonDB does, from any endpoint, and prints what came.",
        discussion: """
            EXAMPLES
              rind pull http://127.0.0.1:8790/sync -H 'Authorization: Bearer ada-token'
              rind pull http://127.0.0.1:8790/sync -H 'Authorization: Bearer ada-token' \\
                --schema-version 3 --last-pulled-at 1732178235123
              rind pull https://example.org/api/sync --header-file fields.txt --json

            The request is the documentation's: GET
            URL?last_pulled_at=…&schema_version=…&migration=…. Every pull that presents a
            timestamp tells a gateway that all up to it has arrived; nothing is stored
            here.

            EXIT STATUS
              69  no answer
              76  an error, or no answer that WatermelonDB takes
              77  the credential is not accepted
            """)

    @Argument(help: ArgumentHelp("The endpoint's URL.", valueName: "url"))
    var url: String

    @OptionGroup var headers: HeaderArguments

    @Option(help: ArgumentHelp("The timestamp of an earlier pull; without it this is a first sync.", valueName: "n"))
    var lastPulledAt: Int64?

    @Option(help: ArgumentHelp("The app's schema version; not sent by default.", valueName: "n"))
    var schemaVersion: Int?

    @Option(help: ArgumentHelp("The migration as JSON; 'null' by default.", valueName: "json"))
    var migration = "null"

    @Flag(help: "Print the answer itself instead of counts.")
    var json = false

    func validate() throws {
        guard url.hasPrefix("http://") || url.hasPrefix("https://") else {
            throw ValidationError("The URL must begin with http:// or https://.")
        }
    }

    func run() async throws {
        try await reportingFailures {
            Console.ignoreBrokenPipes()
            let request = try makeRequest()
            let reactor = try CurlReactor.start()
            let result: Result<HTTPExchange, any Error>
            do { result = .success(try await HTTPExchange.run(request, reactor)) } catch { result = .failure(error) }
            await reactor.shutdown()
            switch result {
            case .success(let exchange): try show(exchange)
            case .failure(let error):
                let reason = (error as? CurlError).map(Self.reason) ?? "\(error)"
                throw CommandFailure(.unavailable, "No whole answer from \(url): \(reason).")
            }
        }
    }

    private func makeRequest() throws -> CurlRequest {
        var arguments = [("last_pulled_at", lastPulledAt.map(String.init) ?? "null")]
        if let schemaVersion { arguments.append(("schema_version", String(schemaVersion))) }
        arguments.append(("migration", migration))
        let query = arguments.map { "\($0.0)=\(Self.escaped($0.1))" }.joined(separator: "&")
        var request = CurlRequest(method: .get, url: url + (url.contains("?") ? "&" : "?") + query)
        for field in try headers.fields { request.fields.append(field) }
        // Like a phone's patience with a first sync, and then some: servers may think for long before they answer.
        request.timeouts = CurlTimeouts(firstByte: .seconds(300), idle: .seconds(120))
        return request
    }

    private func show(_ exchange: HTTPExchange) throws {
        guard exchange.isSuccess else {
            let code = exchange.errorCode.map { " (\($0))" } ?? ""
            throw CommandFailure(
                [401, 403].contains(exchange.status) ? .noPermission : .protocolViolation,
                "\(url) answered with status \(exchange.status)\(code): \(exchange.sentence)")
        }
        let changes: PulledChanges
        do throws(PulledChanges.Problem) { changes = try PulledChanges(exchange.body) } catch {
            throw CommandFailure(
                .protocolViolation, "\(error.message) It begins with: \(exchange.sentence.shown(upTo: 120))")
        }
        guard !json else { return Console.out(bytes: exchange.body + [0x0A]) }
        for line in changes.lines { Console.out(line) }
        if let strategy = changes.strategy { Console.out("strategy \(strategy)") }
        Console.out("timestamp \(changes.timestamp)  (\(TimeText.utc(Instant(milliseconds: changes.timestamp))))")
    }

    /// libcurl's sentence without what only makes sense for a gateway.
    static func reason(_ error: CurlError) -> String {
        switch error {
        case .resolve(let text), .connect(let text), .tls(let text), .closed(let text), .system(let text),
            .invalidRequest(let text), .protocolViolation(let text):
            text
        case .timeout(let deadline): "it took too long (\(deadline.rawValue))"
        case .headTooLarge, .bodyTooLarge: "it is too large"
        case .upload, .cancelled, .shutDown: "it was cancelled"
        }
    }

    /// Returns the text as it stands in a query.
    static func escaped(_ text: String) -> String {
        text.utf8.map { byte in
            let isPlain =
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."),
                    UInt8(ascii: "~"):
                    true
                default: false
                }
            guard !isPlain else { return String(UnicodeScalar(byte)) }
            let digits = String(byte, radix: 16, uppercase: true)
            return "%" + (digits.count == 1 ? "0" + digits : digits)
        }.joined()
    }
}
