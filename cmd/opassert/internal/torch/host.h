// A server has libtorch for a worker: the user's Python forks it.
struct server {
  int calls;  // the socket of the worker's calls
  int stack;  // for its stack if it crashes
  int pid;
};

// start_host starts a Python and waits until it has imported the modules.
void start_host(const char *python);

// added_ops returns the host's lines about the ops that modules added, without "op".
const char *added_ops(void);

// ask_server asks the host for a server, for the next worker.
struct server ask_server(void);

// leave_server closes, in a worker, the files that only the zygote needs.
void leave_server(struct server s);

// server_ended waits until a worker or its server ends, and reports whether it was
// the server, as an idle worker does not notice. It is 0 if the system can't tell.
int server_ended(int worker);

// end_server waits for the end of an ended worker's server, and returns its status. If the worker asks how its server
// ended, the frames of the server's stack go to the replies.
int end_server(struct server s, int asked);
