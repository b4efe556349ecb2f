// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import GatewayConfig

/// `rind check`.
struct CheckCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check", abstract: "Checks a configuration and says everything that is wrong with it.",
        discussion: """
            EXAMPLES
              rind check --config rind.ini
              rind check --config rind.ini --connect
              rind check --config rind.ini --connect --header 'Authorization: Bearer ada'
              rind check --config rind.ini --sample lines.jsonl
              rind check --config rind.ini --sample lines.jsonl --schema-version 2

            Every mistake is printed with its line, a caret and, where one is known, a way
            out; the status is then 78. Nothing is changed, and nothing is asked of anybody
            without '--connect'.

            With it the backend is asked what changes nothing: who the caller is, the
            checkpoints, the beginning of the stream. A stranger must be turned away there
            and not everywhere; with '--header' or '--header-file' the credential is sent,
            and the answers must be what is configured. What is not plainly right is
            'wrong' or 'unsure', and the status is then 1; a 'note' is no failure.

            A sample is a piece of what the backend streams, one JSON object a line:
              curl -sS http://127.0.0.1:2283/api/sync/stream \\
                -H 'Authorization: Bearer …' -H 'Content-Type: application/json' \\
                -d '{"types":["AlbumsV2"]}' > lines.jsonl
            It is printed as the records that an app would get, and then what looks wrong
            in the mapping.
            """)

    @Option(name: .shortAndLong, help: ArgumentHelp("The configuration file.", valueName: "file"))
    var config: String

    @Flag(help: "Try the backend, the state and the spool's directory, too.")
    var connect = false

    @OptionGroup var headers: HeaderArguments

    @Option(help: ArgumentHelp("Show stream lines as records; '-' is standard input.", valueName: "lines.jsonl"))
    var sample: String?

    @Option(help: ArgumentHelp("The app's schema version for the sample; the newest by default.", valueName: "n"))
    var schemaVersion: Int?

    func validate() throws {
        if schemaVersion != nil, sample == nil { throw ValidationError("'--schema-version' goes with '--sample'.") }
        if !connect, !headers.header.isEmpty || headers.headerFile != nil {
            throw ValidationError("'--header' and '--header-file' go with '--connect'.")
        }
    }

    func run() async throws {
        try await reportingFailures {
            Console.ignoreBrokenPipes()
            let configuration = try GatewayConfig.Configuration.loadReporting(config, warns: true)
            Console.out("\(config) is valid.")
            if !connect, let fault = configuration.spoolFault {
                Console.error("\(config): warning: \(fault), so 'rind serve' would not start (spool.file)")
            }
            let summary = ConfigurationSummary(configuration, Descriptors(configuration))
            for line in summary.lines { Console.out("  " + line) }
            var isConnected = true
            if connect { isConnected = await ConnectionCheck(configuration, try headers.fields).run() }
            if let sample {
                var report = try SampleReport(configuration, schemaVersion: schemaVersion)
                try report.run(path: sample)
            }
            guard isConnected else { throw CommandFailure(.notAsExpected, "") }
        }
    }
}
