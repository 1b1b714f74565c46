#pragma once

/// From now on the kernel answers clone3 with `error`, to this process and all that it starts, as
/// containers do that let through only the calls that they know. 0, or -1 with errno.
int call_filter_refuse_clone3(int error);
