internal import Operations

extension Duration {
    /// The duration as people read it: `1.2 s`, `3 min`, `26 h`, `5 days`.
    var shortText: String {
        switch inSeconds {
        case let seconds where seconds < 60: "\((seconds * 10).rounded() / 10) s"
        case let seconds where seconds < 3600: "\(Int(seconds / 60)) min"
        case let seconds where seconds < 48 * 3600: "\(Int(seconds / 3600)) h"
        case let seconds: "\(Int(seconds / 86_400)) days"
        }
    }
}
