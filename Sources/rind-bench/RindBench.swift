// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

/// The command.
@main
struct RindBench: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rind-bench",
        abstract: "Measures Rind against something real.",
        discussion: "Measure release builds only: swift run -c release rind-bench SCENARIO. See docs/BENCHMARKS.md.",
        subcommands: [
            Goals.self, FirstSync.self, Small.self, Scale.self, State.self, Overload.self, Slow.self, Ledger.self,
            Push.self,
            BytePath.self,
            ServeStream.self, ServeDemo.self,
        ])
}
