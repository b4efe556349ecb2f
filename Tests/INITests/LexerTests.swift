// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import INI
import Testing

@Suite struct LexerTests {
    @Test func `placeholder`() {}
}
