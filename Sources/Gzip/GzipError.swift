// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// A reason why compressed data could not be read or written.
package enum GzipError: Error, Hashable, Sendable {
    /// The bytes violate the format, or their checksum is wrong.
    case corrupt
    /// The data ended in the middle of a member.
    case truncated
    /// The output exceeds the limit in bytes; reading must stop.
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
