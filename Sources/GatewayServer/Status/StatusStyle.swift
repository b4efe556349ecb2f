// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// Holds the style sheet of the operator's page.
enum StatusStyle {
    static let text = """
        :root {
          color-scheme: light dark;
          --page: #f6f7f9; --card: #fff; --line: #e3e6ea; --text: #1b1f24; --quiet: #626b76;
          --good: #1a7f4b; --fair: #9a6700; --bad: #c62f36; --bar: #3f7fc1;
        }
        @media (prefers-color-scheme: dark) {
          :root {
            --page: #0f1216; --card: #171b21; --line: #2a3038; --text: #e4e8ed; --quiet: #929ca8;
            --good: #4cc38a; --fair: #e0b34f; --bad: #ff7b81; --bar: #6ea8e0;
          }
        }
        * { box-sizing: border-box; }
        body {
          margin: 0 auto; max-width: 76rem; padding: 1.25rem; background: var(--page); color: var(--text);
          font: 15px/1.5 system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif;
        }
        header { display: flex; flex-wrap: wrap; align-items: baseline; gap: .25rem 1rem; margin: 0 .25rem 1.25rem; }
        h1 { font-size: 1.5rem; letter-spacing: -.01em; margin: 0; }
        h2 { font-size: .95rem; margin: 0 0 .6rem; }
        .quiet { color: var(--quiet); }
        .good { color: var(--good); } .fair { color: var(--fair); } .bad { color: var(--bad); }
        main { display: grid; gap: 1rem; grid-template-columns: repeat(auto-fit, minmax(min(100%, 22rem), 1fr)); }
        section {
          background: var(--card); border: 1px solid var(--line); border-radius: .6rem; padding: 1rem 1.1rem;
          min-width: 0; overflow-x: auto;
        }
        .wide { grid-column: 1 / -1; }
        dl { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: .25rem 1.2rem; margin: 0; }
        dt { color: var(--quiet); } dd { margin: 0; overflow-wrap: anywhere; }
        table { border-collapse: collapse; width: 100%; }
        th, td { text-align: left; vertical-align: top; padding: .35rem 1.2rem .35rem 0; }
        th { color: var(--quiet); font-weight: 500; font-size: .85rem; }
        td { border-top: 1px solid var(--line); }
        th:last-child, td:last-child { padding-right: 0; }
        .number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
        td.code { font: .88em ui-monospace, "DejaVu Sans Mono", monospace; white-space: nowrap; }
        .big { font-size: 2rem; font-weight: 600; letter-spacing: -.02em; line-height: 1.1; }
        p { margin: 0; }
        svg { display: block; width: 100%; height: 6rem; margin-top: .8rem; }
        .ok { fill: var(--bar); } .fault { fill: var(--bad); } .base { fill: var(--line); }
        @media (max-width: 40rem) {
          body { padding: .8rem; }
          .rows thead { display: none; }
          .rows, .rows tbody, .rows tr, .rows td { display: block; }
          .rows tr { border-top: 1px solid var(--line); padding: .5rem 0; }
          .rows td { border: 0; padding: .05rem 0; text-align: left; white-space: normal; overflow-wrap: anywhere; }
          .rows td[data-label]::before { content: attr(data-label) " "; color: var(--quiet); }
        }

        """
}
