#include "entry.h"
#include "memory.h"

#include <c10/core/CPUAllocator.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <unordered_map>

#include "observe.h"
#include "stack.h"

namespace opassert {
namespace {

constexpr size_t kPage = 4096;
constexpr size_t kGuard = 16 * kPage;      // what can't be touched, between two blocks
constexpr size_t kStride = kGuard + kPage;  // of blocks of one page
constexpr int kSlots = 2048;               // of these
constexpr int kLarge = 128;                // larger ones, as many mappings
constexpr size_t kLargest = 8 << 20;      // what is larger is c10's
constexpr size_t kClosed = 64 << 20;       // bytes of larger ones that are freed and stay closed
constexpr int kMostOpened = 64;            // pages, in a call
constexpr int kMostTouches = 8;            // that are noted of a call
constexpr unsigned char kCanary = 0xC7;
constexpr size_t kAlignment = 64;

// A Block is the memory of a tensor that lives, or of one that was freed.
struct Block {
  char* data = nullptr;
  size_t nbytes = 0;
  char* pages = nullptr;  // where its own pages begin
  size_t size = 0;        // of these
  bool live = false, locked = false;
  bool writable = false;    // by the call, as an argument
  int64_t freed = -kSlots;  // how many slots had been taken when it was freed
  oa_owner owner = OA_TEMPORARY;
  int64_t index = 0;
  int at = -1;  // among the live ones

  char* end() const { return pages + size; }
};

// A Touch is a range of bytes that a kernel touched and may not touch.
struct Touch {
  oa_touch how;
  bool write, read;
  const Block* block;
  char* data;
  int64_t nbytes, first, last;
  oa_owner owner;
  int64_t index;
  void* frames[OA_DEPTH];
  int depth;
};

struct {
  struct sigaction fault;            // what handled faults before
  bool ahead = false;                // memory begins where a page does; else it ends there
  bool aligned = false;              // the memory of arguments is, as that of c10's allocator
  bool reuse = false;                // a block is the first that is free, also one that was freed just now
  unsigned char fill = 0;
  size_t alignment = kAlignment;
  volatile bool watching = false;

  std::mutex lock;
  char* arena = nullptr;
  Block slots[kSlots], large[kLarge];
  int next = 0;                         // slot to look at first
  int64_t taken = 0;                    // slots so far
  int open_from = kSlots, open_to = 0;  // the slots that may be free and not closed
  std::vector<int> closed;              // large blocks, in the order in which they were freed
  std::vector<Block*> live;

  Touch touches[kMostTouches];
  std::atomic<int> touched{0}, opened{0};
  std::atomic<int64_t> unwatched{0};  // blocks that were left to c10's own allocator
  char* open[kMostOpened];
} memory;

size_t pages_of(size_t nbytes) { return (nbytes + kPage - 1) / kPage * kPage; }

// nearest returns the block of an address, or the closest one, preferring live blocks between two.
Block* nearest(char* address) {
  if (address >= memory.arena && address < memory.arena + kSlots * kStride + kGuard) {
    const size_t at = address - memory.arena, i = at / kStride;
    if (at % kStride >= kGuard) return &memory.slots[i];
    Block* next = i < kSlots ? &memory.slots[i] : nullptr;
    Block* last = i > 0 ? &memory.slots[i - 1] : nullptr;
    if (next == nullptr || !next->live) return last != nullptr && last->live ? last : next;
    if (last == nullptr || !last->live) return next;
    return address - (last->data + last->nbytes) <= next->data - address ? last : next;
  }
  for (Block& b : memory.large) {
    if (b.pages != nullptr && address >= b.pages - kGuard && address < b.end() + kGuard) return &b;
  }
  return nullptr;
}

// note adds the bytes to the touch of their block, and returns the touch if it is new.
Touch* note(oa_touch how, const Block* b, bool write, bool read, int64_t first, int64_t last) {
  const int n = std::min(memory.touched.load(), kMostTouches);
  for (int i = 0; i < n; i++) {
    Touch& t = memory.touches[i];
    if (t.block != b || t.how != how || t.data != b->data) continue;
    t.first = std::min(t.first, first);
    t.last = std::max(t.last, last);
    t.write |= write;
    t.read |= read;
    return nullptr;
  }
  const int i = memory.touched++;
  if (i >= kMostTouches) return nullptr;
  Touch& t = memory.touches[i];
  t.how = how, t.write = write, t.read = read, t.block = b, t.data = b->data, t.nbytes = b->nbytes;
  t.first = first, t.last = last, t.owner = b->owner, t.index = b->index, t.depth = 0;
  return &t;
}

// wrote reports whether a fault is that of a write, or -1 if the processor's state does not tell.
int wrote(void* context) {
#if defined(__x86_64__)
  return (static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_ERR] & 2) != 0;
#else
  (void)context;
  return -1;
#endif
}

// opened opens the pages of a block if an address is in one of them, else its page, and reports whether it may.
bool opened(Block* b, char* address) {
  char* page = reinterpret_cast<char*>(reinterpret_cast<uintptr_t>(address) / kPage * kPage);
  const bool own = page >= b->pages && page < b->end();
  if (!own || !b->live) {
    const int i = memory.opened++;
    if (i >= kMostOpened) return false;
    memory.open[i] = page;
  }
  if (own) b->locked = false;
  return mprotect(own ? b->pages : page, own ? b->size : kPage, PROT_READ | PROT_WRITE) == 0;
}

void faulted(int sig, siginfo_t* info, void* context) {
  char* address = static_cast<char*>(info->si_addr);
  Block* b = info->si_code == SEGV_ACCERR ? nearest(address) : nullptr;
  if (b != nullptr && opened(b, address)) {
    if (!memory.watching) return;
    const int write = wrote(context);
    const int64_t at = address - b->data;
    const bool inside = at >= 0 && at < static_cast<int64_t>(b->nbytes);
    const oa_touch how = !b->live ? OA_FREED : inside ? OA_READ_ONLY
                                                      : OA_OUTSIDE;
    if (how == OA_READ_ONLY && write == 0) return;  // another thread opened it
    Touch* t = note(how, b, write != 0, write != 1, at, at);
    if (t == nullptr) return;
    void* frames[OA_DEPTH];
    t->frames[0] = oa_program_counter(context);
    t->depth = 1 + std::min(oa_stack(frames, t->frames[0]), OA_DEPTH - 1);
    memcpy(t->frames + 1, frames, (t->depth - 1) * sizeof *frames);
    return;
  }
  if (memory.fault.sa_flags & SA_SIGINFO) return memory.fault.sa_sigaction(sig, info, context);
  if (memory.fault.sa_handler == SIG_DFL) signal(sig, SIG_DFL);
  else if (memory.fault.sa_handler != SIG_IGN) memory.fault.sa_handler(sig);
}

// looked records where a block's pattern was changed, and restores it.
void looked(Block* b, bool noted) {
  static const std::string pattern(kPage, static_cast<char>(kCanary));
  int64_t first = 0, last = 0;
  bool changed = false;
  auto look = [&](char* from, char* to) {
    if (memcmp(from, pattern.data(), to - from) == 0) return;
    for (char* p = from; p < to; p++) {
      if (static_cast<unsigned char>(*p) == kCanary) continue;
      if (!changed) first = p - b->data;
      changed = true;
      last = p - b->data;
      *p = static_cast<char>(kCanary);
    }
  };
  look(b->pages, b->data);
  look(b->data + b->nbytes, b->end());
  if (changed && noted) note(OA_OUTSIDE, b, true, false, first, last);
}

void lay_out(Block* b, size_t nbytes) {
  size_t room = b->size - nbytes;
  b->nbytes = nbytes;
  b->data = b->pages + (memory.ahead ? 0 : room / memory.alignment * memory.alignment);
  b->owner = OA_TEMPORARY;
  b->live = true, b->locked = false;
  b->at = memory.live.size();
  memory.live.push_back(b);
  memset(b->pages, kCanary, b->data - b->pages);
  memset(b->data, memory.fill, nbytes);
  memset(b->data + nbytes, kCanary, b->end() - b->data - nbytes);
}

// drop_large frees the memory of a large block that was freed.
void drop_large(Block* b) {
  munmap(b->pages - kGuard, b->size + 2 * kGuard);
  *b = Block();
}

size_t closed_bytes() {
  size_t n = 0;
  for (int i : memory.closed) n += memory.large[i].size;
  return n;
}

// take_closed returns a block of a size out of the earlier half of those that were freed, or the
// first, after freeing its memory; a recently freed block stays closed.
Block* take_closed(size_t size) {
  auto& closed = memory.closed;
  const auto half = closed.begin() + (closed.size() + 1) / 2;
  const auto fits = std::find_if(closed.begin(), half, [size](int i) { return memory.large[i].size == size; });
  Block* b = &memory.large[fits == half ? closed.front() : *fits];
  closed.erase(fits == half ? closed.begin() : fits);
  if (fits != half) return b;
  drop_large(b);
  return nullptr;
}

Block* map_large(size_t size) {
  auto* b = std::find_if(memory.large, memory.large + kLarge, [](const Block& b) { return b.pages == nullptr; });
  if (b == memory.large + kLarge) return nullptr;
  void* map = mmap(nullptr, size + 2 * kGuard, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (map == MAP_FAILED) return nullptr;
  b->pages = static_cast<char*>(map) + kGuard;
  b->size = size;
  return b;
}

Block* take_large(size_t nbytes) {
  const size_t size = pages_of(nbytes);
  if (nbytes > kLargest) return nullptr;
  Block* b = nullptr;
  while (b == nullptr && !memory.closed.empty() && (closed_bytes() + size > kClosed || memory.closed.size() > kLarge / 2)) b = take_closed(size);
  if (b == nullptr) b = map_large(size);
  if (b != nullptr) mprotect(b->pages, size, PROT_READ | PROT_WRITE);
  return b;
}

// close_freed closes the slots that were freed outside of a call, neighbours together, since each
// change of pages takes as long as a small kernel.
void close_freed() {
  for (int i = memory.open_from; i < memory.open_to; i++) {
    const int first = i;
    while (i < memory.open_to && !memory.slots[i].live) i++;
    if (i > first) mprotect(memory.slots[first].pages, memory.slots[i - 1].end() - memory.slots[first].pages, PROT_NONE);
  }
  memory.open_from = kSlots, memory.open_to = 0;
}

Block* take_free(Block* b) {
  memory.taken++;
  // A mapping of its own, that is never merged with its neighbours' and split again.
  if (b->freed < 0) madvise(b->pages, b->size, MADV_DONTDUMP);
  mprotect(b->pages, b->size, PROT_READ | PROT_WRITE);
  return b;
}

// take_slot takes the next slot that was not freed recently, if there is one.
Block* take_slot() {
  Block* const end = memory.slots + kSlots;
  Block* const first = memory.reuse ? std::find_if(memory.slots, end, [](const Block& b) { return !b.live; }) : end;
  if (first != end) return take_free(first);
  for (const int rest : {kSlots / 2, 0}) {
    for (int looks = 0; looks < kSlots; looks++) {
      Block* b = &memory.slots[memory.next];
      memory.next = (memory.next + 1) % kSlots;
      if (b->live || memory.taken - b->freed < rest) continue;
      return take_free(b);
    }
  }
  return nullptr;
}

Block* take(size_t nbytes) { return nbytes > kPage ? take_large(nbytes) : take_slot(); }

void close(Block* b) {
  looked(b, memory.watching);
  memory.live[b->at] = memory.live.back();
  memory.live[b->at]->at = b->at;
  memory.live.pop_back();
  b->live = false;
  const bool slot = b->size == kPage;
  if (!slot || memory.watching) mprotect(b->pages, b->size, PROT_NONE);
  if (slot) {
    const int i = b - memory.slots;
    b->freed = memory.taken;
    if (!memory.watching) memory.open_from = std::min(memory.open_from, i), memory.open_to = std::max(memory.open_to, i + 1);
    return;
  }
  memory.closed.push_back(b - memory.large);
}

void deallocate(void* data) {
  if (data == nullptr) return;
  Block* b = nearest(static_cast<char*>(data));
  if (b == nullptr) return own_allocator->raw_deleter()(data);
  std::lock_guard<std::mutex> lock(memory.lock);
  if (b->live && b->data == data) close(b);
}

// A Guarded is an allocator whose blocks lie between pages without access. c10 allocates what does
// not fit there. oneDNN requires that the context is the data.
struct Guarded final : c10::Allocator {
  // Which of the two is the one of the base differs by version.
  c10::DataPtr allocate(size_t nbytes) { return static_cast<const Guarded*>(this)->allocate(nbytes); }
  c10::DataPtr allocate(size_t nbytes) const {
    void* data = nullptr;
    if (nbytes > 0) {
      std::lock_guard<std::mutex> lock(memory.lock);
      if (Block* b = take(nbytes)) {
        lay_out(b, nbytes);
        data = b->data;
      }
    }
    if (nbytes > 0 && data == nullptr) {
      memory.unwatched++;
      data = own_allocator->raw_allocate(nbytes);
    }
    return {data, data, &deallocate, c10::Device(c10::DeviceType::CPU)};
  }
  c10::DeleterFnPtr raw_deleter() const override { return &deallocate; }
  void copy_data(void* to, const void* from, std::size_t n) const { memcpy(to, from, n); }
};

// begin allocates tensors in watched memory from now on.
void begin() {
  if (sysconf(_SC_PAGESIZE) != kPage) throw Refusal("memory is watched by pages of " + std::to_string(kPage) + " bytes, and this machine's are larger: -guard=false");
  const size_t size = kSlots * kStride + kGuard;
  void* arena = mmap(nullptr, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (arena == MAP_FAILED) throw Refusal("cannot reserve address space for watched memory");
  memory.arena = static_cast<char*>(arena);
  for (int i = 0; i < kSlots; i++) {
    memory.slots[i].pages = memory.arena + i * kStride + kGuard;
    memory.slots[i].size = kPage;
  }
  memory.live.reserve(kSlots + kLarge);
  memory.closed.reserve(kLarge);
  void* frame;
  backtrace(&frame, 1);  // which loads the libraries that it needs
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_sigaction = faulted;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  sigaction(SIGSEGV, &action, &memory.fault);
  static Guarded guarded;
  own_allocator = c10::GetAllocator(c10::DeviceType::CPU);
  c10::SetAllocator(c10::DeviceType::CPU, &guarded, UINT8_MAX);
}

// shut protects the pages again that were opened in a call.
void shut() {
  const int n = std::min(memory.opened.load(), kMostOpened);
  for (int i = 0; i < n; i++) {
    char* page = memory.open[i];
    const Block* b = nearest(page);
    const bool own = b != nullptr && page >= b->pages && page < b->end();
    if (own && b->live) continue;
    if (own) {
      mprotect(b->pages, b->size, PROT_NONE);
      continue;
    }
    madvise(page, kPage, MADV_DONTNEED);
    mprotect(page, kPage, PROT_NONE);
  }
  memory.opened = 0;
}

// frame_line returns the line for a frame, which is looked up once: in the symbols of libtorch that
// takes longer than most calls.
const std::string& frame_line(void* frame) {
  static std::unordered_map<void*, std::string> lines;
  const auto [at, added] = lines.try_emplace(frame);
  char line[OA_LINE];
  if (added && oa_frame_line(line, "", frame) > 0) at->second = line;
  return at->second;
}

template <class F>
void each_tensor(const c10::IValue& v, const F& f) {
  if (v.isTensor() && v.toTensor().defined()) f(v.toTensor());
  if (v.isList()) {
    for (const c10::IValue& item : v.toListRef()) each_tensor(item, f);
  }
}

Block* block_of(const at::Tensor& t) {
  const c10::StorageImpl* storage = storage_of(t.unsafeGetTensorImpl());
  char* data = storage == nullptr ? nullptr : static_cast<char*>(const_cast<void*>(bytes_of(storage)));
  Block* b = data == nullptr ? nullptr : nearest(data);
  return b != nullptr && b->live && b->data == data ? b : nullptr;
}

void lock(Block* b) {
  if (!b->locked) mprotect(b->pages, b->size, PROT_READ);
  b->locked = true;
}

// unlock lets a call write what an earlier one read: memory stays locked between the two, as it is
// hardly ever written there.
void unlock(Block* b) {
  if (b->locked) mprotect(b->pages, b->size, PROT_READ | PROT_WRITE);
  b->locked = false;
}

}  // namespace

Aligned::Aligned(size_t bytes) : before_(memory.alignment) {
  if (!memory.aligned && kAlignment % std::max<size_t>(bytes, 1) == 0) memory.alignment = std::max<size_t>(bytes, 1);
}

Aligned::~Aligned() { memory.alignment = before_; }

void Watch::begin(const c10::FunctionSchema& schema, const torch::jit::Stack& arguments) {
  std::lock_guard<std::mutex> guard(memory.lock);
  shut();
  close_freed();
  memory.touched = 0;
  for (Block* b : memory.live) {
    looked(b, false);  // what others broke
    b->owner = OA_EARLIER;
    b->writable = false;
  }
  for (size_t i = 0; i < arguments.size(); i++) {
    const auto* alias = schema.arguments()[i].alias_info();
    const bool written = alias != nullptr && alias->isWrite();
    each_tensor(arguments[i], [&](const at::Tensor& t) {
      Block* b = block_of(t);
      if (b == nullptr) return;
      b->writable = b->writable || written;
      if (b->owner == OA_ARGUMENT) return;
      b->owner = OA_ARGUMENT;
      b->index = i;
    });
  }
  for (Block* b : memory.live) {
    if (b->owner == OA_ARGUMENT && !b->writable) lock(b);
    else unlock(b);
  }
  memory.watching = true;
}

void Watch::note(const torch::jit::Stack& returns) {
  for (size_t i = 0; i < returns.size(); i++) {
    each_tensor(returns[i], [&](const at::Tensor& t) {
      Block* b = block_of(t);
      if (b == nullptr || b->owner != OA_TEMPORARY) return;
      b->owner = OA_RETURN;
      b->index = i;
    });
  }
}

void Watch::end() {
  memory.watching = false;
  std::lock_guard<std::mutex> guard(memory.lock);
  for (Block* b : memory.live) looked(b, true);
  for (int i = 0; i < std::min(memory.touched.load(), kMostTouches); i++) {
    Touch& t = memory.touches[i];
    if (t.owner == OA_TEMPORARY && t.block->live && t.block->data == t.data) t.owner = t.block->owner, t.index = t.block->index;
  }
  shut();
}

}  // namespace opassert

using namespace opassert;

// memory places the tensors of this process between pages without access, after one if the first bit of a number is
// set, else before one, arguments at multiples of their elements' size, or of 64 bytes if its second bit is set, and
// fills them with a byte until they are written; if its third bit is set, each where the first free block is. It
// replies with the illegal accesses of the last observed call, in the format of memory.cpp.
void opassert::entry::memory(const Crossing& in, Reply& out) {
  auto& memory = opassert::memory;
  if (own_allocator == nullptr) begin();
  memory.ahead = (in.first & 1) != 0;
  memory.aligned = (in.first & 2) != 0;
  memory.reuse = (in.first & 4) != 0;
  memory.fill = static_cast<unsigned char>(in.second);
  const int n = std::min(memory.touched.load(), kMostTouches);
  out.word(memory.unwatched.exchange(0));
  out.word(n);
  for (int i = 0; i < n; i++) {
    const Touch& t = memory.touches[i];
    out.word(t.how);
    out.word((t.read ? OA_READS : 0) | (t.write ? OA_WRITES : 0));
    out.word(t.owner);
    out.word(t.index);
    out.word(t.nbytes);
    out.word(t.first);
    out.word(t.last);
    std::string frames;
    for (int j = 0; j < t.depth; j++) frames += frame_line(t.frames[j]);
    out.text(frames);
  }
  memory.touched = 0;
}
