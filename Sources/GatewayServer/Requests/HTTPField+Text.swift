// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import HTTPTypes

extension HTTPField {
    /// The value as text: one that is not UTF-8 is read as ISO 8859-1, as fields once were (RFC 9110, 5.5).
    var text: String {
        withUnsafeBytesOfValue { bytes in
            String(validating: bytes, as: UTF8.self)
                ?? String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
        }
    }
}
