// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import DemoBackend
import GatewayTesting
import Testing

/// Finding 21: the public id is per replica.
@Suite(.timeLimit(.minutes(5))) struct PublicIDTests {
    @Test
    func `finding 21: a device that holds a record under its backend id keeps that, everyone else gets the other`()
        async throws
    {
        try await GatewayStack.withNumberedIDs { stack in
            var (early, late) = (try await stack.numbered(1), try await stack.numbered(2))
            try await early.sync()
            try await late.sync()
            try await stack.backend.edit(
                .put("folders", ["id": 7, "name": "a"]), .put("notes", ["id": 3, "folderId": 7]))
            try await early.sync()
            #expect(stack.rows(early, "folders") == ["7": ["a", nil]])
            try await stack.map("folders", "X", to: "7")
            for _ in 0..<2 {
                try await stack.backend.edit(.put("notes", ["id": 4, "title": "t", "folderId": 7]))
                try await early.sync()
                try await late.sync()
                #expect(stack.rows(early, "folders") == ["7": ["a", nil]])
                #expect(stack.rows(early, "notes")["4"] == ["t", "7"])
                #expect(stack.rows(late, "folders") == ["X": ["a", nil]])
                #expect(stack.rows(late, "notes")["4"] == ["t", "X"])
            }
            try early.model.update("folders", "7", with: ["name": "by the early"])
            try await early.sync()
            try await late.sync()
            #expect(stack.rows(late, "folders") == ["X": ["by the early", nil]])
            try late.model.update("folders", "X", with: ["name": "by the late"])
            try late.model.create("notes", id: "N", ["title": "n", "folder_id": "X"])
            try await late.sync()
            try await early.sync()
            #expect(stack.rows(early, "folders") == ["7": ["by the late", nil]])
            #expect(stack.rows(early, "notes")["N"] == ["n", "7"])
            #expect(try await stack.backendRows("folders") == ["7": ["by the late", nil]])
            // Neither a reset nor a comparison changes what they call it.
            for device in [early, late] { try await stack.backend.setPendingReset(true, token: device.token) }
            try await early.sync()
            try await late.sync()
            #expect(stack.rows(early, "folders").keys.first == "7" && stack.rows(early, "folders").count == 1)
            #expect(stack.rows(late, "folders").keys.first == "X" && stack.rows(late, "folders").count == 1)
            try await stack.backend.edit(.delete("folders", "7"))
            try await early.sync()
            try await late.sync()
            #expect(stack.rows(early, "folders").isEmpty && stack.rows(late, "folders").isEmpty)
        }
    }

    @Test func `a pull that is under way when a mapping is stored begins anew`() async throws {
        try await GatewayStack.withNumberedIDs { stack in
            var device = try await stack.numbered(1)
            try await device.sync()
            try await stack.backend.edit(.put("folders", ["id": 7, "name": "a"]))
            let latch = Latch()
            stack.holdStreamsBehindFolders(with: latch)
            async let pull: Void = { [device] in
                var device = device
                try await device.pull()
                #expect(stack.rows(device, "folders") == ["X": ["a", nil]])
            }()
            try await eventually { await latch.arrivals == 1 }
            try await stack.map("folders", "X", to: "7")
            await latch.open()
            try await pull
        }
    }

    @Test func `a restored device gets the client's id, and the one that went on keeps the backend's`() async throws {
        try await GatewayStack.withNumberedIDs { stack in
            var device = try await stack.numbered(1)
            try await device.sync()
            let backup = device
            try await stack.backend.edit(.put("folders", ["id": 7, "name": "a"]))
            try await device.sync()
            try await stack.map("folders", "X", to: "7")
            // The answer that knew the mapping is lost, and then the older cursor comes first.
            var lost = backup
            try await lost.sync()
            #expect(stack.rows(lost, "folders") == ["X": ["a", nil]])
            try await stack.backend.edit(.put("folders", ["id": 7, "name": "b"]))
            try await device.sync()
            #expect(stack.rows(device, "folders") == ["7": ["b", nil]])
            try await lost.sync()
            #expect(stack.rows(lost, "folders") == ["X": ["b", nil]])
            // A clone of the device that keeps it keeps it as well.
            var clone = device
            try await stack.backend.edit(.put("folders", ["id": 7, "name": "c"]))
            try await device.sync()
            try await device.sync()
            try await clone.sync()
            #expect(stack.rows(clone, "folders") == ["7": ["c", nil]])
            #expect(stack.rows(device, "folders") == ["7": ["c", nil]])
        }
    }

    @Test func `nobody gets a record twice from pulls that run while it is being made`() async throws {
        try await GatewayStack.withNumberedIDs { stack in
            var (maker, other) = (try await stack.numbered(1), try await stack.numbered(2))
            try await maker.sync()
            try await other.sync()
            for round in 0..<12 {
                let name = "round \(round)"
                try maker.model.create("folders", id: "X\(round)", ["name": .string(name)])
                try maker.model.create(
                    "notes", id: "N\(round)", ["title": .string(name), "folder_id": .string("X\(round)")])
                let before = (maker, other)
                // The maker's own second pull, as two synchronize() calls make it, and another device's.
                async let own: StackDevice = { [before] in
                    var device = before.0
                    try await device.pull()
                    return device
                }()
                async let others: StackDevice = { [before] in
                    var device = before.1
                    try await device.pull()
                    return device
                }()
                try await maker.push()
                let pulled = try await own
                other = try await others
                #expect(stack.rows(pulled, "folders").count == round + 1)
                try await maker.sync()
                try await other.sync()
                for device in [maker, other] {
                    #expect(stack.rows(device, "folders").count == round + 1)
                    #expect(stack.rows(device, "notes").count == round + 1)
                }
            }
            #expect(stack.rows(maker, "folders").keys.allSatisfy { $0.hasPrefix("X") })
            #expect(try await stack.backendRows("folders").count == 12)
        }
    }

    @Test func `a pair that two devices make is one record, and ends as one on both`() async throws {
        try await CallPushTests.started { stack, first in
            var second = try await stack.device(seed: 2)
            try await second.sync()
            try first.model.create("task_tags", id: "mine", ["task_id": "t-0", "tag_id": "ada-tag-0"])
            try second.model.create("task_tags", id: "yours", ["task_id": "t-0", "tag_id": "ada-tag-0"])
            try await first.push()
            try await second.push()
            for _ in 0..<3 {
                try await first.sync()
                try await second.sync()
            }
            #expect(first.model.contents["task_tags"]?.keys.sorted() == ["mine"])
            #expect(second.model.contents["task_tags"]?.keys.sorted() == ["mine"])
            try second.model.delete("task_tags", "mine")
            try await second.sync()
            try await first.sync()
            #expect(first.model.contents["task_tags"]?.isEmpty == true)
            #expect(try await stack.backend.records()["task_tags"]?.isEmpty == true)
        }
    }
}
