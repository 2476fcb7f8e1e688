// Keeps handlers of signals away from code that writes below its stack pointer.
#pragma once
#include <pthread.h>
#include <signal.h>

namespace terra::cpu {

/// While it lives no asynchronous signal is handled on this thread. oneDNN's generated products for AVX-512 keep values
/// below the stack pointer, beyond the 128 bytes that a handler leaves alone: what they read back after one were
/// addresses that they then wrote to. Two system calls, a third of a microsecond: for calls of ten and more.
class HeldSignals {
 public:
  HeldSignals() {
    sigset_t asynchronous;
    sigfillset(&asynchronous);
    for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT}) sigdelset(&asynchronous, fault);
    pthread_sigmask(SIG_BLOCK, &asynchronous, &before_);
  }
  ~HeldSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  HeldSignals(const HeldSignals&) = delete;
  HeldSignals& operator=(const HeldSignals&) = delete;

 private:
  sigset_t before_;
};

}  // namespace terra::cpu
