// tap.cpp is compiled for the libtorch that a program loads. It records what
// happens to the Python objects of tensors and storages, in a ring that
// opassert reads. It judges nothing. Of Python it needs nothing but the layout
// of an object and of the beginning of a type: all versions with a global
// interpreter lock share one, and all without it another.
#include <c10/core/StorageImpl.h>
#include <c10/core/TensorImpl.h>
#include <c10/util/intrusive_ptr.h>
#include <torch/csrc/api/include/torch/version.h>
#if __has_include(<c10/core/impl/HermeticPyObjectTLS.h>)
#include <c10/core/impl/HermeticPyObjectTLS.h>
#define HERMETIC c10::impl::HermeticPyObjectTLS::get_state()
#else
#define HERMETIC false
#endif

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstring>
#include <string>
#include <unordered_map>

namespace torch {
namespace utils {
// A friend of an impl, in the second protocol: it reads the count, whose highest
// bit says that the impl has an object to hold a reference to.
class PyObjectPreservation {
 public:
  template <class I>
  static auto marked(I* i, int) -> decltype(i->combined_refcount_.load() >> 63 != 0) { return i->combined_refcount_.load() >> 63 != 0; }
  template <class I>
  static bool marked(I*, long) { return false; }
};
}  // namespace utils
}  // namespace torch

namespace {

// What an event is: see live/event.go.
enum Kind : uint8_t { WRAP = 1, RELEASE, FREED, STAYS, TYPE, FILE_NAME, MADE, REFUSED };
enum Flag : uint8_t { STORAGE = 1, IN_HERMETIC = 2, OWNS = 4, BORROWED = 8, MADE_HERMETIC = 16, MARKED = 32 };

struct Event {
  uint64_t object, impl, slot, tag, data;
  int32_t uses, refs;
  uint32_t thread, type;
  Kind kind;
  uint8_t flags;
  uint16_t line;
  uint32_t file;
};
static_assert(sizeof(Event) == 64, "an event has 64 bytes");

struct Ring {
  std::atomic<uint64_t> head, tail;
  uint32_t pid;
  std::atomic<uint32_t> protocol, closed;
  char torch[32];
  uint32_t asked;  // 1: every line, 2: to stop at what looks wrong
  char pad[4096 - 64];
  Event events[1];
};
constexpr uint64_t SIZE = 1 << 16;

Ring* ring;
int (*memory)();             // a descriptor of this process's ring, or -1
void (*tell)(const char*);   // opassert why the process is not watched
// Locks that a forked child can open: one of the ring, one of the names and types.
std::atomic_flag writing = ATOMIC_FLAG_INIT, naming = ATOMIC_FLAG_INIT;
thread_local uint32_t thread_id;
bool every_line, stops;

// protocols: the first has a tagged pointer with an owner's bit, in the impl or
// in its slot; the second a plain pointer, up to 2.12 with a tag.
template <class I>
auto slot_of(I* i, int) -> decltype(i->pyobj_slot()) { return i->pyobj_slot(); }
template <class I>
I* slot_of(I* i, long) { return i; }

struct Slot { uint64_t object, tag; bool owns; };

template <class S>
auto tag_of(S* s, int) -> decltype(reinterpret_cast<uint64_t>(s->pyobj_interpreter())) { return reinterpret_cast<uint64_t>(s->pyobj_interpreter()); }
template <class S>
uint64_t tag_of(S*, long) { return 0; }

template <class S>
auto read_slot(S* s, int) -> decltype(s->load_pyobj(), Slot()) { return {reinterpret_cast<uint64_t>(s->load_pyobj()), tag_of(s, 0), false}; }
template <class S>
auto read_slot(S* s, long) -> decltype(s->_unchecked_untagged_pyobj(), Slot()) {
  return {reinterpret_cast<uint64_t>(s->_unchecked_untagged_pyobj()), tag_of(s, 0), s->owns_pyobj()};
}
template <class S>
Slot read_slot(S*, ...) { return {}; }  // a storage of 1.13: it has none

template <class S>
auto second(S* s, int) -> decltype(s->load_pyobj(), true) { return true; }
template <class S>
bool second(S*, long) { return false; }
const bool SECOND = second(slot_of(static_cast<c10::TensorImpl*>(nullptr), 0), 0);

template <class S>
auto has_slot(S* s, int) -> decltype(s->pyobj_slot(), true) { return true; }
template <class S>
bool has_slot(S*, long) { return false; }
const bool STORAGES = has_slot(static_cast<c10::StorageImpl*>(nullptr), 0);

struct Impl { Slot slot; uint64_t data; int32_t uses; bool marked; };

template <class I>
Impl look(I* i) {
  return {read_slot(slot_of(i, 0), 0), 0, static_cast<int32_t>(c10::raw::intrusive_ptr::use_count(i)), torch::utils::PyObjectPreservation::marked(i, 0)};
}

Impl look(void* impl, bool storage) {
  if (impl == nullptr) return {};
  if (!storage) return look(static_cast<c10::TensorImpl*>(impl));
  auto* s = static_cast<c10::StorageImpl*>(impl);
  Impl now = look(s);
  if (now.uses > 0) now.data = reinterpret_cast<uint64_t>(s->data());
  return now;
}

// The layout of Python's objects, which begin with their count: one, or without
// a global lock a thread's own and a shared one.
const bool FREE_THREADED = dlsym(RTLD_DEFAULT, "_Py_DecRefShared") != nullptr;
const int HEAD = FREE_THREADED ? 32 : 16;

struct Object;
struct Type;
using Function = void (*)(Object*);
// What follows the head of a type and its size.
struct About {
  const char* name; int64_t basic, item;
  Function dealloc; void* between[14]; uint64_t flags; void* more[10]; Type* base; void* more_yet[5]; Object* (*alloc)(Type*, int64_t); void* make; Function free;
};
static_assert(offsetof(About, dealloc) == 24 && offsetof(About, flags) == 144 && offsetof(About, base) == 232 && offsetof(About, alloc) == 280 && offsetof(About, free) == 296, "");
struct Type {
  About& about() { return *reinterpret_cast<About*>(reinterpret_cast<char*>(this) + HEAD + 8); }
};
struct Object {
  Type* type() { return *reinterpret_cast<Type**>(reinterpret_cast<char*>(this) + HEAD - 8); }
  int32_t refs() {
    char* at = reinterpret_cast<char*>(this);
    if (!FREE_THREADED) return static_cast<int32_t>(*reinterpret_cast<int64_t*>(at));
    return static_cast<int32_t>(*reinterpret_cast<uint32_t*>(at + 12) + (*reinterpret_cast<int64_t*>(at + 16) >> 2));
  }
};

// What an object holds of its impl: a flag whether it is borrowed and the
// pointer, or in the second protocol the pointer alone.
struct Holds { void* impl; bool borrowed, hermetic; };

Holds holds(Object* o, bool storage) {
  void** words = reinterpret_cast<void**>(reinterpret_cast<char*>(o) + HEAD);
  if (SECOND || storage && !STORAGES) return {words[0], false, false};
  bool borrowed = *reinterpret_cast<bool*>(words);
  return {words[1], borrowed, storage && *reinterpret_cast<bool*>(words + 2)};
}

void lock(std::atomic_flag& f) { while (f.test_and_set(std::memory_order_acquire)) {} }

void put(const Event& e) {
  lock(writing);
  uint64_t head = ring->head.load(std::memory_order_relaxed);
  for (int waited = 0; head - ring->tail.load(std::memory_order_acquire) >= SIZE; waited++) {
    if (ring->closed.load() || waited > 50000) { ring->closed = 1; writing.clear(std::memory_order_release); return; }
    usleep(100);
  }
  ring->events[head % SIZE] = e;
  ring->head.store(head + 1, std::memory_order_release);
  writing.clear(std::memory_order_release);
  // What looks wrong is judged before the program goes on, if it may end here.
  for (int waited = 0; stops && e.file && ring->tail.load(std::memory_order_acquire) <= head && waited < 50000; waited++) usleep(100);
}

uint32_t named(Kind kind, std::unordered_map<std::string, uint32_t>& names, const char* name) {
  auto at = names.emplace(name, static_cast<uint32_t>(names.size() + 1));
  if (at.second) {  // the name stands in the first 56 bytes, all but its number
    Event e{};
    size_t n = strlen(name);
    snprintf(reinterpret_cast<char*>(&e), 52, "%s", n > 51 ? name + n - 51 : name);
    e.type = at.first->second;
    e.kind = kind;
    put(e);
  }
  return at.first->second;
}

struct Hooked { Function dealloc, free; Object* (*alloc)(Type*, int64_t); bool storage; uint32_t number; };
using Types = std::unordered_map<Type*, Hooked>;
std::atomic<Types*> hooked;  // is replaced, and never changed
std::unordered_map<std::string, uint32_t>*type_names, *file_names;

// The line of Python that runs, by Python's own functions: the thread is
// attached to the interpreter.
void site(Event& e) {
  static auto frame = reinterpret_cast<Object* (*)()>(dlsym(RTLD_DEFAULT, "PyEval_GetFrame"));
  static auto number = reinterpret_cast<int (*)(Object*)>(dlsym(RTLD_DEFAULT, "PyFrame_GetLineNumber"));
  static auto code = reinterpret_cast<Object* (*)(Object*)>(dlsym(RTLD_DEFAULT, "PyFrame_GetCode"));
  static auto attribute = reinterpret_cast<Object* (*)(Object*, const char*)>(dlsym(RTLD_DEFAULT, "PyObject_GetAttrString"));
  static auto text = reinterpret_cast<const char* (*)(Object*)>(dlsym(RTLD_DEFAULT, "PyUnicode_AsUTF8"));
  static auto drop = reinterpret_cast<void (*)(Object*)>(dlsym(RTLD_DEFAULT, "Py_DecRef"));
  static auto fetch = reinterpret_cast<void (*)(Object**, Object**, Object**)>(dlsym(RTLD_DEFAULT, "PyErr_Fetch"));
  static auto restore = reinterpret_cast<void (*)(Object*, Object*, Object*)>(dlsym(RTLD_DEFAULT, "PyErr_Restore"));
  Object* f = frame && number && code && attribute && text && drop && fetch && restore ? frame() : nullptr;
  if (f == nullptr) return;
  Object *type, *value, *trace;
  fetch(&type, &value, &trace);
  Object* c = code(f);
  Object* name = attribute(c, "co_filename");
  if (const char* s = name ? text(name) : nullptr) {
    lock(naming);
    e.file = named(FILE_NAME, *file_names, s);
    naming.clear(std::memory_order_release);
    int line = number(f);
    e.line = static_cast<uint16_t>(line > 0xffff ? 0xffff : line);
  }
  if (name) drop(name);
  drop(c);
  restore(type, value, trace);
}

Event event(Kind kind, Object* o, void* impl, bool storage) {
  Event e{};
  Impl now = look(impl, storage);
  e.kind = kind;
  e.object = reinterpret_cast<uint64_t>(o);
  e.impl = reinterpret_cast<uint64_t>(impl);
  e.slot = now.slot.object;
  e.tag = now.slot.tag;
  e.data = now.data;
  e.uses = now.uses;
  e.flags = (storage ? STORAGE : 0) | (HERMETIC ? IN_HERMETIC : 0) | (now.slot.owns ? OWNS : 0) | (now.marked ? MARKED : 0);
  if (thread_id == 0) thread_id = static_cast<uint32_t>(syscall(SYS_gettid));
  e.thread = thread_id;
  return e;
}

// A release under way: whether it has freed its object.
struct Release { Object* object; bool freed; Release* outer; };
thread_local Release* releasing;

const Hooked* of(Type* t) {
  Types* all = hooked.load(std::memory_order_acquire);
  for (; t; t = t->about().base) {
    auto at = all->find(t);
    if (at != all->end()) return &at->second;
  }
  return nullptr;
}

void put_memory(Kind kind, Object* o, const Hooked* h) {
  Event e{};
  e.kind = kind;
  e.object = reinterpret_cast<uint64_t>(o);
  e.type = h->number;
  e.flags = h->storage ? STORAGE : 0;
  put(e);
}

// The memory may be another object's as soon as it is free.
void on_free(Object* o) {
  for (Release* r = releasing; r; r = r->outer) {
    if (r->object == o) r->freed = true;
  }
  const Hooked* h = of(o->type());
  put_memory(FREED, o, h);
  h->free(o);
}

// An object that is made has no part in anything that was at its address.
Object* on_alloc(Type* t, int64_t n) {
  const Hooked* h = of(t);
  Object* o = h->alloc(t, n);
  put_memory(MADE, o, h);
  return o;
}

void hook(Type*, bool);

// keep holds the memory of an impl, and not the impl, while an object is
// released.
template <class I>
void keep(I* i) { c10::raw::weak_intrusive_ptr::incref(i); }
template <class I>
void let_go(I* i) { c10::raw::weak_intrusive_ptr::decref(i); }

void on_dealloc(Object* o) {
  hook(o->type(), of(o->type())->storage);
  const Hooked& h = *of(o->type());
  Holds held = holds(o, h.storage);
  Event e = event(RELEASE, o, held.impl, h.storage);
  e.refs = o->refs();
  e.type = h.number;
  e.flags |= (held.borrowed ? BORROWED : 0) | (held.hermetic ? MADE_HERMETIC : 0);
  bool own = e.slot == e.object;
  if (every_line || held.borrowed && e.uses > 0 || !held.borrowed && e.uses > 1 && (SECOND || (e.flags & IN_HERMETIC) || !own)) site(e);
  put(e);
  // An impl that goes has no weak count left to add to.
  bool kept = held.impl != nullptr && e.uses > 0;
  if (kept) h.storage ? keep(static_cast<c10::StorageImpl*>(held.impl)) : keep(static_cast<c10::TensorImpl*>(held.impl));
  Release r{o, false, releasing};
  releasing = &r;
  h.dealloc(o);
  releasing = r.outer;
  if (!r.freed) {
    Event after = event(STAYS, o, kept ? held.impl : nullptr, h.storage);
    after.impl = e.impl;
    put(after);
  }
  if (kept) h.storage ? let_go(static_cast<c10::StorageImpl*>(held.impl)) : let_go(static_cast<c10::TensorImpl*>(held.impl));
}

constexpr uint64_t HEAP_TYPE = 1 << 9;

// hook stands in for a type's functions. In the second protocol Python's own
// function for classes calls that of the first type that is not one.
void hook(Type* type, bool storage) {
  if (type == nullptr || hooked.load(std::memory_order_acquire)->count(type)) return;
  lock(naming);
  auto* all = new Types(*hooked.load(std::memory_order_acquire));  // the old one may be in use
  Type* dealloc = type;
  if (SECOND || storage && !STORAGES) {
    while (dealloc->about().base && (dealloc->about().flags & HEAP_TYPE)) dealloc = dealloc->about().base;
  }
  Type* both[] = {dealloc, type};
  for (Type* t : both) {
    if (all->count(t)) continue;
    About& a = t->about();
    Hooked h{a.dealloc, a.free, a.alloc, storage, named(TYPE, *type_names, a.name)};
    Type* above = a.base;
    while (above && !all->count(above)) above = above->about().base;
    if (h.free == on_free) h.free = all->at(above).free;
    if (h.alloc == on_alloc) h.alloc = all->at(above).alloc;
    if (h.dealloc == on_dealloc || t != dealloc) h.dealloc = all->at(above).dealloc;
    all->emplace(t, h);
  }
  hooked.store(all, std::memory_order_release);
  for (Type* t : both) {
    About& a = t->about();
    if (a.free) a.free = on_free;
    if (a.alloc) a.alloc = on_alloc;
    if (t == dealloc) a.dealloc = on_dealloc;
  }
  naming.clear(std::memory_order_release);
}

void* (*real_of)(int);

// classes hooks those that libtorch_python names: objects that are made without
// being asked for are seen at their release.
void classes() {
  static bool done;
  if (done) return;
  static Type** known[3];
  if (!known[0]) {
    Dl_info info;
    void* f = nullptr;
    for (int n = 0; n < 7 && !f; n++) f = real_of(n);
    void* library = f && dladdr(f, &info) ? dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD) : nullptr;
    const char* names[] = {"THPVariableClass", "ParameterClass", "THPStorageClass"};
    for (int i = 0; library && i < 3; i++) known[i] = reinterpret_cast<Type**>(dlsym(library, names[i]));
  }
  done = true;
  for (int i = 0; i < 3; i++) {
    if (known[i] && *known[i]) hook(*known[i], i == 2);
    else if (known[i]) done = false;
  }
}

// wrapped records that somebody asked for an impl's object.
Object* wrapped(void* impl, const Event& before, Object* o, bool storage) {
  classes();
  if (o == nullptr) return o;
  hook(o->type(), storage);
  Event e = before;
  Holds held = holds(o, storage);
  if (held.impl && held.impl != impl && e.slot != reinterpret_cast<uint64_t>(o)) {  // a copy for another interpreter
    e.kind = REFUSED;
    e.object = e.slot;
    site(e);
    put(e);
    e = event(WRAP, o, held.impl, storage);
    e.slot = 0;
  }
  e.object = reinterpret_cast<uint64_t>(o);
  e.refs = o->refs();
  e.type = of(o->type())->number;
  e.flags |= held.hermetic ? MADE_HERMETIC : 0;
  e.tag = look(held.impl, storage).slot.tag;
  if (every_line || (e.slot && e.slot != e.object)) site(e);
  put(e);
  return o;
}

enum Hook { VARIABLE_VALUE, VARIABLE_REF, VARIABLE_MOVE, VARIABLE_TYPE, STORAGE_WRAP, STORAGE_NEW, STORAGE_NEW2, HOOKS };
void* real[HOOKS];

// asks records what is in the slot if the call may not come back: what is there
// is of no type that an object of ours can have.
void asks(const Event& before) {
  auto* o = reinterpret_cast<Object*>(before.slot);
  if (o == nullptr || hooked.load(std::memory_order_acquire)->count(o->type())) return;
  Event e = before;
  e.object = e.slot;
  site(e);
  put(e);
}

template <class F>
Object* call(void* impl, bool storage, F f) {
  Event before = event(WRAP, nullptr, impl, storage);
  asks(before);
  try {
    return wrapped(impl, before, f(), storage);
  } catch (...) {
    before.kind = REFUSED;
    before.object = before.slot;
    site(before);
    put(before);
    throw;
  }
}

// An argument that is a tensor or a storage, by value or by reference, is the
// address of a pointer to its impl.
template <int N, bool STORED, class... More>
Object* asked(void** arg, More... more) {
  return call(*arg, STORED, [&] { return reinterpret_cast<Object* (*)(void**, More...)>(real[N])(arg, more...); });
}

template <int N, class... More>
Object* made(Type* type, void** arg, More... more) {
  return call(*arg, true, [&] { return reinterpret_cast<Object* (*)(Type*, void**, More...)>(real[N])(type, arg, more...); });
}

// open_ring gets the ring that opassert reads; where there is none, what is
// written goes nowhere.
bool open_ring() {
  const size_t size = 4096 + SIZE * sizeof(Event);
  const int fd = memory();
  void* p = fd < 0 ? MAP_FAILED : mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (fd >= 0) close(fd);
  const bool read = p != MAP_FAILED;
  if (!read) p = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (p == MAP_FAILED) abort();
  ring = static_cast<Ring*>(p);
  ring->pid = getpid();
  ring->closed = !read;
  every_line = ring->asked & 1;
  stops = ring->asked & 2;
  snprintf(ring->torch, sizeof ring->torch, "%s", TORCH_VERSION);
  ring->protocol.store(SECOND ? 2 : 1, std::memory_order_release);
  if (!read) tell("its events can't reach opassert");
  return read;
}

// A forked child has a ring of its own, and says its names again.
void forked() {
  writing.clear();
  naming.clear();
  thread_id = 0;
  if (!open_ring()) return;
  std::unordered_map<std::string, uint32_t> types, files;
  types.swap(*type_names);
  files.swap(*file_names);
  for (auto& h : *hooked.load()) h.second.number = named(TYPE, *type_names, h.first->about().name);
}

}  // namespace

extern "C" int op_start(int (*ask_memory)(), void (*ask_tell)(const char*), void* (*find)(int), void** targets) {
  memory = ask_memory;
  tell = ask_tell;
  real_of = find;
  if (!open_ring()) return 0;
  hooked = new Types;
  type_names = new std::unordered_map<std::string, uint32_t>;
  file_names = new std::unordered_map<std::string, uint32_t>;
  pthread_atfork(nullptr, nullptr, forked);
  void* mine[HOOKS] = {
      reinterpret_cast<void*>(&asked<VARIABLE_VALUE, false>), reinterpret_cast<void*>(&asked<VARIABLE_REF, false>),
      reinterpret_cast<void*>(&asked<VARIABLE_MOVE, false>),  reinterpret_cast<void*>(&asked<VARIABLE_TYPE, false, Type*>),
      reinterpret_cast<void*>(&asked<STORAGE_WRAP, true>),    reinterpret_cast<void*>(&made<STORAGE_NEW, int, bool>),
      reinterpret_cast<void*>(&made<STORAGE_NEW2>),
  };
  for (int n = 0; n < HOOKS; n++) {
    real[n] = find(n);
    bool storage = n >= STORAGE_WRAP;
    if (real[n] && (!storage || STORAGES)) targets[n] = mine[n];
  }
  return 1;
}
