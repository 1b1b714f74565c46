extension ManifestParserTests {
    /// The value of one key, the modes it may use, and the line that is printed for it.
    static let wrong: [(String, String)] = [
        (
            "RefreshInterval=soon",
            "RefreshInterval: \"soon\" is not a time. Write a number and a unit, such as 90s, "
                + "15min, 2h or 1d."
        ),
        (
            "RefreshInterval=15m # often",
            "RefreshInterval: \"15m # often\" is not a time. A comment needs a line of its own."
        ),
        (
            "RefreshInterval=often # often",
            "RefreshInterval: \"often # often\" is not a time. Write a number and a unit, "
                + "such as 90s, 15min, 2h or 1d. A comment needs a line of its own."
        ),
        (
            "ProcessingNeeds=power; # always",
            "ProcessingNeeds: \"power; # always\" is not a condition. A comment needs a line of "
                + "its own."
        ),
        (
            "WhenInterrupted=freeze\t# not kill",
            "WhenInterrupted: \"freeze\\t# not kill\" is neither terminate nor freeze. A comment "
                + "needs a line of its own."
        ),
        (
            "NeedsNetwork=true # yes",
            "NeedsNetwork: \"true # yes\" is neither true nor false. A comment needs a line of its "
                + "own."
        ),
        (
            "MemoryLimit=100M # or so",
            "MemoryLimit: \"100M # or so\" is not a size. A comment needs a line of its own."
        ),
        (
            "NoDataExit=3;# none",
            "NoDataExit: \"3;# none\" is not an exit status. A comment needs a line of its own."
        ),
        (
            "RefreshCommand=fetch \"a # b\" # news",
            "RefreshCommand: \"fetch \\\"a # b\\\" # news\" has # outside double quotes, and no "
                + "shell reads it. A comment needs a line of its own."
        ),
        (
            "RefreshInterval=15",
            "RefreshInterval: \"15\" has no unit. Say 15s, 15min, 15h or 15d."
        ),
        (
            "RefreshInterval=0",
            "RefreshInterval: \"0\" is not a time greater than zero. Write more than 0."
        ),
        (
            "ProcessingNeeds=power,network",
            "ProcessingNeeds: \"power,network\" has a comma, which separates nothing. "
                + "Separate with ; as in power;network."
        ),
        (
            "NoDataExit=3,4;",
            "NoDataExit: \"3,4\" has a comma, which separates nothing. "
                + "Separate with ; as in 3;4."
        ),
        (
            "PermittedTaskIdentifiers=a b;",
            "PermittedTaskIdentifiers: \"a b\" is not a task identifier. Write a name without "
                + "spaces, of 255 bytes at most; a * may end it."
        ),
        (
            "PermittedTaskIdentifiers=a;;b",
            "PermittedTaskIdentifiers: \"a;;b\" has an empty element. Remove one ; of two."
        ),
        (
            "Extensions=helper;",
            "Extensions: \"helper\" is not an absolute path. Begin it with / or ~/."
        ),
        (
            "RefreshCommand=restic --password-file=~/secret",
            "RefreshCommand: \"restic --password-file=~/secret\" has ~ within an argument, where "
                + "it is not the home directory. Write the option and its path as two words, or "
                + "the whole path."
        ),
        ("Environment=PATH;", "Environment: \"PATH\" is not NAME=value. Write NAME=value;"),
        ("Environment=A=1;A=2;", "Environment: \"A=2\" sets a variable again. Remove one."),
        (
            "Environment=A=1;OFFSTAGE_APP=other;",
            "Environment: \"OFFSTAGE_APP=other\" names a variable that Offstage sets itself. "
                + "Choose a name that does not begin with OFFSTAGE_."
        ),
        (
            "PassEnvironment=TZ;OFFSTAGE_*;",
            "PassEnvironment: \"OFFSTAGE_*\" names a variable that Offstage sets itself. Choose a "
                + "name that does not begin with OFFSTAGE_."
        ),
        (
            "PassEnvironment=A=1;",
            "PassEnvironment: \"A=1\" is not the name of a variable. Write names such as TZ or "
                + "QT_*, without values."
        ),
        (
            "RefreshCommand=fetch | grep new",
            "RefreshCommand: \"fetch | grep new\" has | outside double quotes, and no shell reads "
                + "it. Put the argument in double quotes, or use sh -c \"…\"."
        ),
        (
            "RefreshCommand=date +%Y",
            "RefreshCommand: \"%Y\" has a % code, but such a command is given nothing. "
                + "Write %% for "
                + "a percent sign."
        ),
        ("RefreshCommand=", "RefreshCommand: \"\" is empty. Name a program."),
        (
            "RefreshCommand=bin/fetch",
            "RefreshCommand: \"bin/fetch\" is neither a name in PATH nor an absolute path. Begin "
                + "the path with / or ~/."
        ),
        (
            "RefreshCommand=say \"hello",
            "RefreshCommand: \"say \\\"hello\" has a quote that is not closed. Close it."
        ),
        (
            "ProcessingNeeds=powr;",
            "ProcessingNeeds: \"powr\" is not a condition. Did you mean power?"
        ),
        (
            "WhenInterrupted=kill",
            "WhenInterrupted: \"kill\" is neither terminate nor freeze. Write terminate or freeze."
        ),
        (
            "NewDataFrom=~/feeds/cache",
            "NewDataFrom: \"~/feeds/cache\" does not say how new data is seen. Write exit, "
                + "file:PATH or command:PROGRAM…."
        ),
        (
            "NewDataFrom=file:cache",
            "NewDataFrom: \"cache\" is not an absolute path. Begin it with / or ~/."
        ),
        (
            "FailedFrom=exit",
            "FailedFrom: \"exit\" does not say how failure is seen. Write command: and a program "
                + "that fails when the run did."
        ),
        (
            "UseFrom=command:x",
            "UseFrom: \"command:x\" does not say how use is seen. Write exec:PATH or file:PATH."
        ),
        (
            "NoDataExit=300;",
            "NoDataExit: \"300\" is not an exit status. Write numbers from 0 to 255, such as 75;"
        ),
        ("RetryExit=0;", "RetryExit: \"0;\" has 0, which means success. Leave 0 out."),
        (
            "NoDataExit=75;",
            "NoDataExit: \"75;\" has 75, which also means retry. List it in one of NoDataExit and "
                + "RetryExit; an empty RetryExit= takes 75 out."
        ),
        (
            "NeedsNetwork=yes",
            "NeedsNetwork: \"yes\" is neither true nor false. Write true or false."
        ),
        (
            "MemoryLimit=200",
            "MemoryLimit: \"200\" has no room for a program. Write at least 1M, such as 200M."
        ),
        (
            "MemoryLimit=lots",
            "MemoryLimit: \"lots\" is not a size. Write a number of bytes, or one with K, M or G, "
                + "such as 200M."
        ),
        (
            "WakeOn-watch=member='X'",
            "WakeOn-watch: needs the mode watch. Add watch; to BackgroundModes, or remove this key."
        ),
        (
            "WakeOn-health=everything",
            "WakeOn-health: \"everything\" is not a D-Bus match rule. Write terms such as "
                + "interface='org.bluez.Device1',member='Changed'."
        ),
        (
            "WakeOn-health=type='signal'",
            "WakeOn-health: \"type='signal'\" matches every signal. Name an interface, a member, a "
                + "path or a sender."
        ),
        (
            "WakeOn-health=interfaces='a.b'",
            "WakeOn-health: \"interfaces='a.b'\" has \"interfaces\", which no match rule has. Did "
                + "you mean interface?"
        ),
        (
            "WakeOn-health=type='error',member='X'",
            "WakeOn-health: \"type='error',member='X'\" does not match signals. Write "
                + "type='signal'."
        ),
        (
            "WakeOn-health=member='X',member='Y'",
            "WakeOn-health: \"member='X',member='Y'\" has member twice. Remove one."
        ),
        (
            "RefreshInterval=1\\h",
            "RefreshInterval: \"1\\\\h\" has a \\ that is not an escape. Write \\\\ for a "
                + "backslash; in "
                + "quotes of a command, \\\\\\\\."
        ),
        ("UseFrom=file:/a\0b", "UseFrom: \"file:/a\\u{0}b\" contains a zero byte. Remove it."),
        (
            "just a note",
            "\"just a note\" is neither KEY=VALUE nor a [group]. Write a # before a "
                + "comment, at the "
                + "start of its line."
        ),
        (
            "Refresh Command=x",
            "\"Refresh Command\" is not the name of a key. Names of keys have letters, digits and "
                + "- only."
        ),
        (
            "BackgroundModes=fetch;",
            "BackgroundModes: is here for the second time, after line 6. Remove one of the two."
        ),
    ]
}
