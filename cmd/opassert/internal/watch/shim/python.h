// python.h has the watcher's uses of Python: the classes of tensors and of modes, and the calls of
// __torch_dispatch__. It finds the functions of the process's interpreter by name, and does nothing without one.
#pragma once

#include <c10/core/impl/PyInterpreter.h>

#include <string>
#include <vector>

#include "observe.h"

namespace opassert::python {

constexpr const char* kFakeMode = "torch._subclasses.fake_tensor.FakeTensorMode";
constexpr const char* kFakeTensor = "torch._subclasses.fake_tensor.FakeTensor";

// A Difference is that between a thread's keys and those that the program sees.
struct Difference {
  c10::DispatchKeySet hidden, missing;
};

extern c10::impl::PyInterpreter* interpreter;  // null without one

// start reports whether there is an interpreter.
bool start();

// starts reports whether a thread with a start function is Python's.
bool starts(void* (*run)(void*));

// hide makes torch._C return this thread's keys with the differences that these functions return, and Python call ending
// when the program ends. It is called while the interpreter loads torch._C, before anything else can use it.
void hide(Difference (*included)(), Difference (*excluded)(), void (*ending)());

// Lock holds Python's lock. It is taken only where Python is about to be called anyway, or just was.
class Lock {
  int state_;

 public:
  Lock();
  ~Lock();
};

// traits returns a tensor's traits with those of its class, by what it says, or by a shared view, but not in lists.
int64_t traits(TensorImpl* impl, int64_t seen, bool listed);
void shared(TensorImpl* view, TensorImpl* base);
std::string class_of(TensorImpl* impl);

// modes describes all active modes, a line each, outermost first; see mode.go. has_mode reports whether one of a class
// is active, innermost_mode the one that is called first, or null.
std::string modes();
bool has_mode(const std::string& of);
PyObject* innermost_mode();

// answerer describes the class that answers a call, the called method and its place: the innermost mode, or else the
// class of an argument, in PyTorch's order; of several, which may decline, that of a result. "" if no class does.
std::string answerer(const std::vector<TensorImpl*>& arguments, const std::vector<TensorImpl*>& results);

// find_origin makes Python's main thread look up the origin of a line of code that PyTorch's compiler generated,
// FILE:NUMBER, later: an observed call must not wait for Python's lock. tell gets the line, and file, number and function
// of each frame, outermost first.
void find_origin(const std::string& line, void (*tell)(const std::string& line, const std::string& frames));

// fork is called with Python's lock, and leaves it to both processes.
pid_t fork();

// replay runs the program that calls fakes, and kernels for the CPU in forks: see replay.py.
void replay(const std::string& program, const std::string& calls, size_t first, int to);

bool has_module(const char* name);

// without_formula reports whether an operator was made by torch.library.custom_op and has no formula for autograd.
bool without_formula(const std::string& op);

// stand_in replaces what calls __torch_dispatch__ by f, in the table through which libtorch calls Python. It returns it.
using Dispatch = void (*)(const c10::impl::PyInterpreterVTable*, const c10::OperatorHandle&, std::vector<c10::IValue>*);
Dispatch stand_in(Dispatch f);

}  // namespace opassert::python
