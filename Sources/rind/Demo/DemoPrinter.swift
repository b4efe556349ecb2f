// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import JSONBytes

/// Prints the demo's steps.
struct DemoPrinter {
    private let terminal = Terminal()
    private var steps = 0
    /// The number of results that were compared with the expected ones.
    private(set) var checks = 0

    /// Begins a step.
    mutating func step(_ title: String, _ about: String) {
        steps += 1
        Console.out("\n" + terminal.bold("\(steps)  \(title)"))
        say(about)
    }

    /// Prints a paragraph.
    func say(_ text: String) { Console.out(terminal.dim("   " + text.replacing("\n", with: "\n   "))) }

    /// Prints a command on one line.
    func line(_ command: String) { Console.out("   $ " + terminal.cyan(command)) }

    /// Prints the command that does the same as a request, so that it can be pasted.
    func command(_ request: DemoRequest) {
        Console.out("")
        let lines = request.curl
        for (index, line) in lines.enumerated() {
            let start = index == 0 ? "   $ " : "     "
            Console.out(start + terminal.cyan(line) + (index < lines.count - 1 ? " \\" : ""))
        }
        Console.out("")
    }

    /// Prints what an answer is.
    func answer(_ exchange: HTTPExchange) {
        let milliseconds =
            exchange.duration.components.seconds * 1_000
            + exchange.duration.components.attoseconds / 1_000_000_000_000_000
        let status = exchange.isSuccess ? terminal.green("\(exchange.status)") : terminal.red("\(exchange.status)")
        Console.out("   \(status) in \(milliseconds) ms, \(exchange.body.count) bytes")
    }

    /// Prints the counts of a pull, only the tables in which something is, and the cursor.
    func changes(_ changes: PulledChanges) {
        for line in changes.lines { Console.out("   " + line) }
        Console.out("   timestamp \(terminal.yellow("\(changes.timestamp)"))")
    }

    /// Prints one line of what a command has printed.
    func result(_ line: String) { Console.out(line.isEmpty ? "" : "   " + line) }

    /// Prints one record of an answer.
    func record(_ label: String, _ value: JSONValue) {
        Console.out("   \(label) \(String(decoding: value.serialised, as: UTF8.self))")
    }

    /// Holds something against what it should be.
    ///
    /// - Throws: ``CommandFailure`` with status 1 where it is not.
    mutating func expect(_ isAsExpected: Bool, _ sentence: String) throws {
        checks += 1
        guard isAsExpected else {
            Console.out("   \(terminal.red("✗")) \(sentence)")
            throw CommandFailure(.notAsExpected, "Step \(steps) of the demo is not as it should be: \(sentence).")
        }
        Console.out("   \(terminal.green("✓")) \(sentence)")
    }

    /// Prints a heading without number.
    func title(_ text: String) { Console.out("\n" + terminal.bold(text)) }
}
