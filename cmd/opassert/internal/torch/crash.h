// watch_crashes makes this process write its C stack to the replies when a kernel
// crashes. The calling thread is the one that calls kernels.
void watch_crashes(void);
