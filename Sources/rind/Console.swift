// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncModel

/// Standard output and standard error, without buffers: what is printed can be read at once, in a pipe too.
enum Console {
    /// The hostile scalars that the commands themselves print: for lines, columns and colors.
    private static let own: Set<Unicode.Scalar> = ["\n", "\t", "\u{1B}"]

    /// Prints a line, or text that ends otherwise, on standard output.
    ///
    /// Scalars that could deceive the reader are escaped; foreign control characters must be removed before, by
    /// `shown(upTo:)`.
    static func out(_ text: String, terminator: String = "\n") {
        let bytes = (ForeignText.escaped(text, except: own) + terminator).utf8
        // Nobody reads any more where this fails, as in `rind keys | head`.
        do { try FileHandle.standardOutput.write(contentsOf: Data(bytes)) } catch { return }
    }

    /// Prints bytes as they are on standard output.
    static func out(bytes: [UInt8]) {
        do { try FileHandle.standardOutput.write(contentsOf: Data(bytes)) } catch { return }
    }

    /// Prints a line on standard error.
    static func error(_ text: String) {
        let bytes = (ForeignText.escaped(text, except: own) + "\n").utf8
        do { try FileHandle.standardError.write(contentsOf: Data(bytes)) } catch { return }
    }

    /// Lets a write to a closed pipe fail instead of ending the process: libcurl and OpenSSL write, too.
    static func ignoreBrokenPipes() { signal(SIGPIPE, SIG_IGN) }

    /// Lets signals that never end a gateway have no effect, also before anything listens for them.
    static func ignoreHarmlessSignals() {
        for number in [SIGHUP, SIGUSR1, SIGUSR2] { signal(number, SIG_IGN) }
    }
}
