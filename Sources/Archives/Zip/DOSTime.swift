internal import Foundation

/// The date and time of DOS: local time in steps of two seconds, from 1980 to 2107 (4.4.6).
enum DOSTime {
    static func of(_ nanoseconds: Int64) -> (date: UInt16, time: UInt16) {
        var seconds = time_t(nanoseconds.floorDivided(by: 1_000_000_000))
        var local = tm()
        guard localtime_r(&seconds, &local) != nil, (80...207).contains(local.tm_year) else {
            return local.tm_year > 207 ? (0xFF9F, 0xBF7D) : (0x0021, 0)
        }
        let date = (local.tm_year - 80) << 9 | (local.tm_mon + 1) << 5 | local.tm_mday
        let time = local.tm_hour << 11 | local.tm_min << 5 | min(local.tm_sec, 59) / 2
        return (UInt16(date), UInt16(time))
    }

    static func nanoseconds(date: UInt16, time: UInt16) -> Int64 {
        var local = tm()
        local.tm_year = CInt(date >> 9) + 80
        local.tm_mon = CInt(date >> 5 & 15) - 1
        local.tm_mday = CInt(date & 31)
        local.tm_hour = CInt(time >> 11)
        local.tm_min = CInt(time >> 5 & 63)
        local.tm_sec = CInt(time & 31) * 2
        local.tm_isdst = -1
        return Int64(mktime(&local)) * 1_000_000_000
    }
}

extension Int64 {
    /// Returns the quotient rounded down, also for negative numbers.
    func floorDivided(by divisor: Int64) -> Int64 {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? quotient - 1 : quotient
    }
}
