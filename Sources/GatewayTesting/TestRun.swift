// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Tells how the tests are run.
package enum TestRun {
    /// Whether a sanitizer watches, which takes several times the memory and the time (`.ci/test` says so).
    package static let isSanitized = ProcessInfo.processInfo.environment["RIND_TEST_SANITIZED"] == "1"
}
