// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import DemoBackend
import Foundation
import JSONBytes
import NIOConcurrencyHelpers
import Testing

/// A gateway before a demo backend where a symptom of `docs/TROUBLESHOOTING.md` is produced, and where the commands that
/// the page shows are run as they are written there.
struct SymptomStage {
    static let ada = DemoConfiguration.Account.ada.id

    let backend: DemoBackend
    let gateway: ServedGateway
    private let configuration: String
    private let symptom: TroubleshootingPage.Symptom
    private let environment: [String: String]
    private let shown = NIOLockedValueBox(0)

    /// The answer to a pull.
    struct Pulled {
        var status: Int
        var json: JSONValue?

        /// The cursor for the next pull.
        var cursor: Int64? { json?["timestamp"]?.int64 }

        /// The ids in a list of a table.
        func ids(_ table: String, _ list: String) -> [String] {
            (json?["changes"]?[table]?[list]?.array ?? []).compactMap { $0["id"]?.string ?? $0.string }
        }
    }

    /// Sets a stage up, with another file or other keys than the quickstart's; in the end, every example of the symptom
    /// must have been shown.
    static func with(
        test: String = #function, environment: [String: String] = [:], path: String = "",
        configuration: String = Place.quickstart, backend settings: DemoConfiguration = DemoConfiguration(),
        _ body: (SymptomStage) async throws -> Void
    ) async throws {
        let symptom = try #require(try TroubleshootingPage().symptom(ofTest: test), "the page has no '\(test)'")
        try await DemoBackend.withRunning(settings) { backend in
            var variables = environment
            variables["RIND_BACKEND_URL"] = try await backend.url + path
            try await ServedGateway.with(backend, environment: variables, configuration: configuration) { gateway in
                let state = gateway.directory.appending(path: "rind-state.db").path(percentEncoded: false)
                // A configuration of the tree would have its state beside it.
                if configuration.hasPrefix(Place.root.path(percentEncoded: false)) {
                    variables["RIND_STATE_URL"] = "sqlite:\(state)"
                }
                let stage = SymptomStage(
                    backend: backend, gateway: gateway, configuration: configuration, symptom: symptom,
                    environment: variables)
                try await body(stage)
                #expect(stage.shown.withLockedValue(\.self) == symptom.examples.count, "examples of '\(symptom.name)'")
            }
        }
    }

    /// Fills the backend with a few of Ada's and Bob's records.
    func seed(projects: Int = 3, tasks: Int = 12) async throws {
        var seed = DemoSeed()
        (seed.projects, seed.tasks, seed.comments, seed.tags, seed.taskTags) = (projects, tasks, 0, 0, 0)
        try await backend.seed(seed)
    }

    /// Pulls, as an app of schema version 3.
    func pull(_ cursor: Int64? = nil, token: String = "ada-token", version: Int = 3) async throws -> Pulled {
        let since = cursor.map { "\($0)" } ?? "null"
        let answer = try await gateway.get("/sync?last_pulled_at=\(since)&schema_version=\(version)", token: token)
        return Pulled(status: answer.status, json: try? JSONValue.parse(answer.body))
    }

    /// Pulls until nothing comes, and returns the last cursor.
    func quietCursor(after cursor: Int64? = nil) async throws -> Int64 {
        let first = try #require(try await pull(cursor).cursor)
        return try #require(try await pull(first).cursor)
    }

    /// Pushes an edit of a task's name.
    func rename(_ task: String, to name: String, at cursor: Int64) async throws -> Int {
        let record = #"{"id":"\#(task)","name":"\#(name)","_status":"updated","_changed":"name"}"#
        let body = #"{"tasks":{"created":[],"updated":[\#(record)],"deleted":[]}}"#
        return try await gateway.post("/sync?last_pulled_at=\(cursor)", body, token: "ada-token").status
    }

    /// The digits of the device that was seen last.
    func replica() async throws -> String {
        let list = try await rind("replicas", "list", "--sort", "last-contact", "--limit", "1", "--json")
        return try #require(try JSONValue.parse(list.out)["replicas"]?[0]?["id"]?.string, "\(list.error)")
    }

    /// Runs `rind` with the gateway's configuration.
    @discardableResult
    func rind(_ arguments: String...) async throws -> Finished {
        try await RunningCommand.run(
            arguments + ["--config", configuration], environment: environment, directory: gateway.directory
        )
    }

    /// Waits until the gateway's log has a match.
    func expectLog(_ pattern: String) async {
        #expect(await gateway.command.errorMatch(pattern) != nil, "\(pattern)")
    }

    /// Runs the symptom's next example and expects the output that the page shows; the words of the page give way to
    /// those of the stage.
    ///
    /// - Parameters:
    ///   - replacements: More words of the page, with those of the stage.
    ///   - log: The log that `journalctl` prints; nil is the gateway's.
    ///   - changed: Variables of the environment of the command that are not the gateway's.
    /// - Returns: The output.
    /// - Throws: Where the page has no more examples, or the command cannot be run.
    @discardableResult
    func showNext(
        _ replacements: [String: String] = [:], log: String? = nil, environment changed: [String: String] = [:]
    ) async throws -> String {
        let number = shown.withLockedValue { number in
            defer { number += 1 }
            return number
        }
        try #require(number < symptom.examples.count, "the page has fewer examples")
        let example = symptom.examples[number]
        var words = [
            "/etc/rind/rind.ini": configuration, "TOKEN": "ada-token", "--user 42": "--user \(Self.ada)",
            "https://sync.example.com": "http://127.0.0.1:\(gateway.port)",
            "http://127.0.0.1:8790": "http://127.0.0.1:\(gateway.port)",
            "http://127.0.0.1:8792": "http://127.0.0.1:\(gateway.port)",
        ]
        words.merge(replacements) { $1 }
        let command = words.reduce(example.command) { $0.replacing($1.key, with: $1.value) }
        try (log ?? gateway.command.errorText).write(
            to: gateway.directory.appending(path: "journal"), atomically: true, encoding: .utf8)
        // The installed program's name, and the journal of the service.
        let functions = "rind() { '\(RunningCommand.executable)' \"$@\"; }\njournalctl() { cat journal; }\n"
        // What runs here is reached without a proxy.
        let variables = environment.merging(["no_proxy": "*", "NO_PROXY": "*"]) { $1 }.merging(changed) { $1 }
        let parts = example.output.flatMap { $0.split(separator: "…") }.map {
            TroubleshootingPage.fixedText(of: $0).trimmingCharacters(in: .whitespaces)
        }
        var output = ""
        // Commands see what the gateway stores later a second late.
        for _ in 0..<10 {
            let result = try await RunningCommand.run(
                ["-c", functions + command], program: "/bin/sh", environment: variables, directory: gateway.directory
            )
            output = result.out + result.error
            let text = TroubleshootingPage.fixedText(of: output)
            if parts.allSatisfy(text.contains) { return output }
            try await Task.sleep(for: .milliseconds(300))
        }
        let text = TroubleshootingPage.fixedText(of: output)
        for part in parts {
            #expect(text.contains(part), "\(part)\nis not in what '\(command)' prints:\n\(output)")
        }
        return output
    }
}
