// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import DemoBackend
import GatewayTesting
import Testing

/// A backend that gives each record an integer of its own, behind clients that know only the ids that they make.
@Suite(.timeLimit(.minutes(5))) struct ServerMadeIDTests {
    @Test func `two devices create, change, refer to and delete records and end equal`() async throws {
        try await GatewayStack.withNumberedIDs { stack in
            var (first, second) = (try await stack.numbered(1), try await stack.numbered(2))
            try await stack.backend.edit(.put("folders", ["id": 70, "name": "old"]))
            for _ in 0..<2 {
                try await first.sync()
                try await second.sync()
            }
            // In one push, children before parents by their ids: references to what is created with them.
            try first.model.create("folders", id: "Z", ["name": "outer"])
            try first.model.create("folders", id: "A", ["name": "inner", "parent_id": "Z"])
            try first.model.create("notes", id: "N", ["title": "new", "folder_id": "A"])
            try first.model.create("notes", id: "M", ["title": "in the old one", "folder_id": "70"])
            try first.model.create("notes", id: "L", ["title": "nowhere", "folder_id": .null])
            try await first.sync()
            try await second.sync()
            #expect(stack.rows(second, "folders") == ["70": ["old", nil], "Z": ["outer", nil], "A": ["inner", "Z"]])
            #expect(
                stack.rows(second, "notes") == [
                    "N": ["new", "A"], "M": ["in the old one", "70"], "L": ["nowhere", nil],
                ])
            try second.model.update("notes", "N", with: ["title": "changed", "folder_id": "70"])
            try second.model.update("folders", "A", with: ["parent_id": "70"])
            try second.model.delete("notes", "L")
            try second.model.create("notes", id: "K", ["title": "by the second", "folder_id": "Z"])
            try await second.sync()
            for _ in 0..<2 {
                try await first.sync()
                try await second.sync()
            }
            #expect(stack.rows(first, "folders") == stack.rows(second, "folders"))
            #expect(stack.rows(first, "notes") == stack.rows(second, "notes"))
            let titles = ["N": ["changed", "70"], "M": ["in the old one", "70"], "K": ["by the second", "Z"]]
            #expect(stack.rows(first, "notes") == titles)
            let backend = try await stack.backendRows("notes")
            #expect(Set(backend.values.map { $0[0] }) == ["changed", "in the old one", "by the second"])
            #expect(backend.keys.allSatisfy { Int($0) != nil })
            #expect(!first.model.hasUnsyncedChanges && !second.model.hasUnsyncedChanges)
            // The folder takes along what is in it, on every device and at the backend.
            try first.model.delete("folders", "70")
            for id in ["A", "N", "M"] { try? first.model.delete(id == "A" ? "folders" : "notes", id) }
            try await first.sync()
            try await second.sync()
            #expect(Set(stack.rows(second, "folders").keys) == ["Z"])
            #expect(Set(stack.rows(second, "notes").keys) == ["K"])
            #expect(try await stack.backendRows("folders").count == 1)
            // A device that comes later knows the records by the clients' ids, too.
            var third = try await stack.numbered(3)
            try await third.sync()
            #expect(stack.rows(third, "notes") == stack.rows(second, "notes"))
        }
    }

    @Test func `a create that comes again changes the record, and one that is gone at the backend is made anew`()
        async throws
    {
        try await GatewayStack.withNumberedIDs { stack in
            var device = try await stack.numbered(1)
            try await device.sync()
            try device.model.create("folders", id: "X", ["name": "first"])
            // The answer of the push is lost, so that the client pushes the record as created once more.
            try await device.pushLosingAnswer()
            try device.model.update("folders", "X", with: ["name": "second"])
            try await device.sync()
            #expect(try await stack.backendRows("folders").map(\.value) == [["second", nil]])
            let old = try #require(try await stack.backendRows("folders").keys.first)
            try await device.sync()
            #expect(stack.rows(device, "folders") == ["X": ["second", nil]])

            try device.model.update("folders", "X", with: ["name": "third"])
            let answer = try await stack.backend.records()
            #expect(answer["folders"]?.count == 1)
            try await stack.backend.edit(.delete("folders", old))
            // Pushed without a time, nobody looks for a conflict: an update of what is not there creates it.
            let changes = DemoValue.changes("folders", updated: [["id": "X", "name": "third"]])
            #expect(try await stack.sendPush(nil, changes, token: device.token).status == 200)
            let new = try await stack.backendRows("folders")
            #expect(new.map(\.value) == [["third", nil]] && new[old] == nil)
            var other = try await stack.numbered(2)
            try await other.sync()
            #expect(stack.rows(other, "folders") == ["X": ["third", nil]])
        }
    }

    @Test func `what the backend cannot have is refused with a sentence that names it, or never sent`() async throws {
        try await GatewayStack.withNumberedIDs { stack in
            var device = try await stack.numbered(1)
            try await device.sync()
            stack.backend.clearRequests()
            let lost = DemoValue.changes("notes", created: [["id": "N", "title": "a", "folder_id": "gone"]])
            let answer = try await stack.sendPush(nil, lost, token: device.token)
            #expect(answer.outcome == "422 push.rejected" && answer.text.contains("notes N"))
            // It would be another record's id one day.
            let digits = DemoValue.changes("folders", created: [["id": "12", "name": "a"]])
            #expect(try await stack.sendPush(nil, digits, token: device.token).outcome == "422 push.rejected")
            let gone = DemoValue.changes("notes", deleted: ["never"])
            #expect(try await stack.sendPush(nil, gone, token: device.token).status == 200)
            #expect(
                stack.backend.requests.allSatisfy { !$0.path.hasPrefix("/notes") && !$0.path.hasPrefix("/folders") })
            // An update of what nobody has made is a creation.
            let unknown = DemoValue.changes("folders", updated: [["id": "U", "name": "a"]])
            #expect(try await stack.sendPush(nil, unknown, token: device.token).status == 200)
            try await device.sync()
            #expect(stack.rows(device, "folders") == ["U": ["a", nil]])
        }
    }

    @Test func `conflicts are found for records under the client's id`() async throws {
        try await GatewayStack.withNumberedIDs(["push.conflicts": "stream"]) { stack in
            var device = try await stack.numbered(1)
            try device.model.create("folders", id: "X", ["name": "first"])
            for _ in 0..<2 { try await device.sync() }
            let id = try #require(try await stack.backendRows("folders").keys.first)
            try await stack.backend.edit(.put("folders", ["id": .string(id), "name": "theirs"]))
            try device.model.update("folders", "X", with: ["name": "mine"])
            do {
                _ = try await device.push()
                Issue.record("another user's change was overwritten")
            } catch StackDevice.Failure.push(let answer) {
                #expect(answer.outcome == "409 push.conflict" && answer.text.contains("folders X"))
            }
            try await device.sync()
            #expect(try await stack.backendRows("folders") == [id: ["mine", nil]])
            #expect(!device.model.hasUnsyncedChanges)
        }
    }

    @Test(arguments: [DemoConfiguration.IDMapLines.first, .last])
    func `lines of the stream tell ids of what was pushed, wherever they stand`(
        lines: DemoConfiguration.IDMapLines
    ) async throws {
        try await GatewayStack.withNumberedIDs(idMaps: lines) { stack in
            var device = try await stack.numbered(1)
            try await device.sync()
            try device.model.create("folders", id: "X", ["name": "mine"])
            // It is carried out, and what it is called nobody hears.
            stack.backend.inject(DemoFault("POST", "/folders", action: .loseAnswer))
            do {
                _ = try await device.push()
                Issue.record("the push was answered with success")
            } catch StackDevice.Failure.push {}
            // One that no device has pushed is called as the backend calls it.
            try await stack.backend.edit(.put("folders", ["name": "foreign", "clientId": "Y"]))
            try await device.sync()
            let names = Set(stack.rows(device, "folders").values.map { $0[0] })
            #expect(names == ["mine", "foreign"] && stack.rows(device, "folders")["X"] == ["mine", nil])
            #expect(stack.rows(device, "folders").count == 2 && stack.rows(device, "folders")["Y"] == nil)
            #expect(try await stack.backendRows("folders").count == 2)
        }
    }

    @Test func `a line about an id that the backend itself has given is passed over`() async throws {
        try await GatewayStack.withNumberedIDs(idMaps: .first) { stack in
            var device = try await stack.numbered(1)
            try await stack.backend.edit(.put("folders", ["id": 70, "name": "theirs"]))
            for _ in 0..<2 { try await device.sync() }
            try device.model.update("folders", "70", with: ["name": "edited"])
            try await device.sync()
            // A user who may write records there names the one that the device has only changed.
            try await stack.backend.edit(.put("folders", ["id": 71, "name": "foreign", "clientId": "70"]))
            for _ in 0..<2 { try await device.sync() }
            #expect(stack.rows(device, "folders") == ["70": ["edited", nil], "71": ["foreign", nil]])
        }
    }

    @Test func `a device that has its own record under the backend's id, too, keeps it once`() async throws {
        try await GatewayStack.withNumberedIDs { stack in
            var device = try await stack.numbered(1)
            try await device.sync()
            try device.model.create("folders", id: "Z", ["name": "mine"])
            stack.backend.inject(DemoFault("POST", "/folders", action: .loseAnswer))
            do {
                _ = try await device.push()
                Issue.record("the push was answered with success")
            } catch StackDevice.Failure.push {}
            try await device.pull()
            let id = try #require(try await stack.backendRows("folders").keys.first)
            #expect(Set(stack.rows(device, "folders").keys) == ["Z", id])
            // What it is called is found out late.
            try await stack.map("folders", "Z", to: id)
            try await device.sync()
            #expect(stack.rows(device, "folders") == [id: ["mine", nil]])
            #expect(try await stack.backendRows("folders").count == 1)
        }
    }

    @Test func `a stream push learns the ids of its answer, and the next one uses them`() async throws {
        var options = StackOptions(["pull.repeat_window": "0s"])
        options.backend.acceptsClientIDs = false
        var text = try StackConfiguration.quickstart()
        for table in ["projects", "tasks", "comments", "tags"] {
            text = text.replacing("[columns \(table)]", with: "ids = backend\n[columns \(table)]")
        }
        options.configuration = text
        try await GatewayStack.with(options) { stack in
            var (first, second) = (try await stack.device(), try await stack.device(seed: 2))
            try await second.sync()
            try first.model.create("projects", id: "P", ["name": "new"])
            try first.model.create("tags", id: "G", ["label": "new"])
            try await first.sync()
            try first.model.create("tasks", id: "T", ["name": "new", "project_id": "P"])
            try await first.sync()
            try first.model.create("task_tags", id: "L", ["task_id": "T", "tag_id": "G"])
            try await first.sync()
            try await second.sync()
            let contents = second.model.contents
            #expect(contents["projects"]?.keys.sorted() == ["P"] && contents["tags"]?.keys.sorted() == ["G"])
            #expect(contents["tasks"]?["T"]?["project_id"] == "P")
            #expect(contents["task_tags"]?["L"] == ["task_id": "T", "tag_id": "G"])
            try second.model.update("tasks", "T", with: ["name": "changed"])
            try second.model.delete("task_tags", "L")
            try await second.sync()
            for _ in 0..<2 { try await first.sync() }
            #expect(first.model.contents["tasks"]?["T"]?["name"] == "changed")
            #expect(first.model.contents["task_tags"]?.isEmpty == true)
            let records = try await stack.backend.records()
            #expect(records["tasks"]?.count == 1 && records["tasks"]?["T"] == nil)
            #expect(records["task_tags"]?.isEmpty == true)
        }
    }
}
