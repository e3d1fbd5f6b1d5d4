internal import Changes

/// The objects of a keyed archive, which `NSKeyedArchiver` writes into a property list.
///
/// An object is identified by its index. Each lookup follows one name only, so cycles do no harm.
struct KeyedArchive {
    private let list: PropertyList
    /// The indices in the list of the archive's objects.
    private let places: [Int]
    /// The greatest number of an object's keys; those of a Core Data model have fewer than 40.
    private static let keysLimit = 256
    /// The names of classes, by the indices of their objects.
    private let classNames: [Int: String]

    /// Reads the objects of an archive.
    ///
    /// - Throws: `FormatBreach`.
    init(_ list: PropertyList) throws(FormatBreach) {
        self.list = list
        guard let objects = list.value(of: "$objects", in: list.top),
            case .array(let places) = list.objects[objects]
        else { throw FormatBreach("it is no keyed archive") }
        self.places = places
        var names: [Int: String] = [:]
        for place in Set(places) {
            guard case .dictionary(let keys, _) = list.objects[place] else { continue }
            // Each lookup compares all keys.
            guard keys.count <= Self.keysLimit else {
                throw FormatBreach("an object has \(keys.count) keys")
            }
            guard let name = list.value(of: "$classname", in: place),
                case .text(let text) = list.objects[name]
            else { continue }
            names[place] = text
        }
        classNames = names
    }

    /// The numbers of all objects.
    var objects: Range<Int> { places.indices }

    /// Returns the name of an object's class; `nil` if it has none, such as a number or a text.
    func className(of object: Int) -> String? {
        guard let number = self.object("$class", of: object) else { return nil }
        return classNames[places[number]]
    }

    /// Returns the object that another object names.
    func object(_ key: String, of object: Int) -> Int? {
        guard places.indices.contains(object), let place = list.value(of: key, in: places[object])
        else { return nil }
        return named(by: place)
    }

    func text(_ key: String, of object: Int) -> String? {
        guard case .text(let text)? = value(key, of: object) else { return nil }
        return text
    }

    func integer(_ key: String, of object: Int) -> Int64? {
        switch value(key, of: object) {
        case .integer(let number): number
        case .boolean(let isTrue): isTrue ? 1 : 0
        default: nil
        }
    }

    /// Returns the elements of a list, or the values of a dictionary.
    func elements(of object: Int) -> [Int] {
        // A dictionary of known keys has its values in another list.
        let holder = self.object("values", of: object) ?? object
        guard places.indices.contains(holder),
            let place = list.value(of: "NS.objects", in: places[holder]),
            case .array(let elements) = list.objects[place]
        else { return [] }
        return elements.compactMap(named)
    }

    /// Returns a value that is stored with its key, or that is named there.
    private func value(_ key: String, of object: Int) -> PropertyList.Object? {
        guard places.indices.contains(object), let place = list.value(of: key, in: places[object])
        else { return nil }
        if let number = named(by: place) { return list.objects[places[number]] }
        return list.objects[place]
    }

    private func named(by place: Int) -> Int? {
        guard case .uid(let number) = list.objects[place], places.indices.contains(number) else {
            return nil
        }
        return number
    }
}

extension PropertyList {
    /// Returns the index of a dictionary's value.
    fileprivate func value(of key: String, in dictionary: Int) -> Int? {
        guard case .dictionary(let keys, let values) = objects[dictionary] else { return nil }
        return keys.firstIndex { objects[$0] == .text(key) }.map { values[$0] }
    }
}
