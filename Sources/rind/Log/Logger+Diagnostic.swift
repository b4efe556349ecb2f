// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import INI
import Logging

extension Logger {
    /// Logs one mistake of a configuration, or a warning about it.
    func report(_ diagnostic: Diagnostic) {
        let code = diagnostic.severity == .error ? "config.error" : "config.warning"
        var metadata: Logger.Metadata = [
            "code": "\(code)", "file": "\(diagnostic.position.file)",
            "line": "\(diagnostic.position.line)", "column": "\(diagnostic.position.column)",
        ]
        if let hint = diagnostic.hint { metadata["hint"] = "\(hint)" }
        if let note = diagnostic.note {
            metadata["note"] = "\(note.position.file):\(note.position.line):\(note.position.column): \(note.message)"
        }
        log(level: diagnostic.severity == .error ? .error : .warning, "\(diagnostic.message)", metadata: metadata)
    }
}
