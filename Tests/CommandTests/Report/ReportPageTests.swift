import Files
import Foundation
import History
import Remotes
import SystemPackage
import TestSupport
import Testing

@testable import Backups
@testable import Operations
@testable import Stores
@testable import grocerydude

/// Pages of made-up backups.
@Suite("The page of a report")
struct ReportPageTests {
    static let now = Date(timeIntervalSince1970: 1_795_251_660)

    /// Names that break out of text, attributes, styles, comments and SVG unless they are escaped.
    static let hostile = [
        "<script>document.title='hacked'</script>",
        "\"><img src=x onerror=document.title='hacked'>",
        "' onmouseover='document.title=1' x='", "</style><b id=hacked>", "--><i id=hacked>",
        "</svg><svg onload=document.title='hacked'>", "&lt;b&gt; &amp; &#60;", "]]><u id=hacked>",
        "$(rm -rf ~); `id` 'q' \\ \"", "\u{202E}txt.exe\u{200F}", "line\nbreak\ttab\u{7}\u{1B}[31m",
        String(repeating: "W", count: 300), "名前 🥕 é",
    ]

    /// Returns backups, one a day, newest first.
    static func backups(
        _ count: Int,
        name: String = "item",
        store: String = "Shop.sqlite"
    ) -> [Backup] {
        (0..<count).map { index in
            let date = now - 3600 - Double(index) * 86_400
            let file = RemoteFile(
                name: BackupName.make(date, in: .utc),
                size: 5_000_000 - Int64(index)
            )
            var backup = Backup(file, timeZone: .utc)
            backup.id = BackupID(rawValue: "\(index)")
            backup.summary.time = date.milliseconds
            backup.summary.origin = "me"
            backup.summary.originName = name
            let rows = Int64(1_000_000 - 500 * index)
            let tables =
                [(name, index == 1 ? rows / 3 : rows)]
                + (1..<8).map { ("table\($0)", rows / Int64($0 * 7)) }
            backup.summary.extent = BackupExtent(of: [
                StoreFacts(
                    path: store,
                    pageSize: 4096,
                    pageCount: 20_000,
                    journalMode: "wal",
                    userVersion: 0,
                    applicationID: 0,
                    kind: .sqlite,
                    tables: tables.map { .init(name: $0.0, rows: $0.1) }
                )
            ])
            backup.take(backup.summary, nil)
            return backup
        }
    }

    private static func calendar(_ runs: [RunLog.Entry], due: [Date] = []) -> RunCalendar {
        let times = DueTimes(.backup, since: .distantPast) { start in
            AnySequence(due.filter { $0 > start })
        }
        let start = RunCalendar.start(weeks: 13, before: now, in: .utc)
        let missed = DueRuns(times, in: runs, from: start, until: now)
        return RunCalendar(of: runs, due: missed, from: start, now: now, in: .utc)
    }

    /// Returns a page with a profile.
    static func page(
        _ backups: [Backup],
        profile: String? = nil,
        change: (inout ProfileReport) -> Void = { _ in }
    ) -> ReportPage {
        var status = Status(stores: "/data/Stores", hasStores: true, remote: "/mnt/backups")
        status.newest = backups.first
        let runs = (0..<60).map { index in
            var run = RunLog.Entry(
                command: "backup",
                profile: profile,
                stores: "/data/Stores",
                remote: "/mnt/backups",
                began: now - 3600 - Double(index) * 86_400,
                duration: .seconds(3),
                exitCode: [0, 0, 0, 3, 0, 1, 0, 20, 0, 75][index % 10]
            )
            if run.exitCode != 0 { run.message = "it did not go well" }
            return run
        }
        status.runs = runs
        var report = ProfileReport(
            profile: profile,
            status: status,
            calendar: calendar(
                runs.filter { $0.began < now - 4 * 86_400 },
                due: (0..<4).reversed().map { now - 7200 - Double($0) * 86_400 }
            )
        )
        report.status.lastBackup = runs[0]
        report.backups = backups
        report.own = backups
        report.trends = TableTrend.trends(of: backups)
        var plan = PruneBackups.Plan()
        for (index, backup) in backups.enumerated() {
            if index < 30 {
                plan.keep.append(.init(backup: backup, reasons: ["daily", "weekly"]))
            } else {
                plan.remove.append(.init(backup: backup, reasons: ["no policy keeps it"]))
            }
        }
        report.plan = plan
        change(&report)
        let reported = ReportedProfile(
            report: report,
            origin: "host:/data/Stores",
            maxAge: .seconds(3600),
            schedule: Schedule("daily 03:30"),
            isInstalled: false,
            options: profile.map { [Advice.option("profile", $0)] } ?? []
        )
        return ReportPage(
            profiles: [reported],
            now: now,
            timeZone: .utc,
            tool: "grocerydude test"
        )
    }

    /// Returns a page in which everything that has a name has a hostile one.
    static func hostilePage(_ name: String) -> String {
        var backups = backups(60, name: name, store: name)
        for index in backups.indices { backups[index].note = name }
        backups[0].tags = [name]
        let date = Date(timeIntervalSince1970: 0)
        backups[1].noted = .init(
            id: "",
            address: "",
            name: "",
            time: date,
            depth: .data,
            damage: name
        )
        var page = page(backups, profile: name) { report in
            report.status.remote = name
            report.status.warnings = [name]
            report.status.remarks = [name]
            report.status.findings = [.init(kind: .leftover, what: name, remedy: name)]
            report.status.lastBackup?.message = name
            report.gaps = [name]
            report.unreachable = RemoteError.unreachable(name, reason: name)
            report.plan?.refusal = name
            for index in report.status.runs.indices { report.status.runs[index].message = name }
            report.calendar = calendar(report.status.runs)
        }
        page.failures = [(name, RemoteError.missing(name))]
        return page.html
    }

    @Test("A page with a thousand backups is less than 1 MB")
    func size() {
        let html = Self.page(Self.backups(1000)).html
        #expect(html.utf8.count < 1_000_000, "\(html.utf8.count) bytes")
        #expect(html.contains("970 backups") && html.contains("950 older ones"))
    }

    @Test("A page has no script, no link elsewhere, and no text that is not escaped")
    func escaping() {
        for name in Self.hostile {
            let html = Self.hostilePage(name)
            #expect(!html.contains("<script") && !html.contains("<img"), "\(name)")
            #expect(!html.contains("id=hacked>") || html.contains("id=hacked&gt;"), "\(name)")
            #expect(!html.contains("<b id=") && !html.contains("<svg onload"), "\(name)")
            #expect(!html.contains("http://") && !html.contains("https://"), "\(name)")
            #expect(!html.contains("\u{202E}") && !html.contains("\u{1B}"), "\(name)")
        }
    }

    @Test("A page begins with problems, and each has a command to copy")
    func problems() {
        let html = Self.page(Self.backups(60), profile: "pho tos").html
        for text in [
            "the schedule &#39;daily 03:30&#39; is not installed",
            "grocerydude schedule install --profile &#39;pho tos&#39;",
            "no restore of these backups was ever proved", "4 scheduled backups were missed",
        ] { #expect(html.contains(text), "\(text)") }
        let places = ["What to look at", "<strong>Problem", "<strong>Note", "<h3>State"].map {
            html.firstRange(of: $0)?.lowerBound
        }
        #expect(places.allSatisfy { $0 != nil })
        let known = places.compactMap(\.self)
        #expect(known == known.sorted())
    }

    @Test("A page shows a jump of a table with the command that compares both backups")
    func jumps() {
        let html = Self.page(Self.backups(3)).html
        #expect(html.contains("999,000 → 333,166 rows, −67 %"))
        #expect(html.contains("333,166 → 1,000,000 rows, +200 %"))
        #expect(html.contains("grocerydude diff &#39;["))
        #expect(html.contains("class=\"jump\""))
    }

    @Test("A page without backups says so")
    func empty() {
        let html = Self.page([]) { $0.status.newest = nil }.html
        #expect(html.contains("there is no good backup"))
        #expect(!html.contains("<svg"))
    }

    // MARK: - In a browser

    @Test(
        "A browser finds nothing in hostile names but text",
        .enabled(if: Browser.isInstalled, "\(Browser.absence)"),
        arguments: ReportPageTests.hostile
    )
    func hostileNames(name: String) throws {
        let browser = Browser(sandbox: try Sandbox())
        let found = try browser.look(
            """
            const known = new Set(['HTML', 'HEAD', 'BODY', 'META', 'TITLE', 'STYLE', 'HEADER', 'MAIN', 'NAV',
                'H1', 'H2', 'H3', 'H4', 'P', 'UL', 'LI', 'A', 'STRONG', 'BR', 'CODE', 'SECTION', 'DIV', 'DL', 'DT',
                'DD', 'TABLE', 'CAPTION', 'THEAD', 'TBODY', 'TR', 'TH', 'TD', 'SPAN', 'FIGURE', 'FIGCAPTION',
                'DETAILS', 'SUMMARY', 'svg', 'path'])
            const attributes = new Set(['lang', 'charset', 'name', 'content', 'http-equiv', 'class', 'id', 'href',
                'aria-label', 'aria-labelledby', 'role', 'title', 'scope', 'tabindex', 'viewBox',
                'preserveAspectRatio', 'd'])
            const all = [...document.querySelectorAll('*')]
            return {
                elements: all.filter(e => !known.has(e.tagName)).map(e => e.tagName),
                attributes: all.flatMap(e => [...e.attributes].map(a => a.name)).filter(a => !attributes.has(a)),
                links: all.filter(e => e.hasAttribute('href') && !e.getAttribute('href').startsWith('#')).length,
                title: document.title,
                command: [...document.querySelectorAll('code.run')].map(e => e.textContent)[0] }
            """,
            at: Self.hostilePage(name)
        )
        let answer = try #require(found as? [String: Any])
        #expect(answer["elements"] as? [String] == [])
        #expect(answer["attributes"] as? [String] == [])
        #expect(answer["links"] as? Int == 0)
        let shown = printable(bytes: name.utf8)
        #expect((answer["title"] as? String)?.hasPrefix("Backups of ") == true)
        let title = try #require(answer["title"] as? String)
        #expect(
            title.split(separator: " ").joined()
                == "Backups of \(shown), \(shown)".split(separator: " ").joined()
        )
        // A shell takes the name in a copied command as one word.
        let command = try #require(answer["command"] as? String)
        let words = try Tool.check(
            "sh",
            ["-c", command.replacing("grocerydude ", with: "printf '%s|' ")]
        )
        #expect(words.contains("|--profile|") || words.contains("|--profile="))
    }

    @Test(
        "A page fits windows of 360 and 1600 pixels, and is readable in both schemes",
        .enabled(if: Browser.isInstalled, "\(Browser.absence)"),
        arguments: [360, 1600],
        [false, true]
    )
    func layout(width: Int, isDark: Bool) throws {
        let browser = Browser(sandbox: try Sandbox())
        let page = Self.page(Self.backups(200), profile: "photos").html
        let found = try browser.look(Self.survey, at: page, width: width, isDark: isDark)
        let answer = try #require(found as? [String: Any])
        #expect(answer["width"] as? Int == width)
        #expect(answer["overflow"] as? [String] == [])
        #expect(answer["contrast"] as? [String] == [])
        #expect(answer["labels"] as? [String] == [])
        let text = try #require(answer["texts"] as? Int)
        #expect(text > 300)
    }

    /// Looks for what is wider than the window, for texts with too little contrast (WCAG 2.2, 1.4.3), and for what a
    /// screen reader has no words for.
    private static let survey = """
        const labels = [], contrast = [], overflow = []
        const wide = window.innerWidth
        if (document.documentElement.scrollWidth > wide) overflow.push('page ' + document.documentElement.scrollWidth)
        for (const e of document.querySelectorAll('body *')) {
            const r = e.getBoundingClientRect()
            if (r.width && r.right > wide + 1 && !e.closest('.scroll')) overflow.push(e.tagName + ' ' + r.right)
        }
        for (const e of document.querySelectorAll('.scroll'))
            if (e.scrollWidth > e.clientWidth + 1) overflow.push('scroll ' + e.scrollWidth + ' of ' + e.clientWidth)
        const numbers = c => c.match(/[0-9.]+/g).map(Number)
        const light = c => { const [r, g, b] = numbers(c).map(v => { v /= 255
            return v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4 })
            return 0.2126 * r + 0.7152 * g + 0.0722 * b }
        const ground = e => { for (; e; e = e.parentElement) {
            const c = window.getComputedStyle(e).backgroundColor
            if (numbers(c)[3] !== 0) return c }
            return 'rgb(255,255,255)' }
        const walker = document.createTreeWalker(document.body, 4)
        let texts = 0
        while (walker.nextNode()) {
            const e = walker.currentNode.parentElement
            if (!walker.currentNode.textContent.trim() || !e.getClientRects().length) continue
            texts++
            const [a, b] = [light(window.getComputedStyle(e).color), light(ground(e))].sort((x, y) => y - x)
            const ratio = (a + 0.05) / (b + 0.05)
            if (ratio < 4.5) contrast.push(e.tagName + '.' + e.className + ' ' + ratio.toFixed(2))
        }
        for (const e of document.querySelectorAll('[role=img],[role=region]'))
            if (!e.getAttribute('aria-label')?.trim()) labels.push('no label: ' + e.outerHTML.slice(0, 80))
        for (const e of document.querySelectorAll('svg:not([role=img])')) labels.push('no role: svg')
        for (const e of document.querySelectorAll('table'))
            if (!e.querySelector('caption')?.textContent.trim()) labels.push('no caption')
        for (const e of document.querySelectorAll('th')) if (!e.scope) labels.push('no scope: ' + e.textContent)
        for (const e of document.querySelectorAll('[aria-labelledby]'))
            if (!document.getElementById(e.getAttribute('aria-labelledby'))) labels.push('labelled by nothing')
        for (const e of document.querySelectorAll('a,summary'))
            if (!e.textContent.trim()) labels.push('no name: ' + e.tagName)
        const ids = [...document.querySelectorAll('[id]')].map(e => e.id)
        if (new Set(ids).size !== ids.length) labels.push('an id twice')
        if (!document.documentElement.lang || !document.title) labels.push('no language or title')
        if (document.querySelectorAll('h1').length !== 1 || !document.querySelector('main')) labels.push('no h1 or main')
        let depth = 1
        for (const e of document.querySelectorAll('h1,h2,h3,h4')) {
            const level = Number(e.tagName[1])
            if (level > depth + 1) labels.push('a level is left out: ' + e.textContent)
            depth = level
        }
        return { width: wide, overflow, contrast: [...new Set(contrast)], labels, texts }
        """
}
