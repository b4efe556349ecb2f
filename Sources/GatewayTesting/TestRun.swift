// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Tells how the tests are run.
package enum TestRun {
    /// True if the tests run under a sanitizer, which takes several times the memory and the time (set by `.ci/test`).
    package static let isSanitized = ProcessInfo.processInfo.environment["RIND_TEST_SANITIZED"] == "1"

    /// True if costs that cannot be counted are failures and no skipped tests (set by `.ci/run`).
    package static let mustCount = ProcessInfo.processInfo.environment["RIND_TEST_COUNTS"] == "1"
}
