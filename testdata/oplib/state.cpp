// state is a library of operators that change the process or the thread, not tensors: those of
// the namespace changes leave it so, those of restores do not.
#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Parallel.h>
#include <ATen/autocast_mode.h>
#include <c10/core/AutogradState.h>
#include <c10/core/DefaultDtype.h>
#include <sys/stat.h>
#include <torch/csrc/api/include/torch/version.h>
#include <torch/library.h>
#include <unistd.h>

#include <cfenv>
#include <clocale>
#include <csignal>
#include <cstdio>
#include <cstdlib>

using at::Tensor;

namespace {

at::Context& context() { return at::globalContext(); }
c10::AutogradState& autograd() { return c10::AutogradState::get_tls_state(); }

// after makes an operator that does something before it returns a clone.
template <class F>
auto after(F change) {
  return torch::dispatch(c10::DispatchKey::CPU, [change](const Tensor& x) {
    change();
    return x.clone();
  });
}

}  // namespace

TORCH_LIBRARY(changes, m) {
  m.def("grad_mode(Tensor x) -> Tensor", after([] { c10::GradMode::set_enabled(false); }));
  m.def("inference_mode(Tensor x) -> Tensor", after([] { autograd().set_inference_mode(true); }));
  m.def("forward_gradients(Tensor x) -> Tensor", after([] { autograd().set_fw_grad_mode(false); }));
  m.def("dtype(Tensor x) -> Tensor", after([] { c10::set_default_dtype(caffe2::TypeMeta::Make<double>()); }));
  m.def("usual_dtype(Tensor x) -> Tensor", after([] {
    c10::set_default_dtype(caffe2::TypeMeta::Make<double>());
    c10::set_default_dtype(caffe2::TypeMeta::Make<float>());
  }));
  m.def("deterministic(Tensor x) -> Tensor", after([] { context().setDeterministicAlgorithms(true, false); }));
  m.def("warn_only(Tensor x) -> Tensor", after([] { context().setDeterministicAlgorithms(false, true); }));
  m.def("mkldnn(Tensor x) -> Tensor", after([] { context().setUserEnabledMkldnn(false); }));
  m.def("cudnn(Tensor x) -> Tensor", after([] { context().setUserEnabledCuDNN(false); }));
  m.def("benchmark(Tensor x) -> Tensor", after([] { context().setBenchmarkCuDNN(true); }));
  m.def("no_benchmark(Tensor x) -> Tensor", after([] { context().setBenchmarkCuDNN(false); }));
  m.def("not_deterministic(Tensor x) -> Tensor", after([] { context().setDeterministicAlgorithms(false, false); }));
  m.def("cudnn_deterministic(Tensor x) -> Tensor", after([] { context().setDeterministicCuDNN(true); }));
  m.def("precision(Tensor x) -> Tensor", after([] { context().setFloat32MatmulPrecision("medium"); }));
#if TORCH_VERSION_MAJOR > 2 || (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR >= 4)
  m.def("autocast_dtype(Tensor x) -> Tensor", after([] { at::autocast::set_autocast_dtype(at::kCPU, at::kHalf); }));
#endif
  m.def("autocast_cache(Tensor x) -> Tensor", after([] { at::autocast::set_autocast_cache_enabled(false); }));
  m.def("umask(Tensor x) -> Tensor", after([] { umask(077); }));
  m.def("signal(Tensor x) -> Tensor", after([] { std::signal(SIGUSR1, SIG_IGN); }));
  m.def("threads(Tensor x) -> Tensor", after([] { at::set_num_threads(3); }));
  m.def("rounding(Tensor x) -> Tensor", after([] { fesetround(FE_UPWARD); }));
  m.def("traps(Tensor x) -> Tensor", after([] { feenableexcept(FE_DIVBYZERO | FE_INVALID); }));
#if defined(__x86_64__)
  m.def("direction(Tensor x) -> Tensor", torch::dispatch(c10::DispatchKey::CPU, [](const Tensor& x) {
    Tensor result = x.clone();
    __asm__ volatile("std" ::: "cc");
    return result;
  }));
#endif
  m.def("denormals(Tensor x) -> Tensor", after([] { context().setFlushDenormal(true); }));
  m.def("seed(Tensor x) -> Tensor", after([] { at::detail::getDefaultCPUGenerator().unsafeGetGeneratorImpl()->set_current_seed(7); }));
  m.def("locale(Tensor x) -> Tensor", after([] { setlocale(LC_ALL, "C.UTF-8"); }));
  m.def("folder(Tensor x) -> Tensor", after([] { TORCH_CHECK(chdir("/") == 0); }));
  m.def("removed_folder(Tensor x) -> Tensor", after([] {
    char folder[4096];
    TORCH_CHECK(getcwd(folder, sizeof folder) == folder && rmdir(folder) == 0 && chdir("/") == 0);
  }));
  m.def("variable(Tensor x) -> Tensor", after([] { setenv("OMP_PROC_BIND", "true", 1); }));
  m.def("prints(Tensor x) -> Tensor", after([] { std::printf("called"); }));
  m.def("prints_late(Tensor x) -> Tensor", after([] {
    static char room[BUFSIZ];
    std::setvbuf(stdout, room, _IOFBF, sizeof room);
    std::printf("kept in a buffer");
  }));
  m.def("traces(Tensor x) -> Tensor", after([] { std::fputs("called\n", stderr); }));
  m.def("keys(Tensor x) -> Tensor", after([] { c10::impl::tls_set_dispatch_key_excluded(c10::DispatchKey::AutocastCPU, false); }));
}

TORCH_LIBRARY(restores, m) {
  m.def("traps(Tensor x) -> Tensor", after([] {
    feenableexcept(FE_DIVBYZERO);
    fedisableexcept(FE_DIVBYZERO);
  }));
  m.def("grad_mode(Tensor x) -> Tensor", after([] { at::NoGradGuard guard; }));
  m.def("benchmark(Tensor x) -> Tensor", after([] {
    const bool was = context().benchmarkCuDNN();
    context().setBenchmarkCuDNN(false);
    context().setBenchmarkCuDNN(was);
  }));
  m.def("below(Tensor x) -> Tensor", after([] { at::AutoDispatchBelowAutograd guard; }));
  m.def("draws(Tensor x) -> Tensor", after([] { at::rand({8}); }));
  m.def("says_once(Tensor x) -> Tensor", after([] {
    static const int said = std::fputs("called\n", stderr);
    (void)said;
  }));
  m.def("dtype(Tensor x) -> Tensor", after([] {
    const auto was = c10::get_default_dtype();
    c10::set_default_dtype(caffe2::TypeMeta::Make<double>());
    c10::set_default_dtype(was);
  }));
}
