#pragma once

// Makes an object as NSObject's init() does, of a class that is known at run time only. Swift has
// no words for that: `init()` of NSObject is not required. `type`: the metatype of a class that
// derives from NSObject. The object is the caller's to release. A class that has no init() stops
// the program, with Swift's own message.
void *offstage_make_object(const void *type);
