func take(_ request: any BGTaskRequest) {}
func show(_ notification: UNNotification) {}  // expect: UNNotification
func pay(_ transaction: CXTransaction) {}
