// The declarations that the processes of a worker share: the guard, the zygote and the worker.

// The numbers of their files: see asserts/suite/connection.go.
enum {
  REQUESTS = 0,
  REPLIES = 3,
  KEY = 4
};

// worker_key begins every line that is not a kernel's.
extern char worker_key[64];

// take_key reads the key, once for a process and all that it forks.
void take_key(void);

// refuse reports to the run why there is no worker, and ends this process.
void refuse(const char *why);

// hand_key puts the key where a worker reads it.
void hand_key(void);

// guard forks, and returns in the child. The parent ends with it, and ends
// whatever it has started.
void guard(void);

// end_with ends this process when its parent ends, which it names.
void end_with(int parent);

// end_started ends what this process and its children have started.
void end_started(void);

// wait_for waits for a child and returns its status, or -1.
int wait_for(int child);

// report_end reports to the run how a worker has ended.
void report_end(int status);
