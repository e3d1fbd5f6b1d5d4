/// Returns the most likely correction of a misspelt name; `nil` if no name is similar.
public func nearestName(to name: String, among names: some Sequence<String>) -> String? {
    let limit = name.count < 2 ? 0 : max(1, name.count / 3)
    let near = names.map { (name: $0, distance: editDistance(from: name, to: $0)) }
        // Any two letters are as like another two; a longer name may have both.
        .filter { $0.distance <= (name.count == 2 && $0.name.count <= 2 ? 0 : limit) }
    // Of equally similar names the first wins, so that the result does not depend on chance.
    return near.min { $0.distance < $1.distance }?.name
}

/// Returns the most likely correction of a misspelt path, or of a file name with or without its extension; `nil` if no
/// path is similar.
public func nearestFile(to path: String, among paths: [String]) -> String? {
    if let nearest = nearestName(to: path, among: paths) { return nearest }
    func stem(_ path: String) -> String {
        let name = path.split(separator: "/").last.map(String.init) ?? path
        guard let dot = name.lastIndex(of: "."), dot > name.startIndex else { return name }
        return String(name[..<dot])
    }
    let stems = paths.map(stem)
    guard let nearest = nearestName(to: stem(path), among: stems) else { return nil }
    return stems.firstIndex(of: nearest).map { paths[$0] }
}

/// Returns the number of characters to add, remove, replace or exchange with their neighbour.
private func editDistance(from first: String, to second: String) -> Int {
    let first = Array(first.lowercased().prefix(100)),
        second = Array(second.lowercased().prefix(100))
    var rows = [Array(0...second.count)]
    for i in 0..<first.count {
        var row = [i + 1]
        for j in 0..<second.count {
            var distance = min(
                row[j] + 1,
                rows[i][j + 1] + 1,
                rows[i][j] + (first[i] == second[j] ? 0 : 1)
            )
            if i > 0, j > 0, first[i] == second[j - 1], first[i - 1] == second[j] {
                distance = min(distance, rows[i - 1][j - 1] + 1)
            }
            row.append(distance)
        }
        rows.append(row)
    }
    return rows[first.count][second.count]
}
