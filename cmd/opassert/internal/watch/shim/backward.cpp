#include "backward.h"

#include "channel.h"
#include "observedcall.h"
#include "operators.h"
#include "python.h"
#include "site.h"

namespace opassert {
namespace {

thread_local const Watched* last_recorded = nullptr;

}  // namespace

void Followed::recorded(const Watched& op, const torch::jit::Stack& stack) {
  each_result(op, stack, [&](TensorImpl* impl, size_t) {
    if (impl != nullptr && impl->requires_grad()) last_recorded = &op;
  });
}

// backward returns how a backward through the operator goes, or -1 if it has a formula.
int64_t Followed::backward() const {
  if (!has_autograd(handle_)) return last_recorded == &op_ ? OA_RECORDS : OA_ENDS;
  if (python::interpreter == nullptr) return -1;
  python::Lock lock;
  return python::without_formula(handle_.operator_name().name) ? OA_RAISES : -1;
}

void Followed::follow(TensorImpl* impl, size_t result, int64_t backward, const std::string& frames) const {
  const bool argument = std::find(arguments_.begin(), arguments_.end(), impl) != arguments_.end();
  if (impl == nullptr || argument || !impl->requires_grad()) return;
  const at::Tensor t = borrowed(impl);
  t.register_hook([op = &op_, text = words_of(Come{op_.number, int64_t(result), backward}) + frames](const at::TensorBase&) {
    op->counts->count(&Counts::differentiated);
    if (op->reported.exchange(true)) return;
    std::string reply;
    if (channel::ask(FRAME_BACKWARD, text, reply)) TORCH_CHECK(reply.empty(), reply);
  });
}

Followed::Followed(const c10::OperatorHandle& handle, const Watched& op, const torch::jit::Stack& stack) : handle_(handle), op_(op), stack_(stack) {
  if (!op.followed || op.reported || !c10::GradMode::is_enabled()) return;
  each_argument(op, stack, [&](TensorImpl* impl, const Subject&) {
    arguments_.push_back(impl);
    records_ = records_ || (impl != nullptr && impl->requires_grad());
  });
  last_recorded = nullptr;
}

void Followed::returned() const {
  if (!records_) return;
  const int64_t how = op_.formula ? -1 : backward();
  op_.formula = how < 0;
  if (op_.formula) return op_.counts->count(&Counts::differentiated);
  const std::string frames = site::place();
  each_result(op_, stack_, [&](TensorImpl* impl, size_t result) { follow(impl, result, how, frames); });
}

}  // namespace opassert
