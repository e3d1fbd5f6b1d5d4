/// The place where a setting is made; each wins over the ones below it.
enum Origin: Equatable, CustomStringConvertible {
    /// On the command line, with this option.
    case flag(String)
    /// In the environment, in this variable.
    case environment(String)
    /// In the configuration.
    case file(String, line: Int)
    /// Nowhere: it is built in.
    case `default`

    var description: String {
        switch self {
        case .flag(let name): name
        case .environment(let name): name
        case .file(let path, let line): "\(path):\(line)"
        case .default: "default"
        }
    }
}
