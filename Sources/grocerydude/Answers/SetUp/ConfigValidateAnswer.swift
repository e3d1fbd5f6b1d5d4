/// A configuration without a fault.
struct ConfigValidateAnswer: Answer {
    var file: String
    var profiles: [String]

    func write(to console: Console) {
        let names = profiles.isEmpty ? "none" : profiles.joined(separator: ", ")
        console.answer("'\(file)' is valid; profiles: \(names)")
    }
}
