// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import GatewayTesting
import Testing

@Suite struct ContentOracleTests {
    private let oracle = ContentOracle(
        names: ["folders": "name", "notes": "title"], references: ["notes": ["folder_id": "folders"]])
    private let device: ContentOracle.Tables = [
        "folders": ["X": ["name": "f"]], "notes": ["Y": ["title": "n v2", "folder_id": "X"]],
    ]

    @Test func `what is called otherwise on the other side is the same record`() {
        let backend: ContentOracle.Tables = [
            "folders": ["7": ["name": "f"]], "notes": ["9": ["title": "n v2", "folder_id": "7"]],
        ]
        #expect(oracle.differences(device, backend) == [])
        #expect(oracle.names(of: "notes", in: backend) == ["n"])
    }

    @Test func `a record that is there twice, one that lacks and one that names another are told`() {
        var backend: ContentOracle.Tables = [
            "folders": ["7": ["name": "f"], "8": ["name": "g"]],
            "notes": ["9": ["title": "n v2", "folder_id": "8"]],
        ]
        #expect(oracle.differences(device, backend).count == 3)
        backend["folders"] = ["7": ["name": "f"], "8": ["name": "f"]]
        #expect(oracle.differences(device, backend).contains("folders f: 2 times in the backend"))
        backend = ["folders": ["7": ["name": "f"]], "notes": ["9": ["title": "n v2", "folder_id": "99"]]]
        #expect(oracle.differences(device, backend).contains { $0.contains("folder_id=(gone)") })
    }
}
