// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// Calls that are not made here, each with what to do instead.
enum BanRule {
    /// Where a ban holds.
    enum Scope {
        case everywhere
        /// The code that ships, but not its tests.
        case sources
        /// What ships except the commands, which talk to operators.
        case libraries
        /// What reaches time and chance through ports alone, so that a simulation can run it.
        case simulated
    }

    /// A sequence of tokens that must not appear.
    struct Ban {
        let pattern: [SwiftText.Token]
        let spelling: String
        let instead: String
        let scope: Scope
        /// Paths where it is right all the same.
        let allowed: Set<String>
        /// A label with which the call is right.
        let label: String?

        init(
            _ spelling: String, instead: String, scope: Scope = .everywhere, allowed: Set<String> = [],
            unless label: String? = nil
        ) {
            self.label = label
            self.spelling = spelling
            self.instead = instead
            self.scope = scope
            self.allowed = allowed
            pattern = SwiftText(spelling).tokens
        }

        func holds(for file: SourceFile) -> Bool {
            guard !allowed.contains(file.path) else { return false }
            return switch scope {
            case .everywhere: true
            case .sources: file.isSource
            case .libraries: file.isSource && !["rind", "rind-bench", "rind-count"].contains(file.target)
            case .simulated:
                file.isSource
                    && [
                        "Backend", "Deduplication", "Gateway", "Ledger", "LineProjection", "StateStore", "SyncMachines",
                        "SyncModel", "WatermelonWire",
                    ].contains(file.target)
            }
        }
    }

    private static let systemClock = "Sources/Gateway/SystemClock.swift"
    private static let randomness = "Sources/Gateway/Randomness.swift"

    static let bans = [
        Ban("try!", instead: "throw, or explain to the compiler why it cannot fail"),
        Ban("as!", instead: "use 'as?' and say what happens otherwise"),
        Ban("Task.detached", instead: "use a task group: its children end with it"),
        Ban("Task {", instead: "use a task group or a service's run()", scope: .sources),
        Ban("DispatchSemaphore", instead: "await; nothing may block the threads of the concurrency runtime"),
        Ban("Thread.sleep", instead: "wait for an event, or drive a ManualClock"),
        Ban("usleep(", instead: "wait for an event, or drive a ManualClock"),
        Ban("sleep(", instead: "wait for an event, or drive a ManualClock"),
        Ban("GatewayError(status", instead: "throw a GatewayFault, or map it in Gateway/Errors", scope: .sources),
        Ban("Task.sleep", instead: "use the WallClock", scope: .simulated, allowed: [systemClock]),
        Ban("ContinuousClock", instead: "use the WallClock", scope: .simulated),
        Ban("SuspendingClock", instead: "use the WallClock", scope: .simulated),
        Ban("Date()", instead: "use the WallClock", scope: .simulated),
        Ban("Date.now", instead: "use the WallClock", scope: .simulated),
        Ban("NIODeadline.now()", instead: "use the WallClock", scope: .simulated),
        Ban("UUID()", instead: "use Randomness", scope: .simulated),
        Ban(".random(in:", instead: "use Randomness", scope: .simulated, unless: "using"),
        Ban(".random()", instead: "use Randomness", scope: .simulated),
        Ban("randomElement()", instead: "use Randomness", scope: .simulated),
        Ban("shuffled()", instead: "use Randomness", scope: .simulated),
        Ban("clock_gettime", instead: "use the WallClock", scope: .simulated, allowed: [systemClock]),
        Ban("SystemRandomNumberGenerator", instead: "use Randomness", scope: .simulated, allowed: [randomness]),
        Ban("print(", instead: "use the logger", scope: .libraries),
        Ban("debugPrint(", instead: "use the logger", scope: .libraries),
        Ban("dump(", instead: "use the logger", scope: .libraries),
        Ban("NSLog(", instead: "use the logger"),
        Ban("fatalError()", instead: "write the sentence that the operator will find in the log"),
        Ban("preconditionFailure()", instead: "write the sentence that the operator will find in the log"),
        Ban("Mutex<", instead: "use NIOLockedValueBox: the thread sanitizer does not understand Mutex on Linux"),
        Ban("Mutex(", instead: "use NIOLockedValueBox: the thread sanitizer does not understand Mutex on Linux"),
        Ban("URLSession", instead: "use Curl: libcurl is the only way to a backend", scope: .sources),
        Ban("public", instead: "write 'package': this package ships a program, not a library"),
        Ban("open class", instead: "write 'package': this package ships a program, not a library"),
        Ban("package extension", instead: "write 'package' on the members, where their comments are checked"),
    ]

    static func violations(in file: SourceFile) -> [Violation] {
        bans.filter { $0.holds(for: file) }.flatMap { ban in
            occurrences(of: ban.pattern, unless: ban.label, in: file.swift).map { line in
                Violation(file: file, line: line, message: "'\(ban.spelling)' is not used here: \(ban.instead)")
            }
        }
    }

    /// The lines where the tokens follow each other.
    ///
    /// A call counts only where the name is the library's: not of a member, a declaration or an asynchronous function
    /// of our own. An exclamation mark counts only where it touches the word before it: `try !isEmpty` is something
    /// else.
    private static func occurrences(
        of pattern: [SwiftText.Token], unless label: String?, in text: SwiftText
    ) -> [Int] {
        guard let first = pattern.first else { return [] }
        return text.places(of: first.text).compactMap { start in
            guard start + pattern.count <= text.tokens.count else { return nil }
            let window = text.tokens[start..<start + pattern.count]
            guard window.map(\.text) == pattern.map(\.text) else { return nil }
            guard zip(window, pattern).allSatisfy({ $0.text != "!" || $0.isAdjacent == $1.isAdjacent }) else {
                return nil
            }
            if let label, let open = window.firstIndex(where: { $0.text == "(" }), let close = text.closing(of: open),
                text.tokens[open..<close].contains(where: { $0.text == label })
            {
                return nil
            }
            let before = start > 0 ? text.tokens[start - 1].text : ""
            let isCall = pattern.last?.text == "(" && first.text != "Mutex"
            if isCall || first.text == "public", [".", "func", "case", "await"].contains(before),
                !isQualified(start, in: text)
            {
                return nil
            }
            return text.tokens[start].line
        }
    }

    /// Whether what stands before the dot is the module itself: `Swift.print(`.
    private static func isQualified(_ index: Int, in text: SwiftText) -> Bool {
        index > 1 && ["Swift", "Foundation", "Glibc", "Darwin"].contains(text.tokens[index - 2].text)
    }
}
