// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import GRDB
import SyncModel
import Testing

@testable import SQLiteState
@testable import StateStore

@Suite struct FullDiskTests {
    @Test(arguments: [ResultCode.SQLITE_IOERR, .SQLITE_IOERR_SHMSIZE, .SQLITE_IOERR_WRITE, .SQLITE_IOERR_SHMMAP])
    func `an error of the disk is one of its room where it has none`(code: ResultCode) {
        let error = DatabaseError(resultCode: code)
        #expect(StateError(error, path: "/s", hasRoom: { false }) == .full)
        #expect(StateError(error, path: "/s", hasRoom: { true }).code == "state.io")
    }

    @Test func `an error that is not the disk's says nothing of its room`() {
        let error = DatabaseError(resultCode: .SQLITE_BUSY)
        #expect(StateError(error, path: "/s", hasRoom: { false }) == .busy)
    }

    @Test func `there is room where files can be made`() {
        #expect(StateFile.hasRoom(beside: "/tmp/state.db") && StateFile.hasRoom(beside: "/nowhere/at/all/state.db"))
    }
}
