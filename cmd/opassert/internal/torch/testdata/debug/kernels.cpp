#include "c10/kernel.h"

namespace mine {

static void fills(float* x) {
  for (long i = 0; i < 8; i++)
    c10::store(x, i);
}

__attribute__((noinline)) void fills_all(float* x) {
  fills(x);
  x[8] = 2;
}

template <class Closure>
void impl(void (**to)(float*), Closure) {
  *to = &c10::of_lambda<Closure>;
}

}  // namespace mine

void (*kernels[3])(float*);

extern "C" void registers() {
  kernels[0] = &c10::of_function<&mine::fills>;
  kernels[1] = &c10::of_function<&mine::fills_all>;
  mine::impl(&kernels[2], [](float* x) {
    c10::store(x, 1);
  });
}

int main() {}
