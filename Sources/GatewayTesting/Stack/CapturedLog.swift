// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import Logging
import NIOConcurrencyHelpers

/// Keeps the lines that are logged, for tests that read them.
package final class CapturedLog: Sendable {
    /// One line.
    package struct Line: Sendable, CustomStringConvertible {
        /// The level.
        package var level: Logger.Level
        /// The message.
        package var message: String
        /// The facts that go with it, those of the logger included.
        package var metadata: [String: String]

        /// The line as text.
        package var description: String {
            "\(level) \(message) "
                + metadata.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
                .joined(separator: " ")
        }
    }

    private let kept = NIOLockedValueBox<[Line]>([])

    /// Creates an empty log.
    package init() {}

    /// All lines so far.
    package var lines: [Line] { kept.withLockedValue { $0 } }

    /// Returns the lines whose message contains a text.
    package func lines(containing text: String) -> [Line] { lines.filter { $0.message.contains(text) } }

    /// Forgets the lines.
    package func clear() { kept.withLockedValue { $0 = [] } }

    /// Creates a logger that writes here.
    package func logger(_ label: String, level: Logger.Level = .debug) -> Logger {
        Logger(label: label) { _ in Handler(log: self, logLevel: level) }
    }

    private struct Handler: LogHandler {
        let log: CapturedLog
        var logLevel: Logger.Level
        var metadata: Logger.Metadata = [:]
        var metadataProvider: Logger.MetadataProvider?

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            let all = metadata.merging(event.metadata ?? [:]) { $1 }
            let line = Line(
                level: event.level, message: "\(event.message)", metadata: all.mapValues { "\($0)" })
            log.kept.withLockedValue { $0.append(line) }
        }
    }
}
