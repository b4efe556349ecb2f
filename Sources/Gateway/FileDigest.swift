// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Crypto

/// Names the contents of a file, so that operators can see whether two gateways have the same.
package enum FileDigest {
    /// Returns the first 16 hexadecimal digits of the SHA-256.
    package static func beginning(of bytes: some Sequence<UInt8>) -> String {
        SHA256.hash(data: Array(bytes)).prefix(8).map { byte in
            (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }.joined()
    }
}
