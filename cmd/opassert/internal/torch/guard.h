// The declarations that the processes of a worker share: the guard, the zygote and the worker.

// The numbers of their files; see asserts/suite/connection.go.
enum {
  REQUESTS = 0,
  REPLIES = 3,
  KEY = 4
};

// worker_key starts every line that a kernel did not write.
extern char worker_key[64];

// take_key reads the key, once for a process and its forks.
void take_key(void);

// refuse reports to the run why the worker could not start, and ends this process.
void refuse(const char *why);

// hand_key puts the key where a worker reads it.
void hand_key(void);

// guard forks, and returns in the child. The parent ends with the child, and ends the processes that it has started.
void guard(void);

// end_with ends this process when the given parent ends.
void end_with(int parent);

// end_started ends the processes that this one and its children have started.
void end_started(void);

// wait_for waits for a child and returns its status, or -1.
int wait_for(int child);

// report_end reports to the run how a worker has ended.
void report_end(int status);
