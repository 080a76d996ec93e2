extension JobSnapshot {
    /// The notifications that are to be sent, the earliest first.
    package var openNotifications: [NotificationRecord] {
        notifications.values.filter(\.isOpen).sorted { ($0.due, $0.id) < ($1.due, $1.id) }
    }

    /// The time when the next of those that have happened is to be sent, or tried again; nil when none is left.
    package var nextTelling: Timestamp? { openNotifications.first { $0.state == .due || ended != nil }?.due }
}
