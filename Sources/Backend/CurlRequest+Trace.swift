// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Curl
import HTTPTypes
import Telemetry

extension CurlRequest {
    /// Adds the fields by which the backend goes on with the client's distributed trace, if the client has begun one.
    mutating func passOnTrace() {
        guard let parent = SyncTrace.current?.parent else { return }
        for (name, value) in [("traceparent", Optional(parent.field)), ("tracestate", parent.state)] {
            if let name = HTTPField.Name(name), let value { fields[name] = value }
        }
    }
}
