// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// The version of Rind.
enum Version {
    /// The number by https://semver.org, without a `v`.
    static let number = "0.1.0"
    /// The output of `rind version`.
    static let line = "rind \(number)"
}
