// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// Why compressed data could not be read or written.
package enum GzipError: Error, Hashable, Sendable {
    /// The bytes are not what the format says, or their checksum is wrong.
    case corrupt
    /// The data ended in the middle of a member.
    case truncated
    /// More came out than the limit of bytes allows; reading must stop.
    case outputTooLarge(limit: Int)
    /// zlib has no memory.
    case outOfMemory

    /// A stable name for metrics, logs and answers.
    package var code: String {
        switch self {
        case .corrupt: "gzip.corrupt"
        case .truncated: "gzip.truncated"
        case .outputTooLarge: "gzip.output_too_large"
        case .outOfMemory: "gzip.out_of_memory"
        }
    }
}
