/// The colours and the layout of a report's page.
enum ReportStyle {
    /// A colour in the light and the dark scheme, by the name of its CSS variable.
    static let colours: [(name: String, light: String, dark: String)] = [
        ("page", "#ffffff", "#0d1117"), ("card", "#f6f8fa", "#161b22"),
        ("text", "#1b1f24", "#e6edf3"), ("faint", "#525a63", "#a3adb8"),
        ("line", "#d0d7de", "#3a424d"), ("mark", "#0550ae", "#79b8ff"),
        ("done", "#d4f2dc", "#12361f"), ("done-text", "#0b4420", "#b7f0c4"),
        ("partial", "#fff0bf", "#413200"), ("partial-text", "#574000", "#ffe08a"),
        ("missed", "#e8e1ff", "#2c245b"), ("missed-text", "#38267f", "#d9d1ff"),
        ("failed", "#ffd9d6", "#501417"), ("failed-text", "#75061a", "#ffcdc8"),
        ("damaged", "#8b0a22", "#ffb3ad"), ("damaged-text", "#ffffff", "#38000a"),
        ("skipped", "#e6eaee", "#262c34"), ("skipped-text", "#3b434b", "#c9d1d9"),
    ]

    /// The style sheet.
    static var sheet: String {
        let light = colours.map { "--\($0.name):\($0.light)" }.joined(separator: ";")
        let dark = colours.map { "--\($0.name):\($0.dark)" }.joined(separator: ";")
        return """
            :root{color-scheme:light dark;\(light)}
            @media(prefers-color-scheme:dark){:root{\(dark)}}
            \(rules)
            """
    }

    private static let rules = """
        *{box-sizing:border-box}
        body{margin:0;background:var(--page);color:var(--text);font:1rem/1.5 system-ui,sans-serif}
        main,header{max-width:100rem;margin:0 auto;padding:0 1rem}
        h1{font-size:1.6rem;line-height:1.2;margin:1.2rem 0 .3rem}
        h2{font-size:1.3rem;margin:2rem 0 .6rem;overflow-wrap:anywhere}
        h3{font-size:1.05rem;margin:0 0 .5rem}
        h4 .faint{font-weight:400}
        h4{font-size:.95rem;font-weight:600;margin:.9rem 0 .1rem;overflow-wrap:anywhere}
        p{margin:.3rem 0}a{color:var(--mark)}
        .faint,caption,figcaption{color:var(--faint);font-size:.875rem}
        .cards>:last-child{margin:0}
        .cards{columns:3 26rem;column-gap:1rem;margin-bottom:1rem}
        .card{background:var(--card);border:1px solid var(--line);border-radius:.5rem;padding:.9rem;margin:0 0 1rem;break-inside:avoid}
        .trends{display:grid;gap:0 1.5rem;grid-template-columns:repeat(auto-fill,minmax(min(100%,20rem),1fr))}
        .trends>div{min-width:0}.trends ul{margin:0;padding-left:1.1rem}
        dl{display:grid;grid-template-columns:minmax(6rem,max-content) minmax(0,1fr);gap:.2rem .9rem;margin:0}
        dt{color:var(--faint)}dd{margin:0;overflow-wrap:anywhere}
        ul.problems{list-style:none;margin:0;padding:0;display:grid;gap:.5rem}
        ul.problems li{background:var(--card);border:1px solid var(--line);border-left:.4rem solid var(--line);border-radius:.3rem;padding:.5rem .7rem;overflow-wrap:anywhere}
        ul.problems li.problem{border-left-color:var(--damaged)}
        code{font:.875em/1.4 ui-monospace,monospace;overflow-wrap:anywhere}
        code.run{display:inline-block;background:var(--page);border:1px solid var(--line);border-radius:.3rem;padding:.1rem .45rem;margin:.15rem 0;user-select:all;-webkit-user-select:all}
        table{border-collapse:collapse;width:100%;font-size:.875rem}
        caption{text-align:left;padding-bottom:.3rem}
        th,td{text-align:left;vertical-align:top;padding:.25rem .5rem .25rem 0;overflow-wrap:anywhere}
        thead th{color:var(--faint);font-weight:600}
        tbody th{font-weight:400}
        tbody tr{border-top:1px solid var(--line)}
        .rows .faint{font-size:inherit}.rows th:last-child,.rows td:last-child{padding-right:0}
        .days{table-layout:fixed;max-width:34rem}
        .days th,.days td{text-align:center;padding:.1rem;border:0;white-space:nowrap}
        .days th[scope=row],.days th:first-child{text-align:left;width:3.6rem}
        .days tbody tr{border:0}
        .days span{display:block;border-radius:.25rem;padding:.1rem 0;border:1px solid transparent}
        .key{display:flex;flex-wrap:wrap;gap:.3rem .5rem;list-style:none;padding:0;margin:.5rem 0 0;font-size:.875rem}
        .key span{display:inline-block;border-radius:.25rem;padding:0 .4rem}
        .done{background:var(--done);color:var(--done-text)}
        .partial{background:var(--partial);color:var(--partial-text)}
        .missed{background:var(--missed);color:var(--missed-text)}
        .days span.missed{border:1px dashed currentColor}
        .failed{background:var(--failed);color:var(--failed-text)}
        .damaged{background:var(--damaged);color:var(--damaged-text)}
        .skipped{background:var(--skipped);color:var(--skipped-text)}
        .days span.none{color:var(--faint)}
        figure{margin:0 0 .9rem}
        svg{display:block;width:100%;height:4.5rem;border-bottom:1px solid var(--line)}
        svg.lane{height:1.3rem}
        svg path{fill:none;stroke:var(--mark);stroke-width:2;vector-effect:non-scaling-stroke}
        svg path.jump{stroke:var(--text);stroke-width:1.5;stroke-dasharray:4 3}
        .ends{display:flex;justify-content:space-between;gap:1rem}
        .scroll{overflow-x:auto}
        details summary{cursor:pointer;padding:.3rem 0}
        footer{color:var(--faint);font-size:.875rem;margin:2rem 0}
        @media(max-width:30rem){.rows{table-layout:fixed;font-size:.8rem}.rows th,.rows td{overflow-wrap:break-word}.rows th,.rows td{padding-right:.3rem}.rows th:first-child{width:33%}.rows th:nth-child(2){width:22%}.rows th:nth-child(4){width:20%}
        .days{font-size:.75rem}.days th[scope=row],.days th:first-child{width:3.1rem}}
        @media print{.card{break-inside:avoid}}
        """
}
