// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import GatewayConfig
import INI
import SyncModel
import Testing

@Suite struct HostileTests {
    @Test(arguments: 1...8)
    func `a damaged file gives diagnostics with positions, never a crash and never the key`(seed: Int) {
        var generator = SeededGenerator(seed: UInt64(seed))
        let sample = Array(KeyTable.sample().replacing("\n#", with: "\n").unicodeScalars)
        let noise = Array("\"{}[]=|,;#$\\ \n.?@é0\u{0}".unicodeScalars)
        for _ in 0..<4 {
            var text = sample
            for _ in 0..<Int.random(in: 1...60, using: &generator) {
                let index = Int.random(in: 0..<text.count, using: &generator)
                switch Int.random(in: 0..<3, using: &generator) {
                case 0: text[index] = noise.randomElement(using: &generator) ?? " "
                case 1: text.remove(at: index)
                default: text.insert(noise.randomElement(using: &generator) ?? " ", at: index)
                }
            }
            let (configuration, diagnostics) = Support.load(
                String(String.UnicodeScalarView(text)), files: ["/etc/rind/identity.key": Support.key])
            #expect(diagnostics.count <= Problems.limit + 1)
            #expect((configuration == nil) == diagnostics.contains { $0.severity == .error })
            let rendered = Support.rendered(diagnostics)
            #expect(!rendered.contains(Support.key) && !rendered.unicodeScalars.contains("\u{0}"))
        }
    }

    @Test(
        .timeLimit(.minutes(1)),
        arguments: [
            "[backend]\n#x#", "#[table t#]\n#", "[table a]\n#k# = 1\n", "[columns a]\n#c# = string x\n",
            "[table a]\nupsert = #A#, ", "[wire]\nchanges = #A#, ", "[columns a]\nc = string #a | ",
            "[table a]\ncreate = POST /a body #[", "[columns a]\nc = string a#.b", "[gateway]\nsync_path = #/a",
        ])
    func `a megabyte of one thing is refused in time`(pattern: String) {
        // The part between # and the end is repeated; # itself becomes a number.
        let start = pattern.firstIndex(of: "#") ?? pattern.endIndex
        let (head, part) = (String(pattern[..<start]), pattern[start...].dropFirst())
        var text = Support.minimal(head)
        var number = 0
        while text.utf8.count < (1 << 20) - 100 {
            text += part.replacing("#", with: String(number))
            number += 1
        }
        let (configuration, diagnostics) = Support.load(text)
        let isRefused = configuration == nil
        #expect(isRefused)
        #expect(diagnostics.count <= Problems.limit + 1)
    }

    @Test func `a secret stays hidden when the list of problems is full`() {
        let text = String(repeating: "x\n", count: 300) + "[identity]\nkey = \"hunter2\n"
        let filler = "key = \"hunter2\n" + String(repeating: "x\n", count: 300)
        for text in [text, "[identity]\n" + filler] {
            #expect(!Support.rendered(Support.load(text).diagnostics).contains("hunter2"))
        }
    }
}
