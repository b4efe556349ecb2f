// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// Which Rind this is.
enum Version {
    /// By https://semver.org, without a `v`.
    static let number = "0.1.0"
    /// What `rind version` prints.
    static let line = "rind \(number)"
}
