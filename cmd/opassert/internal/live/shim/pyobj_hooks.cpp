// pyobj_hooks.cpp is compiled for the libtorch that a program loads. It records what happens to the Python objects of tensors
// and storages, in a ring that opassert reads, and judges nothing. It relies on the layout of Python's objects and of
// the first fields of a type: all versions with a global interpreter lock have one, and all without it another.
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
#include <unordered_set>

namespace torch {
namespace utils {
// A friend of an impl, in the second protocol: it reads the count. Its highest bit
// says that the impl holds a reference to an object.
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

// The kinds and flags of events, as live/event.go has them.
constexpr uint8_t WRAP = 1, RELEASE = 2, FREED = 3, STAYS = 4, TYPE = 5, FILE_NAME = 6, MADE = 7, REFUSED = 8, ASKS = 9, RAW = 10;
constexpr uint8_t STORAGE = 1, IN_HERMETIC = 2, OWNS = 4, BORROWED = 8, NO_SLOT = 16, MARKED = 32, ELSEWHERE = 64, SECOND_OBJECT = 128, NEW_CLASS = 1;

struct Event {
  uint64_t object, impl, slot, tag, weak;
  int32_t uses, refs;
  uint32_t thread, type;
  uint8_t kind, flags;
  uint16_t line;
  uint32_t file;
};
static_assert(sizeof(Event) == 64, "an event has 64 bytes");

struct Ring {
  std::atomic<uint64_t> head, tail;
  uint32_t pid;
  std::atomic<uint32_t> protocol, closed;
  char torch[32];
  uint32_t asked;  // 1: every line, 2: stop at a suspected fault
  char pad[4096 - 64];
  Event events[1];
};
constexpr uint64_t SIZE = 1 << 16;

Ring* ring;
int (*memory)();             // a descriptor of this process's ring, or -1
void (*tell)(const char*);   // opassert reports why the process is not watched
// Locks that a forked child can unlock: of the ring, and of the names and types. The
// lock of the handed-out objects is held during a fork.
std::atomic_flag writing = ATOMIC_FLAG_INIT, naming = ATOMIC_FLAG_INIT, handing = ATOMIC_FLAG_INIT;
thread_local uint32_t thread_id;
bool every_line, stops;

// The protocols: the first has a tagged pointer with an owner's bit, in the impl or
// in its slot; the second a plain pointer, up to 2.12 with a tag.
template <class I>
auto slot_of(I* i, int) -> decltype(i->pyobj_slot()) { return i->pyobj_slot(); }
template <class I>
I* slot_of(I* i, long) { return i; }

struct Slot {
  uint64_t object, tag;
  bool owns;
};

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
Slot read_slot(S*, ...) { return {}; }  // a storage of 1.13 has none

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

struct Impl {
  Slot slot;
  uint64_t weak;
  int32_t uses;
  bool marked;
};

template <class I>
Impl look(I* i) {
  auto p = c10::intrusive_ptr<c10::intrusive_ptr_target>::reclaim(i);
  const Impl now{read_slot(slot_of(i, 0), 0), p.weak_use_count(), static_cast<int32_t>(p.use_count()), torch::utils::PyObjectPreservation::marked(i, 0)};
  p.release();
  return now;
}

Impl look(void* impl, bool storage) {
  if (impl == nullptr) return {};
  return storage ? look(static_cast<c10::StorageImpl*>(impl)) : look(static_cast<c10::TensorImpl*>(impl));
}

// The layout of Python's objects, which begin with their reference count: one, or
// without a global lock the owning thread's and a shared one.
const bool FREE_THREADED = dlsym(RTLD_DEFAULT, "_Py_DecRefShared") != nullptr;
const int HEAD = FREE_THREADED ? 32 : 16;

struct Object;
struct Type;
using Function = void (*)(Object*);
// The fields after the head of a type and its size.
struct About {
  const char* name;
  int64_t basic, item;
  Function dealloc;
  void* between[14];
  uint64_t flags;
  void* more[10];
  Type* base;
  void* more_yet[4];
  int (*init)(Type*, Object*, Object*);
  Object* (*alloc)(Type*, int64_t);
  void* make;
  Function free;
};
static_assert(offsetof(About, dealloc) == 24 && offsetof(About, flags) == 144 && offsetof(About, base) == 232 && offsetof(About, init) == 272 && offsetof(About, alloc) == 280 && offsetof(About, free) == 296, "");
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

// An object's reference to its impl: the pointer, preceded in the first protocol by a flag for a borrowed one.
struct Holds {
  void* impl;
  bool borrowed, hermetic;
};

Holds holds(Object* o, bool storage) {
  void** words = reinterpret_cast<void**>(reinterpret_cast<char*>(o) + HEAD);
  if (SECOND || storage && !STORAGES) return {words[0], false, false};
  bool borrowed = *reinterpret_cast<bool*>(words);
  return {words[1], borrowed, storage && *reinterpret_cast<bool*>(words + 2)};
}

// python calls a function of Python with an object.
void python(const char* name, Object* o) {
  if (auto* f = reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, name))) f(o);
}

void lock(std::atomic_flag& f) {
  while (f.test_and_set(std::memory_order_acquire)) {}
}

struct Locked {
  std::atomic_flag& of;
  explicit Locked(std::atomic_flag& f) : of(f) { lock(f); }
  ~Locked() { of.clear(std::memory_order_release); }
};

// put_in_ring returns where it put an event; the ring is closed if opassert does not read it.
uint64_t put_in_ring(const Event& e) {
  const Locked here(writing);
  const uint64_t head = ring->head.load(std::memory_order_relaxed);
  for (int waited = 0; head - ring->tail.load(std::memory_order_acquire) >= SIZE; waited++) {
    if (waited > 50000) ring->closed = 1;
    if (ring->closed.load()) return head;
    usleep(100);
  }
  ring->events[head % SIZE] = e;
  ring->head.store(head + 1, std::memory_order_release);
  return head;
}

void put(const Event& e) {
  const uint64_t at = put_in_ring(e);
  // A suspected fault is judged before the program continues, as it may end here.
  for (int waited = 0; stops && e.file && !ring->closed.load() && ring->tail.load(std::memory_order_acquire) <= at && waited < 50000; waited++) usleep(100);
}

// put_name records the name of a number, in the first 52 bytes.
void put_name(uint8_t kind, uint32_t number, const char* name, uint8_t flags = 0) {
  Event e{};
  e.flags = flags;
  size_t n = strlen(name);
  snprintf(reinterpret_cast<char*>(&e), 52, "%s", n > 51 ? name + n - 51 : name);
  e.type = number;
  e.kind = kind;
  put(e);
}

// The types whose objects are all seen from now on, each with a unique number: a
// class may have the name of another, and the address of a deleted one.
struct Hooked {
  Function dealloc, free;
  Object* (*alloc)(Type*, int64_t);
  bool storage;
  uint32_t number;
  std::string name;
  int releases;
};
std::unordered_map<Type*, Hooked>* hooked;
uint32_t types;
std::unordered_map<std::string, uint32_t>* files;

uint32_t file_number(const char* name) {
  const Locked here(naming);
  auto at = files->emplace(name, static_cast<uint32_t>(files->size() + 1));
  if (at.second) put_name(FILE_NAME, at.first->second, name);
  return at.first->second;
}

// The running line of Python, by Python's functions: the thread is attached to the interpreter.
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
    e.file = file_number(s);
    int line = number(f);
    e.line = static_cast<uint16_t>(line > 0xffff ? 0xffff : line);
  }
  if (name) drop(name);
  drop(c);
  restore(type, value, trace);
}

Event event(uint8_t kind, Object* o, void* impl, bool storage) {
  Event e{};
  Impl now = look(impl, storage);
  e.kind = kind;
  e.object = reinterpret_cast<uint64_t>(o);
  e.impl = reinterpret_cast<uint64_t>(impl);
  e.slot = now.slot.object;
  e.tag = now.slot.tag;
  e.weak = now.weak;
  e.uses = now.uses;
  e.flags = (storage ? STORAGE : 0) | (HERMETIC ? IN_HERMETIC : 0) | (now.slot.owns ? OWNS : 0) | (now.marked ? MARKED : 0);
  if (thread_id == 0) thread_id = static_cast<uint32_t>(syscall(SYS_gettid));
  e.thread = thread_id;
  return e;
}

// A release under way: whether it has freed its object.
struct Release {
  Object* object;
  bool freed;
  Release* outer;
};
thread_local Release* releasing;

void on_dealloc(Object*);
void on_free(Object*);
Object* on_alloc(Type*, int64_t);

// at returns a type's entry, unless it is that of an earlier class at its address. The lock is held.
Hooked* at(Type* t) {
  auto i = hooked->find(t);
  bool ours = i != hooked->end() && (!t->about().alloc || t->about().alloc == on_alloc);
  return ours ? &i->second : nullptr;
}

// known reports whether a type has an entry.
bool known(Type* t) {
  const Locked here(naming);
  return at(t) != nullptr;
}

// of returns the entry of a type or of its nearest base that has one.
Hooked of(Type* t) {
  const Locked here(naming);
  Hooked* h = nullptr;
  for (; t && !h; t = t->about().base) h = at(t);
  return h ? *h : Hooked{};
}

void put_memory(uint8_t kind, Object* o, const Hooked& h) {
  Event e{};
  e.kind = kind;
  e.object = reinterpret_cast<uint64_t>(o);
  e.type = h.number;
  e.flags = (h.storage ? STORAGE : 0) | (HERMETIC ? IN_HERMETIC : 0);
  put(e);
}

// The object that was handed out last for each impl, and which of these objects live.
std::unordered_map<void*, Object*>* last_of;
std::unordered_set<Object*>* handed_out;

// hand notes that an impl's object is handed out, and reports whether another one,
// handed out before, lives and still holds the impl.
bool hand(void* impl, Object* o, bool storage) {
  const Locked here(handing);
  Object*& last = (*last_of)[impl];
  bool another = last && last != o && handed_out->count(last) && holds(last, storage).impl == impl;
  last = o;
  handed_out->insert(o);
  return another;
}

void forget(Object* o) {
  const Locked here(handing);
  handed_out->erase(o);
}

void forget_impl(void* impl, Object* o) {
  const Locked here(handing);
  auto i = last_of->find(impl);
  if (i != last_of->end() && i->second == o) last_of->erase(i);
}

// Once freed, the memory may be another object's.
void on_free(Object* o) {
  for (Release* r = releasing; r; r = r->outer) {
    if (r->object == o) r->freed = true;
  }
  Hooked h = of(o->type());
  put_memory(FREED, o, h);
  forget(o);
  h.free(o);
}

// A new object has nothing in common with an earlier one at its address.
Object* on_alloc(Type* t, int64_t n) {
  Hooked h = of(t);
  Object* o = h.alloc(t, n);
  if (o) put_memory(MADE, o, h);
  return o;
}

void hook(Type*, bool, bool new_class = false);

// see_frees replaces a type's function that frees memory while an object of it is released, and no longer: Python
// compares these functions before an object gets another class.
void see_frees(Type* t, int begins) {
  const Locked here(naming);
  Hooked* h = at(t);
  if (h == nullptr) return;
  h->releases += begins;
  t->about().free = h->releases > 0 ? on_free : h->free;
}

// The impl whose object this thread requests.
thread_local void* asking;

void deallocate(Object* o, bool storage, Function real) {
  hook(o->type(), storage);
  Holds held = holds(o, storage);
  Event e = event(RELEASE, o, held.impl, storage);
  e.refs = o->refs();
  e.type = of(o->type()).number;
  // Of two threads that make an object for one impl, one releases it at once.
  bool discarded = held.impl && held.impl == asking;
  e.flags |= (held.borrowed ? BORROWED : 0) | (held.hermetic || discarded ? NO_SLOT : 0);
  bool own = e.slot == e.object;
  if (every_line || held.borrowed && e.uses > 0 || !held.borrowed && e.uses > 1 && (SECOND || (e.flags & IN_HERMETIC) || !own || !e.tag)) site(e);
  put(e);
  // An impl that is being freed has no weak count to add to.
  bool kept = held.impl != nullptr && e.uses > 0;
  auto* target = storage ? static_cast<c10::intrusive_ptr_target*>(static_cast<c10::StorageImpl*>(held.impl)) : static_cast<c10::TensorImpl*>(held.impl);
  if (kept) c10::raw::weak_intrusive_ptr::incref(target);
  Release r{o, false, releasing};
  releasing = &r;
  auto* type = reinterpret_cast<Object*>(o->type());
  python("Py_IncRef", type);
  see_frees(o->type(), 1);
  real(o);
  see_frees(reinterpret_cast<Type*>(type), -1);
  python("Py_DecRef", type);
  releasing = r.outer;
  if (r.freed) {
    forget_impl(held.impl, o);
  } else {
    Event after = event(STAYS, o, kept ? held.impl : nullptr, storage);
    after.impl = e.impl;
    put(after);
  }
  if (kept) c10::raw::weak_intrusive_ptr::decref(target);
}

void on_dealloc(Object* o) {
  Hooked h = of(o->type());
  deallocate(o, h.storage, h.dealloc);
}

constexpr uint64_t HEAP_TYPE = 1 << 9;

constexpr int VARIABLE_VALUE = 0, VARIABLE_REF = 1, VARIABLE_MOVE = 2, VARIABLE_TYPE = 3, STORAGE_WRAP = 4, STORAGE_NEW = 5, STORAGE_NEW2 = 6, VARIABLE_DEALLOC = 7, VARIABLE_CLASS = 8, HOOKS = 9;
void* real[HOOKS];
void* (*real_of)(int);

// The first of a type and its bases that is not a class defined in Python.
Type* ground(Type* t) {
  while (t->about().base && (t->about().flags & HEAP_TYPE)) t = t->about().base;
  return t;
}

// hook replaces a type's functions. In the second protocol, Python's function for classes calls that of the first
// base that is not one; in the first, that of tensors' classes is in libtorch_python.
void hook(Type* type, bool storage, bool new_class) {
  const Locked here(naming);
  if (type == nullptr || at(type)) return;
  bool named = !storage && real[VARIABLE_DEALLOC];
  Type* dealloc = SECOND || storage && !STORAGES ? ground(type) : type;
  Type* both[] = {dealloc, type};
  for (Type* t : both) {
    if (at(t)) continue;
    About& a = t->about();
    Hooked h{a.dealloc, a.free, a.alloc, storage, ++types, a.name, 0};
    put_name(TYPE, h.number, a.name, new_class ? NEW_CLASS : 0);
    Hooked* above = nullptr;
    for (Type* b = a.base; b && !above; b = b->about().base) above = at(b);
    if (h.alloc == on_alloc && above) h.alloc = above->alloc;
    if ((h.dealloc == on_dealloc || t != dealloc) && above) h.dealloc = above->dealloc;
    (*hooked)[t] = h;
    if (a.alloc) a.alloc = on_alloc;
    if (t == dealloc && !named) a.dealloc = on_dealloc;
  }
}

// mapped reports whether memory is mapped at an address.
bool mapped(const void* p, size_t n) {
  unsigned char in;
  uintptr_t page = 4096, from = reinterpret_cast<uintptr_t>(p) & ~(page - 1);
  for (uintptr_t to = reinterpret_cast<uintptr_t>(p) + n; from < to; from += page) {
    if (mincore(reinterpret_cast<void*>(from), 1, &in) != 0) return false;
  }
  return true;
}

Type* grounds[2];  // the types of tensors and storages, once Python has made them

// is_object reports whether an address holds the object of a tensor or a storage: the
// memory of a dead object may hold anything.
bool is_object(Object* o, bool storage) {
  if (!grounds[storage] || known(o->type())) return true;
  Type* t = o->type();
  for (int depth = 0; t && depth < 200 && mapped(t, HEAD + 8 + sizeof(About)); t = t->about().base, depth++) {
    if (t == grounds[storage]) return true;
  }
  return false;
}

// below calls f with each subtype of a type.
template <class F>
void below(Type* type, F f) {
  static auto call = reinterpret_cast<Object* (*)(Object*, const char*, const char*, ...)>(dlsym(RTLD_DEFAULT, "PyObject_CallMethod"));
  static auto size = reinterpret_cast<int64_t (*)(Object*)>(dlsym(RTLD_DEFAULT, "PyList_Size"));
  static auto item = reinterpret_cast<Object* (*)(Object*, int64_t)>(dlsym(RTLD_DEFAULT, "PyList_GetItem"));
  static auto clear = reinterpret_cast<void (*)()>(dlsym(RTLD_DEFAULT, "PyErr_Clear"));
  static auto* of_types = reinterpret_cast<Object*>(dlsym(RTLD_DEFAULT, "PyType_Type"));
  if (!call || !size || !item || !clear || !of_types) return;
  Object* all = call(of_types, "__subclasses__", "O", type);
  if (!all) clear();
  for (int64_t i = 0; all && i < size(all); i++) {
    auto* t = reinterpret_cast<Type*>(item(all, i));
    f(t);
    below(t, f);
  }
  if (all) python("Py_DecRef", all);
}

std::unordered_map<Type*, int (*)(Type*, Object*, Object*)>* class_makers;  // the replaced function

int class_made(int made, Type* t) {
  for (Type* b = t; made == 0 && b; b = b->about().base) {
    if (b == grounds[0]) hook(t, false, true);
  }
  return made;
}

// on_class replaces the function that makes classes of tensors, if it is not exported.
int on_class(Type* t, Object* args, Object* more) {
  for (Type* maker = reinterpret_cast<Object*>(t)->type(); maker; maker = maker->about().base) {
    auto real = class_makers->find(maker);
    if (real != class_makers->end()) return class_made(real->second(t, args, more), t);
  }
  return -1;
}

// see_classes hooks every class of tensors, and the function that makes them:
// otherwise objects could be made unseen, and get another class.
void see_classes(Type* tensor) {
  below(grounds[0], [](Type* t) { hook(t, false); });
  Type* maker = reinterpret_cast<Object*>(tensor)->type();
  if (real[VARIABLE_CLASS] || maker == reinterpret_cast<Object*>(maker)->type()) return;
  auto see = [](Type* t) {
    if (t->about().init == on_class) return;
    class_makers->emplace(t, t->about().init);
    t->about().init = on_class;
  };
  see(maker);
  below(maker, see);
}

// A Python function in C, as its PyMethodDef has it. Of its flags METH_O is 8, METH_FASTCALL 128.
struct Method {
  const char* name;
  Object* (*call)(Object*, Object**, uint64_t, Object*);
  int flags;
} raw_real[7];

template <int N>
Object* raw(Object* self, Object** args, uint64_t count, Object* names) {
  static auto address = reinterpret_cast<uint64_t (*)(Object*)>(dlsym(RTLD_DEFAULT, "PyLong_AsVoidPtr"));
  static auto item = reinterpret_cast<Object* (*)(Object*, int64_t)>(dlsym(RTLD_DEFAULT, "PyTuple_GetItem"));
  auto* first = reinterpret_cast<Object*>(args);
  if (!(raw_real[N].flags & 8)) first = raw_real[N].flags & 128 ? (count << 1 ? *args : nullptr) : item(first, 0);
  Event e{};
  e.impl = first ? address(first) : 0;
  python("PyErr_Clear", nullptr);  // the function refuses what is not a number
  e.kind = RAW;
  e.flags = STORAGE;
  site(e);
  put(e);
  return raw_real[N].call(self, args, count, names);
}

// see_raw replaces the functions that take the address of a StorageImpl, a storage's _cdata, as a number.
void see_raw(Object* storages) {
  static auto attribute = reinterpret_cast<Object* (*)(Object*, const char*)>(dlsym(RTLD_DEFAULT, "PyObject_GetAttrString"));
  static auto module = reinterpret_cast<Object* (*)(const char*)>(dlsym(RTLD_DEFAULT, "PyImport_AddModule"));
  const Method with[] = {{"_set_cdata", raw<0>}, {"_new_with_weak_ptr", raw<1>}, {"_expired", raw<2>}, {"_free_weak_ref", raw<3>}, {"_storage_Use_Count", raw<4>}, {"_has_Standard_Deleter", raw<5>}, {"_free_And_Remove_DeleterFn", raw<6>}};
  for (int n = 0; n < 7; n++) {
    Object* f = attribute(n < 4 ? storages : module("torch._C"), with[n].name);
    python("PyErr_Clear", nullptr);
    const bool method = f && strcmp(f->type()->about().name, "method_descriptor") == 0;
    if (!method && !(f && strcmp(f->type()->about().name, "builtin_function_or_method") == 0)) continue;
    Method* m = *reinterpret_cast<Method**>(reinterpret_cast<char*>(f) + HEAD + (method ? 24 : 0));
    raw_real[n] = *m;
    m->call = with[n].call;
  }
}

// classes hooks the classes that libtorch_python exports: objects that no impl asked
// for are first seen at their release.
void classes() {
  static bool done;
  if (done) return;
  static Type** known[3];
  if (!known[0]) {
    Dl_info info;
    void* f = nullptr;
    for (int n = 0; n < HOOKS && !f; n++) f = real_of(n);
    void* library = f && dladdr(f, &info) ? dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD) : nullptr;
    const char* names[] = {"THPVariableClass", "ParameterClass", "THPStorageClass"};
    for (int i = 0; library && i < 3; i++) known[i] = reinterpret_cast<Type**>(dlsym(library, names[i]));
  }
  done = true;
  for (int i = 0; i < 3; i++) {
    if (known[i] && *known[i]) {
      hook(*known[i], i == 2);
      grounds[i == 2] = ground(*known[i]);
    } else if (known[i]) {
      done = false;
    }
  }
  if (done && grounds[0]) see_classes(*known[0]);
  if (done && STORAGES && grounds[1]) see_raw(reinterpret_cast<Object*>(*known[2]));
}

// wrapped records that an impl's object was asked for.
Object* wrapped(void* impl, const Event& before, Object* o, bool storage) {
  classes();
  if (o == nullptr) return o;
  Event e = before;
  e.object = reinterpret_cast<uint64_t>(o);
  bool object = is_object(o, storage);
  if (!object && e.slot != e.object) return o;  // None, for a tensor that is not defined
  if (!object) {
    e.flags |= ELSEWHERE;
    site(e);
    put(e);
    return o;
  }
  hook(o->type(), storage);
  Holds held = holds(o, storage);
  if (held.impl && held.impl != impl && e.slot != e.object) {  // a copy for another interpreter
    e.kind = REFUSED;
    e.object = e.slot;
    site(e);
    put(e);
    e = event(WRAP, o, held.impl, storage);
    e.slot = 0;
    impl = held.impl;
  }
  e.refs = o->refs();
  e.type = of(o->type()).number;
  e.flags |= (held.hermetic ? NO_SLOT : 0) | (held.impl != impl ? ELSEWHERE : 0);
  e.tag = look(impl, storage).slot.tag;
  if (!(e.flags & (IN_HERMETIC | ELSEWHERE)) && hand(impl, o, storage)) e.flags |= SECOND_OBJECT;
  if (every_line || (e.flags & (ELSEWHERE | SECOND_OBJECT)) || (e.slot && e.slot != e.object)) site(e);
  put(e);
  return o;
}

// asks records the slot if the call may not return: its object is of a type not seen so far.
void asks(const Event& before) {
  auto* o = reinterpret_cast<Object*>(before.slot);
  if (o == nullptr || known(o->type())) return;
  Event e = before;
  e.kind = ASKS;
  e.object = e.slot;
  site(e);
  put(e);
}

template <class F>
Object* call(void* impl, bool storage, F f) {
  Event before = event(WRAP, nullptr, impl, storage);
  asks(before);
  void* outer = asking;
  asking = impl;
  try {
    Object* o = f();
    asking = outer;
    return wrapped(impl, before, o, storage);
  } catch (...) {
    asking = outer;
    before.kind = REFUSED;
    before.object = before.slot;
    site(before);
    put(before);
    throw;
  }
}

// A tensor or a storage argument, by value or by reference, is the address of a pointer to its impl.
template <int N, bool STORED, class... More>
Object* asked(void** arg, More... more) {
  return call(*arg, STORED, [&] { return reinterpret_cast<Object* (*)(void**, More...)>(real[N])(arg, more...); });
}

template <int N, class... More>
Object* made(Type* type, void** arg, More... more) {
  return call(*arg, true, [&] { return reinterpret_cast<Object* (*)(Type*, void**, More...)>(real[N])(type, arg, more...); });
}

// open_ring opens the ring that opassert reads; without one, events are dropped.
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

void variable_dealloc(Object* o) { deallocate(o, false, reinterpret_cast<Function>(real[VARIABLE_DEALLOC])); }

int variable_class(Type* t, Object* args, Object* more) {
  return class_made(reinterpret_cast<int (*)(Type*, Object*, Object*)>(real[VARIABLE_CLASS])(t, args, more), t);
}

// Nothing changes the state that a forked child needs.
void forks() {
  lock(naming);
  lock(handing);
}

void forking() {
  handing.clear(std::memory_order_release);
  naming.clear(std::memory_order_release);
}

// A forked child has its own ring, and records its names again.
void forked() {
  forking();
  writing.clear();
  thread_id = 0;
  if (!open_ring()) return;
  files->clear();
  for (auto& h : *hooked) put_name(TYPE, h.second.number, h.second.name.c_str());
}

}  // namespace

extern "C" int op_start(int (*ask_memory)(), void (*ask_tell)(const char*), void* (*find)(int), void** targets) {
  memory = ask_memory;
  tell = ask_tell;
  real_of = find;
  if (!open_ring()) return 0;
  hooked = new std::unordered_map<Type*, Hooked>;
  files = new std::unordered_map<std::string, uint32_t>;
  class_makers = new std::unordered_map<Type*, int (*)(Type*, Object*, Object*)>;
  last_of = new std::unordered_map<void*, Object*>;
  handed_out = new std::unordered_set<Object*>;
  pthread_atfork(forks, forking, forked);
  void* mine[HOOKS] = {
      reinterpret_cast<void*>(&asked<VARIABLE_VALUE, false>),
      reinterpret_cast<void*>(&asked<VARIABLE_REF, false>),
      reinterpret_cast<void*>(&asked<VARIABLE_MOVE, false>),
      reinterpret_cast<void*>(&asked<VARIABLE_TYPE, false, Type*>),
      reinterpret_cast<void*>(&asked<STORAGE_WRAP, true>),
      reinterpret_cast<void*>(&made<STORAGE_NEW, int, bool>),
      reinterpret_cast<void*>(&made<STORAGE_NEW2>),
      reinterpret_cast<void*>(&variable_dealloc),
      reinterpret_cast<void*>(&variable_class),
  };
  for (int n = 0; n < HOOKS; n++) {
    real[n] = find(n);
    bool storage = n >= STORAGE_WRAP && n < VARIABLE_DEALLOC;
    if (real[n] && (!storage || STORAGES)) targets[n] = mine[n];
  }
  return 1;
}
