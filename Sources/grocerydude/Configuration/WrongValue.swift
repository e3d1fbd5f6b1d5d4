/// The reason why a setting refuses a value, with the wanted form and the value.
struct WrongValue: Error {
    var reason: String
    var hint: String?

    init(reason: String, hint: String? = nil) {
        self.reason = reason
        self.hint = hint
    }

    init(wanted: String, not form: WrittenValue.Form, hint: String? = nil) {
        reason = "must be \(wanted), not \(form.name)"
        self.hint = hint
    }
}
