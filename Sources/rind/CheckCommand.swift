// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Gateway
import GatewayConfig
import GatewayServer
import Logging
import SyncModel

/// `rind check`.
struct CheckCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check", abstract: "Checks a configuration and says everything that is wrong with it.",
        discussion: """
            EXAMPLES
              rind check --config rind.ini
              rind check --config rind.ini --connect
              rind check --config rind.ini --connect \\
                --header 'Authorization: Bearer ada-token'
              rind check --config rind.ini --connect --header-file fields.txt \\
                --scope path.team=7
              rind check --config rind.ini --connect --checklist --write \\
                --header-file fields.txt
              rind check --config rind.ini --sample lines.jsonl
              rind check --config rind.ini --sample lines.jsonl --schema-version 2

            Every mistake is printed with its line, a caret and, where one is known, a way
            out; the status is then 78. Nothing is changed, and nothing is asked of anybody
            without '--connect'.

            With it the backend is asked what changes nothing: who the caller is, the
            checkpoints, the beginning of the stream. A stranger must be turned away there
            and not everywhere; with '--header' or '--header-file' the credential is sent,
            and the answers must be what is configured; the lines of the stream must fit
            the columns; and the backend must see through a made-up credential, a token
            that it cannot have made, and a push of a table that it does not have. What is
            not plainly right is 'wrong' or 'unsure', and the status is then 1; a 'note'
            is no failure. Of the account's values only the form is shown: 9 for a digit,
            a or A for a letter, ? for what is beyond ASCII.

            '--checklist' goes on with the checklist of docs/BACKEND-PROTOCOL.md, and
            '--write' with its pushes: records are made, changed and deleted again. The
            result is a table for a ticket, which says of each point that was not tried
            what is missing. Use a test account that nobody else changes, and a session of
            its own, whose checkpoints are moved. If the field of the credential is there
            twice, the second one is that of another user, or of another session of the
            same user:
              rind check --config rind.ini --connect --checklist --write \\
                -H 'Authorization: Bearer ada-token' \\
                -H 'Authorization: Bearer bob-token'

            A sample is a piece of what the backend streams, one JSON object a line:
              curl -sS http://127.0.0.1:2283/api/sync/stream \\
                -H 'Authorization: Bearer …' -H 'Content-Type: application/json' \\
                -d '{"types":["AlbumsV2"]}' > lines.jsonl
            It is printed as the records that an app would get, and then what looks wrong
            in the mapping; the status is then 1.
            """)

    @Option(name: .shortAndLong, help: ArgumentHelp("The configuration file.", valueName: "file"))
    var config: String

    @Flag(help: "Try the backend, the state and the spool's directory, too.")
    var connect = false

    @OptionGroup var headers: HeaderArguments

    @OptionGroup var scopes: ScopeArguments

    @Flag(help: "Try the backend's checklist with the credential of a test account.")
    var checklist = false

    @Flag(help: "Try the pushes of the checklist, too.")
    var write = false

    @Option(help: ArgumentHelp("Show stream lines as records; '-' is standard input.", valueName: "lines.jsonl"))
    var sample: String?

    @Option(help: ArgumentHelp("The app's schema version for the sample; the newest by default.", valueName: "n"))
    var schemaVersion: Int?

    func validate() throws {
        if schemaVersion != nil, sample == nil { throw ValidationError("'--schema-version' goes with '--sample'.") }
        if !connect, !headers.header.isEmpty || headers.headerFile != nil {
            throw ValidationError("'--header' and '--header-file' go with '--connect'.")
        }
        if !connect, !scopes.scope.isEmpty { throw ValidationError("'--scope' goes with '--connect'.") }
        if checklist, headers.header.isEmpty, headers.headerFile == nil {
            throw ValidationError("'--checklist' goes with '--connect' and '--header' or '--header-file'.")
        }
        if write, !checklist { throw ValidationError("'--write' goes with '--checklist'.") }
    }

    func run() async throws {
        try await reportingFailures {
            Console.ignoreBrokenPipes()
            let configuration = try GatewayConfig.Configuration.loadReporting(config, warns: true)
            Console.out("\(config) is valid.")
            if !connect, let fault = configuration.spoolFault {
                Console.error("\(config): warning: \(fault), so 'rind serve' would not start (spool.file)")
            }
            try await checkKeyFiles(of: configuration)
            let summary = ConfigurationSummary(configuration, Descriptors(configuration))
            for line in summary.lines { Console.out("  " + line) }
            var isAsExpected = true
            if connect {
                let extent: ConnectionCheck.Checklist = write ? .writing : checklist ? .reading : .none
                let accounts = try headers.accounts
                guard checklist || accounts.second == nil else {
                    throw CommandFailure(.usage, "A second credential goes with '--checklist'.")
                }
                isAsExpected = await ConnectionCheck(
                    configuration, accounts, in: try scopes.scope(for: configuration), checklist: extent
                ).run()
            }
            if let sample {
                var report = try SampleReport(configuration, schemaVersion: schemaVersion)
                if try !report.run(path: sample) { isAsExpected = false }
            }
            guard isAsExpected else { throw CommandFailure(.notAsExpected, "") }
        }
    }

    /// Reads the certificate for clients and the keys of tokens, as 'rind serve' does.
    private func checkKeyFiles(of configuration: GatewayConfig.Configuration) async throws {
        let files = KeyFiles()
        let keys = try await files.read(configuration, logger: .silent)
        await files.close()
        guard let expiry = keys.certificate?.expiry, let file = configuration.gateway.tlsCertificate else { return }
        let days = expiry.milliseconds(since: SystemClock().now) / 86_400_000
        guard days < 21 else { return }
        let state = expiry <= SystemClock().now ? "has expired" : "expires in \(days) \(days == 1 ? "day" : "days")"
        Console.error("\(config): warning: the certificate in \(file) \(state) (tls.certificate)")
    }
}
