// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Curl
import Foundation
import Gateway

/// `rind conform`.
struct ConformCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "conform", abstract: "Tries the rules of WatermelonDB's sync protocol on any endpoint.",
        discussion: """
            EXAMPLES
              rind conform https://example.org/sync -H 'Authorization: Bearer …'
              rind conform https://example.org/sync --header-file fields.txt --write \\
                --schema-version 3 --junit conform.xml
              rind conform https://example.org/api/sync --shape post-pull --write \\
                --table tasks --column name

            Without --write it only pulls, as devices of the credential's user. With it,
            it pushes a few records of one table, which are copies of one that was pulled
            but for their id and one column of text, and deletes them in the end. Use a
            test account. docs/CONFORM.md explains each rule.

            EXIT STATUS
               0  all rules hold that were tried
               1  some rules do not hold
               2  there is no endpoint, or it does not accept the credential
              73  the file of --junit cannot be written
            """)

    @Argument(help: ArgumentHelp("The endpoint's URL.", valueName: "url"))
    var url: String

    @OptionGroup var headers: HeaderArguments

    @Flag(help: "Push scratch records too, and delete them again.")
    var write = false

    @Option(help: ArgumentHelp("The table of the scratch records; found in what is pulled.", valueName: "name"))
    var table: String?

    @Option(help: ArgumentHelp("The text column that they differ in; found likewise.", valueName: "name"))
    var column: String?

    @Option(help: ArgumentHelp("The app's schema version; not sent by default.", valueName: "n"))
    var schemaVersion: Int?

    @Option(help: "The form of the requests.")
    var shape = ConformShape.docs

    @Option(help: ArgumentHelp("Write the results as JUnit XML to a file.", valueName: "file"))
    var junit: String?

    func validate() throws {
        guard url.hasPrefix("http://") || url.hasPrefix("https://") else {
            throw ValidationError("The URL must begin with http:// or https://.")
        }
        guard write || (table == nil && column == nil) else {
            throw ValidationError("--table and --column are for --write.")
        }
    }

    func run() async throws {
        try await reportingFailures {
            Console.ignoreBrokenPipes()
            let fields = try headers.fields
            let reactor = try CurlReactor.start()
            let client = ConformClient(
                url: url, fields: fields, shape: shape, schemaVersion: schemaVersion, reactor: reactor)
            let result: Result<ConformReport, ConformRun.Untried>
            do throws(ConformRun.Untried) { result = .success(try await report(client)) } catch {
                result = .failure(error)
            }
            await reactor.shutdown()
            switch result {
            case .success(let report): try show(report)
            case .failure(let untried):
                throw CommandFailure(.notTried, "\(untried.exchange.sent): \(untried.exchange.came)")
            }
        }
    }

    private func report(_ client: ConformClient) async throws(ConformRun.Untried) -> ConformReport {
        let begun = ContinuousClock.now
        var run = ConformRun(client: client)
        let everything = try await run.tryPulls()
        var left: [String] = []
        if write, let everything, run.timestamps[.first] != nil {
            let scratch = ScratchRecords(everything, table: table, column: column, random: Randomness.system.next())
            if let scratch {
                var pushes = ConformPushes(run: run, scratch: scratch)
                left = await pushes.tryAll().map { "\(scratch.table)/\($0)" }
                run = pushes.run
            } else {
                run.book.skip(
                    ConformRule.allCases.filter(\.needsPush),
                    because: "no record with a text column was pulled; name --table and --column")
            }
        }
        return ConformReport(book: run.book, url: url, left: left, duration: ContinuousClock.now - begun)
    }

    private func show(_ report: ConformReport) throws {
        for line in report.lines(Terminal()) { Console.out(line) }
        if let junit {
            do { try Data(report.junit.utf8).write(to: URL(filePath: junit)) } catch {
                throw CommandFailure(.cannotCreate, "The file of '--junit' cannot be written: \(junit).")
            }
        }
        if report.book.counts.failing > 0 { throw ExitCode(ExitStatus.notAsExpected.rawValue) }
    }
}
