// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Foundation
import Gateway
import GatewayServer
import SyncModel

extension ConfigurationOrigin {
    /// Creates the origin of a configuration that is in use from now on, with the bytes that were read from its file.
    static func file(_ path: String, _ text: [UInt8]) -> ConfigurationOrigin {
        let now = SystemClock().now
        return ConfigurationOrigin(
            version: Version.number, file: URL(filePath: path).standardizedFileURL.path(percentEncoded: false),
            digest: FileDigest.beginning(of: text), since: now,
            startedAt: start)
    }

    private static let start = SystemClock().now
}
