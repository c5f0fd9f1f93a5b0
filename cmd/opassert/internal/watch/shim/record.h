// record.h writes the arguments of a call, without the contents of tensors, in the
// form of a file of cases: asserts/suite/internal/sample reads them.
#pragma once

#include <ATen/core/function_schema.h>
#include <ATen/core/stack.h>

#include <string>

namespace opassert::record {

// text returns the names and values of the arguments, each followed by US, or "name=value" of the numbers among them. It
// throws if a file of cases cannot express one.
std::string text(const c10::FunctionSchema& schema, const torch::jit::Stack& stack, bool numbers);

// keep sends a text to opassert if it is one of the calls that are kept of an operator, at most a number of them: those with
// the lowest hashes, so that all processes and threads keep the same, in any order of calls.
void keep(int64_t op, const std::string& text, size_t most);

}  // namespace opassert::record
