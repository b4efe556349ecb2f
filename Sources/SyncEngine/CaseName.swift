// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// The name of an enum's case without what it carries: that may be long, and is nothing for a log.
func caseName<Value>(of value: Value) -> String {
    Mirror(reflecting: value).children.first?.label ?? "\(value)"
}
