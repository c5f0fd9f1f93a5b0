#include "channel.h"

#include <cerrno>
#include <cstdlib>
#include <mutex>

#include "descriptor.h"

namespace opassert {

Host host{};

namespace channel {

Lost* lost = nullptr;
std::string &about = *new std::string, &settings = *new std::string;  // not destroyed at exit

namespace {

std::mutex mutex;
Descriptor connection;
bool inherited = false;  // the connection is a parent's: its descriptor is reused, as the program may have no other
pid_t pid = getpid();
bool gone = false;

bool put(uint32_t kind, const std::string& text) {
  const uint32_t head[2] = {kind, static_cast<uint32_t>(text.size())};
  return host.put(connection.fd, reinterpret_cast<const char*>(head), sizeof head) && host.put(connection.fd, text.data(), text.size());
}

bool get(std::string& reply) {
  uint32_t head[2];
  int unused;
  if (!host.get(connection.fd, reinterpret_cast<char*>(head), sizeof head, &unused)) return false;
  reply.resize(head[1]);
  return host.get(connection.fd, &reply[0], reply.size(), &unused);
}

// greet sends the process's data; opassert answers with the settings.
bool greet() {
  const char* rank = nullptr;
  for (const char* name : {"RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID", "LOCAL_RANK"}) {
    if (rank == nullptr) rank = getenv(name);
  }
  return put(FRAME_HELLO, std::to_string(getpid()) + "\n" + std::to_string(getppid()) + "\n" + (rank ? rank : "") + "\n" + about) && get(settings);
}

bool open() {
  if (connection.mine() && !inherited) return true;
  connection.close();
  inherited = false;
  const int fd = host.dial();
  if (fd < 0) return false;
  connection.set(host.high(fd));
  return greet();
}

bool give_up() {
  const int why = errno;
  connection.close();
  gone = true;
  if (lost != nullptr) lost->add(why);
  return false;
}

}  // namespace

bool connect_now() {
  if (pid != getpid()) forked();  // by a system call, and not by libc
  std::lock_guard<std::mutex> lock(mutex);
  return !gone && (open() || give_up());
}

bool ask(uint32_t kind, const std::string& request, std::string& reply) {
  if (pid != getpid()) forked();
  std::lock_guard<std::mutex> lock(mutex);
  return !gone && ((open() && put(kind, request) && get(reply)) || give_up());
}

bool send(uint32_t kind, const std::string& text) {
  std::string none;
  return ask(kind, text, none);
}

void forked() {
  new (&mutex) std::mutex;
  pid = getpid();
  inherited = true;
}

void close() { gone = true; }

}  // namespace channel

void not_watched(const std::string& why) {
  if (!channel::send(FRAME_NOT_WATCHED, why)) host.tell(why.c_str());
}

}  // namespace opassert
