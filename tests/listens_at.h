/* listens_at.h - a test program that includes it knows at which address it listened last. */
#ifndef LISTENS_AT_H
#define LISTENS_AT_H
#include <arpa/inet.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

static char listens_at[64];
int listen(int s, int backlog)
{
    struct sockaddr_storage at;
    socklen_t size = sizeof at;
    const void *four = &((struct sockaddr_in*)&at)->sin_addr, *six = &((struct sockaddr_in6*)&at)->sin6_addr;
    if (getsockname(s, (struct sockaddr*)&at, &size) == 0)
        inet_ntop(at.ss_family, at.ss_family == AF_INET ? four : six, listens_at, sizeof listens_at);
    return (int)syscall(SYS_listen, s, backlog);
}
#endif
