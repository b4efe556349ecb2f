// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Backend

/// The sentence by which a backend refuses, in the shapes of the usual frameworks.
@Suite struct RefusalTextTests {
    @Test(arguments: [
        (#"{"message":"Title is too long","statusCode":422}"#, "Title is too long"),
        (#"{"message":["a is wrong","b is wrong"],"error":"Bad Request"}"#, "a is wrong; b is wrong"),
        (#"{"detail":[{"loc":["body","name"],"msg":"Field required"}]}"#, "Field required"),
        (#"{"type":"about:blank","title":"Bad","detail":"No such project"}"#, "No such project"),
        (#"{"error":{"code":7,"message":"closed"}}"#, "closed"),
        (#"{"name":["This field may not be blank."]}"#, "name: This field may not be blank."),
        (#"{"errors":{"name":["can't be blank"]}}"#, "name: can't be blank"),
        (#"{"errors":{"name":"is taken"}}"#, "name: is taken"),
        (#"["one","two","three","four"]"#, "one; two; three"), ("not today\n", "not today"),
        ("two\r\nlines \u{202e}", #"two lines \u{202e}"#),
    ])
    func `the sentence is found, on one line`(body: String, sentence: String) {
        #expect(RefusalText.sentence(in: body) == sentence)
    }

    @Test(arguments: [
        "", "{}", "[]", "7", "null", "<html>no</html>", #"{"message":""}"#, #"{"cut":"#, #"[{"id":"tag-0"}]"#,
    ])
    func `where there is none, none is made up`(body: String) {
        #expect(RefusalText.sentence(in: body) == nil)
    }

    @Test func `a long one is cut, and a deep one is not looked for`() {
        let long = RefusalText.sentence(in: #"{"message":"\#(String(repeating: "x", count: 5_000))"}"#)
        #expect(long?.utf8.count == 200 + "…".utf8.count)
        #expect(RefusalText.sentence(in: #"[[[[[["deep"]]]]]]"#) == nil)
    }
}
