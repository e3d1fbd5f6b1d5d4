import Files
import Foundation
import SystemPackage
import TestSupport

/// A real browser without a window, which shows a page in a frame and looks at it.
struct Browser {
    static let isInstalled = Tool.isInstalled("chromium")
    /// The word of a test that is skipped.
    static let absence = "chromium is not installed"

    let sandbox: Sandbox

    /// Shows a page, and returns the value of a script about it.
    ///
    /// - Parameters:
    ///   - script: the body of a function of `document` and `window`, those of the page; its value is JSON.
    ///   - page: the page, which runs no script itself.
    ///   - width: the width of its window in pixels.
    ///   - isDark: whether the person prefers dark pages.
    /// - Returns: the value.
    /// - Throws: `Tool.Failure` if the browser fails, or if the script does.
    func look(
        _ script: String,
        at page: String,
        width: Int = 1600,
        isDark: Bool = false
    ) throws -> Any {
        let source = page.replacing("&", with: "&amp;").replacing("\"", with: "&quot;")
        let frame = """
            <!DOCTYPE html><meta charset="utf-8"><body><iframe id="page" title="page"
            style="width:\(width)px;height:1200px;border:0;color-scheme:\(isDark ? "dark" : "light")"
            srcdoc="\(source)"></iframe><script>
            onload = () => {
                const window = document.getElementById('page').contentWindow
                const look = (document, window) => { \(script) }
                const text = JSON.stringify(look(window.document, window))
                document.body.innerHTML = '<pre></pre>'
                document.body.firstChild.textContent = btoa(unescape(encodeURIComponent(text)))
            }
            </script>
            """
        let file = try sandbox.write(frame, to: "frame.html")
        let dump = try Tool.check(
            "chromium",
            [
                "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom",
                "--window-size=2000,1400", "--user-data-dir=\(sandbox.path("Browser"))",
                "file://\(file)",
            ]
        )
        let answer = dump.firstMatch(of: /<pre>([A-Za-z0-9+\/=]*)<\/pre>/)?.1
        guard let answer, let data = Data(base64Encoded: String(answer)) else {
            throw Tool.Failure.failed(
                "chromium",
                .init(status: 0, output: Array(dump.utf8), errors: "")
            )
        }
        return try JSONSerialization.jsonObject(with: data, options: .fragmentsAllowed)
    }
}
