// site.h finds the place of a call in the program.
#pragma once

#include <string>

namespace opassert::site {

// start is called after libtorch was loaded, by a thread that may or may not be Python's. It writes the folder of
// Python's own modules and the number of Python's threads to facts, a line each.
void start(std::string& facts);

// place returns the frames of this thread, Python's if it runs any, after a letter for their kind.
std::string place();

void forked();

}  // namespace opassert::site
