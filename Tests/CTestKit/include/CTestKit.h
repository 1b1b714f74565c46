#pragma once

#include <stddef.h>

/// Each returns -1, with errno, when it failed.

/// The calling thread, and no other of this process, acts as a user from now on.
int testkit_become(unsigned user);

/// A socket at the path that takes datagrams.
int testkit_datagram_socket(const char *path);

/// The master of a new pseudo-terminal; the path of its other side is copied out.
int testkit_pseudo_terminal(unsigned short rows, unsigned short columns, char *path, size_t size);

/// Tries what a sandbox is to deny, or must not: 0, or the errno of the refusal; -1: there is no
/// such attempt. `path`: what to try it on, where it is about files.
int testkit_attempt(const char *name, const char *path);
