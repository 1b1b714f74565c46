// swift-format-ignore-file
// BGTaskScheduler in a comment, #selector too
/* UIApplication /* nested: @objc */ import UIKit */
let plain = "BGTaskScheduler \(count + 1) UIApplication \\(UIApplication.shared) \"#selector\""
let raw = #"UIApplication " \(UIApplication.shared) \n"#
let rawCode = #"UIApplication \#(UIApplication.shared.description) UIScene"#
// expect^: UIApplication
let nested = "a \(map["UIScene \(UIDevice.current.name) UIWindowScene"]) UISceneSession"
// expect^: UIDevice
let lines = """
    import UIKit
    #if os(iOS)
    "UIApplication" \"""
    \(UIResponder())
    @objc
    """
// expect-3: UIResponder
let rawLines = ##"""
    UIApplication "# """# \#(UIScene()) \##(UIWindowScene())
    """##
// expect-2: UIWindowScene
let regex = /UIApplication|"#selector/
let half = total / 2 + UIDevice.count / 4  // expect: UIDevice
let optional = total! / UIDevice.count / 2  // expect: UIDevice
let slashes = #/UIApplication/"UIScene"/#
let manyLines = #/
    UIApplication  # a comment, with a "
    @objc
    /#
let call = names.firstMatch(of: /^UIScene(?=\))/)
let `class` = 1
let quoted = `UIScene`.self  // expect: UIScene
let character = "\u{1F600}UIScene"
let unclosed = reduce(0, /)
let 名前 = "UIScene"
let emptyText = ""
let emptyLines = """
    """
let quote = "\""
let path = member.import
let last = UIScene.self  // expect: UIScene
let oneQuote = #"""#
let twoQuotes = ##"""#" UIApplication"##
let shown = UIScene.self  // expect: UIScene
let twice = half! / UIDevice.count; let more = half!/UIDevice.count/2  // expect: UIDevice
let inside = range.in/UIScene.count/2  // expect: UIScene
let spaced = pair(1 , /UIScene /UIDevice.count)  // expect: UIScene | UIDevice
