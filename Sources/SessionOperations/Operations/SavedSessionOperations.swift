import SessionStore
import SessionWire

extension DatabaseOperation where Document == NoDocument, Output == SavedSessionList {
    package static var listSnapshots: Self {
        Self(.listSnapshots) { input, context in
            SavedSessionList(
                snapshots: try context.jar(named: input.jar).savedSessions().map(SavedSessionReport.init))
        }
    }
}

extension DatabaseOperation where Document == SavedSessionDocument, Output == SessionSaveReport {
    package static var saveSnapshot: Self {
        Self(.saveSnapshot) { input, context in
            let save = try context.jar(named: input.jar).saveSession(named: input.document.name, now: context.now)
            context.isCreation = save.previous == nil
            return SessionSaveReport(jar: input.jar, save)
        }
    }
}

extension DatabaseOperation where Document == NoDocument, Output == SessionRestorationReport {
    package static var restoreSnapshot: Self {
        Self(.restoreSnapshot) { input, context in
            SessionRestorationReport(
                jar: input.jar,
                try context.jar(named: input.jar).restoreSession(named: input.name, now: context.now))
        }
    }
}

extension DatabaseOperation where Document == NoDocument, Output == SavedSessionReport {
    package static var removeSnapshot: Self {
        Self(.removeSnapshot) { input, context in
            SavedSessionReport(try context.jar(named: input.jar).removeSavedSession(named: input.name))
        }
    }
}

extension DatabaseOperation where Document == NoDocument, Output == SessionEndReport {
    package static var endSession: Self {
        Self(.endSession) { input, context in
            let end = try context.jar(named: input.jar).endSession(now: context.now)
            return SessionEndReport(jar: input.jar, removed: end.removed, kept: end.kept)
        }
    }
}
