// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Foundation
import Gateway
import GatewayConfig
import INI
import Logging
import SyncModel

/// Writes one line for each event to standard error, in one system call, so that lines never mix.
///
/// Values under names that speak of secrets are never written, whoever logs them.
struct LogLineHandler: LogHandler {
    var logLevel: Logger.Level {
        get { ownLevel ?? threshold.level }
        set { ownLevel = newValue }
    }
    var metadata: Logger.Metadata = [:]
    var metadataProvider: Logger.MetadataProvider?
    private let format: LogFormat
    private let threshold: LogThreshold
    /// The level of a logger that differs from the rest; nil for most.
    private var ownLevel: Logger.Level?

    /// The most bytes of one value; whoever quotes others has cut it before, to less.
    private static let valueBytes = 4_096

    init(threshold: LogThreshold, format: LogFormat) {
        self.threshold = threshold
        self.format = format
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        var fields = metadata
        if let provided = metadataProvider?.get() { fields.merge(provided) { $1 } }
        if let more = event.metadata { fields.merge(more) { $1 } }
        for name in fields.keys where SecretNames.looksSecret(name) { fields[name] = "********" }
        for (name, value) in fields {
            guard case .string(let text) = value, text.utf8.count > Self.valueBytes else { continue }
            fields[name] = .string(ForeignText.cut(text, to: Self.valueBytes))
        }
        let line = LogLine(
            time: SystemClock().now, level: event.level, message: event.message.description, fields: fields)
        let bytes = format == .json ? line.json : line.text
        bytes.withUnsafeBytes { buffer in
            // A log that cannot be written has nobody to be told.
            _ = write(STDERR_FILENO, buffer.baseAddress, buffer.count)
        }
    }
}

extension Logger {
    /// Creates a logger to standard error by `[log]`; the level can be another one.
    init(_ log: Configuration.Log, level: Logger.Level? = nil) {
        self.init(log, threshold: LogThreshold(level ?? log.threshold))
    }

    /// Creates a logger to standard error whose level can be changed.
    init(_ log: Configuration.Log, threshold: LogThreshold) {
        self.init(label: "rind") { _ in LogLineHandler(threshold: threshold, format: log.format) }
    }
}

extension Configuration.Log {
    /// The configured level, as the library names it.
    var threshold: Logger.Level { Logger.Level(rawValue: level.rawValue) ?? .info }
}
