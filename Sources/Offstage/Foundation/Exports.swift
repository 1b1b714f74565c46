// A file that imports Offstage needs no other import, as one that imports UIKit.
@_exported public import Foundation
