// Why a frame is not captured, a recording ended or a run fell back: one number, one sentence, one hint each.
#pragma once
#include <string>

namespace terra::capture {

/// The numbers are shown to people and quoted in reports: append, never renumber.
enum class Reason : int {
  None = 0,
  FrameRaised = 1,
  NotEligible = 2,
  NoTensorWork = 3,
  UnmodelledCall = 4,
  UnmodelledOpcode = 5,
  UnmodelledOperator = 6,
  UnmodelledAttribute = 7,
  UnmodelledIteration = 8,
  UnmodelledContainer = 9,
  UnknownOrigin = 10,
  Finalizer = 11,
  HiddenPythonCode = 12,
  FreshEscapes = 13,
  GeneratorEscapes = 14,
  Observed = 15,
  TooLong = 16,
  OutOfStep = 17,
  KeepsMissing = 18,
  TensorOpaque = 19,
  GraphRefused = 20,
  Import = 21,
  ScalarFromTensor = 22,
  OverwrittenFact = 23,
  OtherThread = 24,
  Exported = 25,
  GradientState = 26,
  Internal = 27,
  OpaqueRaise = 28,
  DoesNotPay = 29,
  Differs = 30,
  CallsItself = 31,
  Count_
};

struct ReasonText {
  const char* text;
  const char* hint;
  const char* example = "";  ///< a line of a program that ends with it; "-" where no program can
};

const ReasonText& reason_text(Reason reason);

/// A reason together with what it is about and where the program was.
struct Stop {
  Reason reason = Reason::None;
  std::string detail;  ///< "time.time"
  std::string file;
  int line = 0;

  /// "calls something that is not modelled: time.time".
  std::string text() const;
};

}  // namespace terra::capture
