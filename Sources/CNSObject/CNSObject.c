// Every class that derives from NSObject has its own init(), or the inherited one, in its table of
// methods. The runtime finds it there by the method's descriptor: the same call that a subclass in
// a library with a stable interface makes.
#include "CNSObject.h"

// A descriptor of Foundation's, by the name that the linker knows: NSObject's class, and its
// allocating init().
extern const char class_descriptor __asm__("$s10Foundation8NSObjectCMn");
extern const char init_descriptor __asm__("$s10Foundation8NSObjectCACycfCTq");

__attribute__((swiftcall)) const void *swift_lookUpClassMethod(const void *type,
                                                               const void *method,
                                                               const void *described);

typedef __attribute__((swiftcall)) void *Init(__attribute__((swift_context)) const void *type);

void *offstage_make_object(const void *type) {
    Init *init = (Init *)swift_lookUpClassMethod(type, &init_descriptor, &class_descriptor);
    return init(type);
}
