internal import Age
internal import Files

extension BackupKeys {
    /// Sets a backup's trusted signer, or the reason why it does not count.
    func judge(_ backup: inout Backup) {
        (backup.signer, backup.distrust) = (nil, nil)
        guard let signers else { return }
        guard let signature = backup.signature else {
            let reason = backup.isForeign ? Self.foreign : "it is not known who made it"
            backup.distrust = Backup.Distrust(reason: reason)
            return
        }
        do {
            backup.signer = try signers.name(of: signature)
            if backup.signer == nil { backup.distrust = .init(reason: signature.distrust) }
        } catch {
            backup.distrust = .init(reason: Self.unreadable)
        }
    }

    /// Returns the reason why an opened archive, or one that it is built on, does not count.
    ///
    /// Returns `nil` if all have trusted signatures.
    func distrust(of archived: ArchivedBackup) -> String? {
        guard let signers else { return nil }
        do {
            for part in [archived] + archived.needs {
                if part.header == nil { return Self.foreign }
                if try signers.name(of: part.signature) == nil { return part.signature.distrust }
            }
            return nil
        } catch {
            return Self.unreadable
        }
    }

    private static let foreign = "another program made it"
    private static let unreadable = "the trusted keys cannot be read"

    fileprivate static func unreadable(_ error: any Error) -> String {
        "\(unreadable): \(explainedWithHint(error))"
    }
}

extension BackupFolder.Listing {
    /// The warning if the trusted keys cannot be read, so that no backup counts.
    public var signersWarning: String? { signersError.map(BackupKeys.unreadable) }
}

extension BackupFolder {
    /// Returns the reason not to trust an opened archive; `nil` if it has a trusted signature, or no key is known here.
    package func remark(onSignerOf archived: ArchivedBackup) -> String? {
        do {
            return try memory.catalog.knowsNobody ? nil : archived.distrust
        } catch {
            return BackupKeys.unreadable(error)
        }
    }

    /// Notes whether an opened archive, and all that it is built on, have trusted signatures.
    ///
    /// - Throws: `ArchivedBackupError.distrusted` if the backup was listed as trusted: the file may have been replaced.
    package func refuseDistrusted(_ archived: ArchivedBackup, openedAs backup: Backup) throws {
        let distrust = keys.distrust(of: archived)
        if let id = backup.id, let opened = archived.header?.id, id != opened {
            throw ArchivedBackupError.distrusted(
                archived.name,
                reason: "another backup has taken its place since it was listed"
            )
        }
        if backup.distrust == nil, let distrust {
            throw ArchivedBackupError.distrusted(archived.name, reason: distrust)
        }
        archived.distrust = distrust
        archived.isTrusted = distrust == nil && keys.signers != nil
    }
}

extension Signers {
    /// Returns the name of the trusted signer; `nil` if there is none.
    fileprivate func name(of signature: BackupSignature) throws -> String? {
        guard case .by(let keys) = signature else { return nil }
        return try name(ofAnyOf: keys)
    }
}

extension BackupSignature {
    /// The reason not to trust a backup without a trusted key.
    package var distrust: String {
        switch self {
        case .none: "it is not signed"
        case .by(let keys): "it is \(Backup.Distrust.unsigned), but by \(keys[0].fingerprint)"
        case .invalid(let reason): "its signature does not hold: \(reason)"
        }
    }
}
