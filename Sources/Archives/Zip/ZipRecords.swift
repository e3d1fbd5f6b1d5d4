/// The records of a zip according to APPNOTE.TXT 6.3, whose section numbers are used below.
enum ZipRecords {
    static let localSignature: UInt32 = 0x0403_4B50
    static let descriptorSignature: UInt32 = 0x0807_4B50
    static let centralSignature: UInt32 = 0x0201_4B50
    static let digitalSignature: UInt32 = 0x0505_4B50
    static let endSignature: UInt32 = 0x0605_4B50
    static let zip64EndSignature: UInt32 = 0x0606_4B50
    static let zip64LocatorSignature: UInt32 = 0x0706_4B50

    static let localLength = 30
    static let centralLength = 46
    static let endLength = 22
    static let zip64EndLength = 56
    static let zip64LocatorLength = 20

    static let stored: UInt16 = 0
    static let deflated: UInt16 = 8
    /// The method of an AES-encrypted entry; an extra field has the method of the data before encryption.
    static let aes: UInt16 = 99

    /// Bit 0: encrypted; bit 3: sizes behind the data; bit 11: the name is UTF-8.
    static let encryptedFlag: UInt16 = 1
    static let descriptorFlag: UInt16 = 1 << 3
    static let utf8Flag: UInt16 = 1 << 11

    static let zip64Extra: UInt16 = 0x0001
    static let timestampExtra: UInt16 = 0x5455
    static let unicodePathExtra: UInt16 = 0x7075

    /// The "made by" value of Unix, whose upper half of the file attributes is a mode.
    static let unixHost: UInt8 = 3
    static let macHost: UInt8 = 19
    /// The "version made by" of this program's records, without the version.
    static let madeByUnix = UInt16(unixHost) << 8
}
