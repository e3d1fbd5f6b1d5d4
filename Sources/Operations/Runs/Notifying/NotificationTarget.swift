internal import Files
internal import Foundation

/// A place that notifications are sent to: `mail:ADDRESS`, `desktop`, or a URL.
public struct NotificationTarget: Sendable, Equatable {
    /// The text of the setting, which may contain secrets.
    let text: String
    let way: Way

    enum Way: Equatable {
        /// Mail to addresses; to the user who runs the program if there are none.
        case mail(String?)
        case desktop
        /// A web server, by its whole address.
        case web(WebForm)
        /// A service that only the program apprise knows, or knows better.
        case apprise(scheme: String)
    }

    /// The forms in which web servers take a message.
    enum WebForm {
        case ntfy, gotify, slack, discord
    }

    /// The form of the setting, for errors.
    public static let form = "'mail:ADDRESS', 'desktop' or a URL"

    /// Parses a target; `nil` if the text is none.
    public init?(_ text: String) {
        guard text.utf8.count <= 2000,
            text.unicodeScalars.allSatisfy({ $0.value > 0x20 && $0 != "\u{7F}" })
        else { return nil }
        self.text = text
        if text == "desktop" {
            way = .desktop
        } else if text == "mail" {
            way = .mail(nil)
        } else if text.hasPrefix("mail:"), !text.hasPrefix("mail:/") {
            guard text.count > 5 else { return nil }
            way = .mail(String(text.dropFirst(5)))
        } else if let address = Address(text) {
            way = address.isOfWeb ? .web(address.form) : .apprise(scheme: address.scheme)
        } else {
            return nil
        }
    }

    /// Returns a text that is no target without what may be a secret, for errors.
    public static func masked(_ text: String) -> String {
        guard let slash = text.firstIndex(of: "/") else { return text }
        return "\(text[...slash])\(SecretMask.hidden)"
    }

    /// The target without its secrets.
    public var shown: String { Address(text)?.shown ?? text }

    /// Whether another program than curl sends the messages.
    public var needsProgram: Bool {
        if case .web = way { false } else { true }
    }

    /// A name for the log that does not reveal the secrets.
    var digest: String {
        String(Array(text.utf8).withUnsafeBytes { Digest(of: $0) }.description.prefix(16))
    }

    /// The mask for the secrets of several targets.
    static func mask(of targets: [NotificationTarget]) -> SecretMask {
        SecretMask(targets.flatMap { Address($0.text)?.secrets ?? [] })
    }

    /// The program's own request for a message; `nil` if it knows none for this target.
    func request(for notice: Notice, timeout: Duration) -> WebRequest? {
        guard let address = Address(text), let place = address.place else { return nil }
        var request = WebRequest(url: place.url, headers: place.headers, timeout: timeout)
        switch address.form {
        case .ntfy:
            request.headers += [
                "Title: \(notice.title)", "Priority: \(notice.isBad ? "high" : "default")",
                "Content-Type: text/plain; charset=utf-8",
            ]
            request.body = notice.text
            return request
        case .gotify:
            let priority = notice.isBad ? 8 : 4
            request.body =
                WebMessage(title: notice.title, message: notice.text, priority: priority).json
        case .slack: request.body = WebMessage(text: Self.escaped(notice.whole)).json
        case .discord:
            let text = String(notice.whole.prefix(1900))
            request.body = WebMessage(content: text, mentions: ["parse": []]).json
        }
        request.headers.append("Content-Type: application/json")
        return request
    }

    /// Returns a text for Slack and for desktops, which take three characters for their own.
    static func escaped(_ text: String) -> String {
        text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
    }
}

/// The parts of a target's URL.
private struct Address {
    let text: String
    /// The word before `://`, in small letters.
    let scheme: String
    let user: String?
    let password: String?
    let host: String
    let path: [String]
    let query: String?

    init?(_ text: String) {
        guard let colon = text.firstRange(of: "://") else { return nil }
        scheme = text[..<colon.lowerBound].lowercased()
        let rest = text[colon.upperBound...].prefix { $0 != "#" }
        guard let first = scheme.unicodeScalars.first, ("a"..."z").contains(first),
            scheme.unicodeScalars.allSatisfy({
                $0.isASCII
                    && ($0.properties.isAlphabetic || "0123456789+-.".unicodeScalars.contains($0))
            })
        else { return nil }
        self.text = text
        let parts = rest.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        let places = (parts.first ?? "").split(separator: "/", omittingEmptySubsequences: false)
            .map(String.init)
        let authority = places[0]
        query = parts.count > 1 ? String(parts[1]) : nil
        path = places.dropFirst().filter { !$0.isEmpty }
        if let at = authority.lastIndex(of: "@") {
            let credentials = authority[..<at].split(
                separator: ":",
                maxSplits: 1,
                omittingEmptySubsequences: false
            )
            user = credentials.first.map(String.init)
            password = credentials.count > 1 ? String(credentials[1]) : nil
            host = String(authority[authority.index(after: at)...])
        } else {
            (user, password, host) = (nil, nil, authority)
        }
        guard !host.isEmpty else { return nil }
    }

    var isOfWeb: Bool { ["http", "https"].contains(scheme) }

    var form: NotificationTarget.WebForm {
        if scheme.hasPrefix("gotify") { return .gotify }
        guard isOfWeb else { return .ntfy }
        if host == "hooks.slack.com" || ["services", "hooks"].contains(path.first) {
            return .slack
        }
        if path.starts(with: ["api", "webhooks"]) { return .discord }
        return path.last == "message" && query?.contains("token=") == true ? .gotify : .ntfy
    }

    /// The address to post to without apprise, with header lines; `nil` if only apprise knows the service.
    var place: (url: String, headers: [String])? {
        let authority = (user.map { "\($0)\(password.map { ":\($0)" } ?? "")@" } ?? "") + host
        switch scheme {
        case "http", "https": return (text, [])
        case "ntfy", "ntfys":
            // Without a topic, apprise takes the host as a topic of the public server.
            guard let topic = path.first else { return ("https://ntfy.sh/\(host)", []) }
            return ("\(scheme == "ntfy" ? "http" : "https")://\(authority)/\(topic)", [])
        case "gotify", "gotifys":
            guard let token = path.last else { return nil }
            let parts = [authority] + path.dropLast() + ["message"]
            let url = "\(scheme == "gotify" ? "http" : "https")://\(parts.joined(separator: "/"))"
            return (url, ["X-Gotify-Key: \(token)"])
        default: return nil
        }
    }

    /// Whether the host is the name of a server, and not a secret as in most URLs of apprise.
    private var hasServer: Bool {
        isOfWeb || scheme.hasPrefix("gotify") || scheme.hasPrefix("ntfy") && !path.isEmpty
    }

    var shown: String {
        let isWhole = hasServer && path.isEmpty && query == nil && user == nil
        return
            "\(scheme)://\(hasServer ? host : "")\(hasServer && !isWhole ? "/" : "")\(isWhole ? "" : SecretMask.hidden)"
    }

    /// The parts that must not be shown.
    var secrets: [String] {
        let words: Set = ["api", "webhooks", "services", "hooks", "message"]
        let values = query?.split(separator: "&").compactMap {
            $0.split(separator: "=", maxSplits: 1).last.map(String.init)
        }
        let rest = text.split(separator: "://", maxSplits: 1).last.map(String.init)
        var secrets =
            [text, rest, password].compactMap(\.self) + path.filter { !words.contains($0) }
            + (values ?? [])
        // Short names of users are ordinary words.
        if let user, password == nil || user.count > 7 { secrets.append(user) }
        if !hasServer { secrets.append(host) }
        return secrets
    }
}

/// The JSON that web servers take, each some of it.
private struct WebMessage: Encodable {
    var text: String?
    var title: String?
    var message: String?
    var priority: Int?
    var content: String?
    var mentions: [String: [String]]?

    private enum CodingKeys: String, CodingKey {
        case text, title, message, priority, content, mentions = "allowed_mentions"
    }

    var json: String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // Texts and numbers can always be encoded.
        return (try? encoder.encode(self)).map { String(decoding: $0, as: UTF8.self) } ?? "{}"
    }
}
