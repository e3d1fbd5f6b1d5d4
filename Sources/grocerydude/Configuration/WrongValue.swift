/// Why a value is none for its setting: what is wanted, and what there is.
struct WrongValue: Error {
    var reason: String
    var hint: String?

    init(wanted: String, not form: WrittenValue.Form, hint: String? = nil) {
        reason = "must be \(wanted), not \(form.name)"
        self.hint = hint
    }
}
