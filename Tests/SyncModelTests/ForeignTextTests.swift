// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import SyncModel
import Testing

@Suite struct ForeignTextTests {
    @Test func `what is quoted is cut, at a whole scalar`() {
        #expect(ForeignText.cut("abc", to: 3) == "abc")
        #expect(ForeignText.cut("abcd", to: 3) == "abc…")
        #expect(ForeignText.cut("aé€", to: 3) == "aé…")
        #expect(ForeignText.cut("a€", to: 3) == "a…" && ForeignText.cut("a€", to: 4) == "a€")
        #expect(ForeignText.cut("\u{1F600}\u{1F600}", to: 7) == "\u{1F600}…")
        #expect(ForeignText.cut(String(repeating: "x", count: 1 << 20)).utf8.count == 203)
    }

    @Test(
        arguments: [
            "\u{0}", "\u{1B}", "\n", "\u{7F}", "\u{85}", "\u{9B}", "\u{AD}", "\u{61C}", "\u{180E}", "\u{200B}",
            "\u{200F}",
            "\u{2028}", "\u{2029}", "\u{202E}", "\u{2066}", "\u{2069}", "\u{FEFF}", "\u{E0041}", "\u{3164}",
        ] as [Unicode.Scalar])
    func `what could steer a terminal or turn a text is escaped`(scalar: Unicode.Scalar) {
        let code = String(scalar.value, radix: 16)
        #expect(ForeignText.escaped("a\(scalar)b") == "a\\u{\(code)}b")
        #expect(ForeignText.escaped("a\(scalar)b", except: [scalar]) == "a\(scalar)b")
    }

    @Test func `the form of a text says nothing of its content`() {
        #expect(ForeignText.shape(of: "Ada's 12,50 € – a_b/c") == "Aaa'a 99,99 ? ? a_a/a")
        #expect(ForeignText.shape(of: "\u{0}\u{7F}\n") == "???")
    }

    @Test func `other text stays as it is`() {
        for text in ["", "plain \\ text", "Jörg Müller", "日本語", "\u{1F600}", "عربى", "e\u{301}"] {
            #expect(ForeignText.escaped(text) == text)
        }
    }

    @Test func `JSON means the same when it is escaped`() {
        let json = Array("{\"a\":\"é\u{202E}\u{E0041}\u{9B}\"}\n".utf8)
        #expect(
            String(decoding: ForeignText.escapedJSON(json), as: UTF8.self)
                == "{\"a\":\"é\\u202e\\udb40\\udc41\\u009b\"}\n")
    }

    @Test func `a secret is masked, also where a text that quotes it is cut`() {
        let secrets = ["abcdefghijklmnop", "xyz12345", "no"]
        #expect(ForeignText.masked("token abcdefghijklmnop!", secrets: secrets) == "token ********!")
        #expect(ForeignText.masked("token abcdefghij", secrets: secrets) == "token ********")
        #expect(ForeignText.masked("abcdefg xyz12345xyz12345", secrets: secrets) == "abcdefg ****************")
        #expect(ForeignText.masked("no", secrets: secrets) == "no")
    }
}
