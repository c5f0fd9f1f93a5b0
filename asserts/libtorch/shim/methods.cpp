// methods.cpp registers an operator for each method of custom classes, since only operators are called and observed.
#include "methods.h"

#include "remote.h"

#include <ATen/core/class_type.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/function.h>
#include <ATen/core/stack.h>
#include <torch/custom_class_detail.h>
#include <torch/library.h>

#include <memory>
#include <string>
#include <vector>

namespace opassert {
namespace {

const std::string kClasses = "__torch__.torch.classes.";

// A Method is the kernel of such an operator.
struct Method final : c10::OperatorKernel {
  torch::jit::Function& function;
  bool returns;

  Method(torch::jit::Function& f, bool r) : function(f), returns(r) {}

  void operator()(const c10::OperatorHandle&, c10::DispatchKeySet, torch::jit::Stack* stack) {
    function.run(*stack);
    if (!returns) stack->pop_back();  // None
  }
};

bool takes_tensors(const c10::FunctionSchema& schema) {
  for (size_t i = 1; i < schema.arguments().size(); i++) {
    if (holds_tensor(*schema.arguments()[i].type())) return true;
  }
  return false;
}

// method_of returns the function of a method, null for methods of Python's protocols and for static
// ones, whose first argument is not an object of the class.
torch::jit::Function* method_of(const c10::FunctionSchema& schema) {
  if (schema.arguments().empty() || schema.name().rfind("__", 0) == 0) return nullptr;
  auto type = schema.arguments()[0].type()->cast<c10::ClassType>();
  if (!type || !type->name() || type->name()->qualifiedName().rfind(kClasses, 0) != 0) return nullptr;
  auto* function = type->findMethod(schema.name());
  return function != nullptr && function->getSchema() == schema ? function : nullptr;
}

void define(torch::jit::Function& function) {
  static std::vector<std::unique_ptr<torch::Library>> schemas;  // what these register is gone with them
  static std::vector<c10::RegistrationHandleRAII> kernels;
  const auto& schema = function.getSchema();
  const std::string name = schema.arguments()[0].type()->expect<c10::ClassType>()->name()->qualifiedName().substr(kClasses.size());
  const size_t dot = name.find('.');
  const std::string space = name.substr(0, dot), op = space + "::" + name.substr(dot + 1);

  auto returns = schema.returns();
  const bool none = returns.size() == 1 && returns[0].type()->kind() == c10::TypeKind::NoneType;
  if (none) returns.clear();
  schemas.emplace_back(new torch::Library(torch::Library::FRAGMENT, space, {}, "", 0));
  schemas.back()->def(c10::FunctionSchema(op, schema.name(), schema.arguments(), returns));
  for (auto key : {c10::DispatchKey::CPU, c10::DispatchKey::AutogradCPU}) {
    // torch::Library would parse the name, which may be a keyword.
    auto kernel = c10::KernelFunction::makeFromBoxedFunctor(std::make_unique<Method>(function, !none));
    kernels.push_back(c10::Dispatcher::singleton().registerImpl({op, schema.name()}, key, std::move(kernel), {}, nullptr, ""));
  }
}

}  // namespace

bool holds_tensor(const c10::Type& type) {
  if (type.kind() == c10::TypeKind::TensorType) return true;
  for (const auto& inner : type.containedTypes()) {
    if (holds_tensor(*inner)) return true;
  }
  return false;
}

size_t count_methods() { return torch::customClassSchemasForBCCheck().size(); }

void define_methods(size_t first) {
  const auto schemas = torch::customClassSchemasForBCCheck();
  for (size_t i = first; i < schemas.size(); i++) {
    torch::jit::Function* function = method_of(schemas[i]);
    if (function != nullptr && takes_tensors(schemas[i])) define(*function);
  }
}

}  // namespace opassert

void oa_methods(int64_t first) { opassert::define_methods(first); }
