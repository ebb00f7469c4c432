/// How far a jar has come.
struct JournalEnd {
    /// The position that the next entry of the journal gets.
    var nextPosition: Int64
    /// The next place in the order of creation.
    var nextSequence: Int64
}
