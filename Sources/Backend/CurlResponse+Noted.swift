// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Curl
import HTTPTypes
import Telemetry

extension CurlResponse {
    /// Notes the status in the trace of the sync, and returns the response.
    func noted() -> CurlResponse {
        SyncTrace.noteCall(status: status.code)
        return self
    }
}
