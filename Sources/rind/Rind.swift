// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

/// The command: each subcommand reads its arguments and puts the modules together, nothing more.
@main
struct Rind: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rind",
        abstract: "A sync gateway: WatermelonDB apps in front, a backend that streams JSONL behind.",
        discussion: """
            Try it without anything of your own:
              rind demo

            Put it before your backend:
              rind check --config rind.ini --connect
              rind serve --config rind.ini

            EXIT STATUS
            \(ExitStatus.table(indent: "  "))

            'rind help SUBCOMMAND' shows examples. docs/TROUBLESHOOTING.md tells what
            to do when something is wrong.
            """,
        version: Version.line,
        subcommands: [
            ServeCommand.self, CheckCommand.self, KeysCommand.self, PullCommand.self, ConformCommand.self,
            ReplicasCommand.self, QuarantineCommand.self, JournalCommand.self, PrincipalsCommand.self,
            StateCommand.self, MigrateCommand.self, WhyCommand.self, ExplainCommand.self, DemoCommand.self,
            VersionCommand.self,
        ])
}
