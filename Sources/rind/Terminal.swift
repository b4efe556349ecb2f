// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncModel

/// Text for reading: in colors on a terminal, plain in a file or if `NO_COLOR` is set (https://no-color.org).
struct Terminal {
    /// True if escape sequences may be written.
    let isColoured: Bool

    /// Creates the properties of standard output.
    init() {
        let environment = ProcessInfo.processInfo.environment
        isColoured =
            isatty(STDOUT_FILENO) == 1 && environment["NO_COLOR", default: ""].isEmpty
            && environment["TERM"] != "dumb"
    }

    func bold(_ text: String) -> String { styled(text, "1") }
    func dim(_ text: String) -> String { styled(text, "2") }
    func red(_ text: String) -> String { styled(text, "31") }
    func green(_ text: String) -> String { styled(text, "32") }
    func yellow(_ text: String) -> String { styled(text, "33") }
    func cyan(_ text: String) -> String { styled(text, "36") }

    private func styled(_ text: String, _ code: String) -> String {
        isColoured ? "\u{1B}[\(code)m\(text)\u{1B}[0m" : text
    }
}

extension String {
    /// Returns the text padded with spaces to a width, in characters.
    func padded(to width: Int) -> String { self + String(repeating: " ", count: max(0, width - count)) }

    /// Returns the text with the spaces before it.
    func leftPadded(to width: Int) -> String { String(repeating: " ", count: max(0, width - count)) + self }

    /// Returns the text as it may stand on a screen: control characters become spaces, other deceptive scalars are
    /// escaped, and a long text is cut.
    func shown(upTo limit: Int) -> String {
        let scalars = unicodeScalars.prefix(limit).map { scalar -> Unicode.Scalar in
            let isControl = scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value)
            return isControl ? " " : scalar
        }
        let text = ForeignText.escaped(String(String.UnicodeScalarView(scalars)))
        return unicodeScalars.count > limit ? text + "…" : text
    }
}
