#pragma once

/// The calling thread, and no other of this process, acts as a user from now on. 0, or -1 with
/// errno.
int thread_user_become(unsigned user);
