/// Prices that apps pay by their own days, as far as somebody asked for them: they stay the same
/// for a day, however often a search comes by.
struct PriceCache: Sendable {
    private struct Known {
        /// Not a number, which is like no other: nobody asked.
        var left = Double.nan
        var price = 0.0
    }

    /// By app and half-hour of the day.
    private var known: [Known] = []

    /// The days that they go by are others, or their apps are.
    mutating func removeAll() { known.removeAll(keepingCapacity: true) }

    /// `count`: of all apps.
    mutating func price(
        of app: Int,
        after slot: Int,
        left: Double,
        count: Int,
        _ gains: @autoclosure () -> GainHistory
    ) -> Double {
        let slots = count * GainHistory.slotCount
        if known.count < slots {
            known.append(contentsOf: repeatElement(Known(), count: slots - known.count))
        }
        let index = app * GainHistory.slotCount + slot
        if known[index].left != left {
            known[index] = Known(left: left, price: gains().price(after: slot, left: left))
        }
        assert(known[index].price == gains().price(after: slot, left: left))
        return known[index].price
    }
}
