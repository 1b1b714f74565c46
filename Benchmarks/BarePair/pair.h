/* What the two processes say to each other, over a socket that keeps messages apart. */
#pragma once

enum {
    /* The most reports in one message. */
    MOST_REPORTS = 128,
    /* Files that are open ahead of a free connection, as many as the daemon opens at the most. */
    AHEAD = 96,
    LONGEST_URL = 512,
};

/* The file comes with it. */
struct order {
    int index;
    char url[LONGEST_URL];
};

struct report {
    int index;
    long status;
    long bytes;
};

void fail(const char *what);

/* Fetches what is ordered, and ends with the other process. */
void fetch(int socket, int connections, const char *certificate);
