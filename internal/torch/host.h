// A process that has libtorch for a worker: it is forked by the user's Python.
struct server {
  int calls;  // the socket of the worker's calls
  int stack;  // where it writes its stack if it crashes
  int pid;
};

// start_host starts a Python and waits until it has imported the modules.
void start_host(const char *python);

// ask_server has the host fork a server, for the next worker.
struct server ask_server(void);

// leave_server closes in a worker the files that the zygote alone needs.
void leave_server(struct server s);

// server_ended waits until a worker or its server ends, and reports whether it was the
// server: a worker that nothing is asked of does not notice. Where the system can't say, it is 0.
int server_ended(int worker);

// end_server waits until the server of a worker that ended has ended too, and
// returns its status. Where the worker asks how its server ended, the frames of
// the server's stack go to the replies.
int end_server(struct server s, int asked);
