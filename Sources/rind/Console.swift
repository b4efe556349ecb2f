// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Standard output and standard error, without buffers: what is printed can be read at once, in a pipe too.
enum Console {
    /// Prints a line, or text that ends otherwise, on standard output.
    static func out(_ text: String, terminator: String = "\n") {
        // Nobody reads any more where this fails, as in `rind keys | head`.
        do { try FileHandle.standardOutput.write(contentsOf: Data((text + terminator).utf8)) } catch { return }
    }

    /// Prints bytes as they are on standard output.
    static func out(bytes: [UInt8]) {
        do { try FileHandle.standardOutput.write(contentsOf: Data(bytes)) } catch { return }
    }

    /// Prints a line on standard error.
    static func error(_ text: String) {
        do { try FileHandle.standardError.write(contentsOf: Data((text + "\n").utf8)) } catch { return }
    }

    /// Lets a write to a pipe that nobody reads fail instead of ending the process: libcurl and OpenSSL write, too.
    static func ignoreBrokenPipes() { signal(SIGPIPE, SIG_IGN) }
}
