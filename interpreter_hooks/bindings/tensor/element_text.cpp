// Elements of a tensor as text: one width and one notation for all of them, chosen from those that will be shown.
#include <cinttypes>
#include <cmath>
#include <cstdio>
#include <vector>

#include "engine/tensor/transfer.h"
#include "interpreter_hooks/bindings/tensor/printing.h"
#include "interpreter_hooks/bindings/tensor/scalars.h"
#include "kernels/abi/element.h"

namespace terra::hooks {

PrintOptions print_options;

namespace {

/// A sub-tensor: where it starts and which dimension is its first.
struct Part {
  const TensorImpl& tensor;
  size_t dim;
  const char* data;

  int64_t size() const { return tensor.sizes[dim]; }
  size_t rank() const { return tensor.sizes.size() - dim; }
  Part operator[](int64_t i) const {
    return {tensor, dim + 1, data + i * tensor.strides[dim] * static_cast<int64_t>(size_of(tensor.dtype))};
  }
  Scalar element() const { return load_element(data, tensor.dtype); }
};

/// Calls visit(i) for the indices that are shown of n, and gap() where some are left out.
template <class Visit, class Gap>
void for_shown(int64_t n, bool summarize, Visit visit, Gap gap) {
  const int64_t edge = print_options.edge_items;
  if (!summarize || n <= 2 * edge) {
    for (int64_t i = 0; i < n; ++i) visit(i);
    return;
  }
  for (int64_t i = 0; i < edge; ++i) visit(i);
  gap();
  for (int64_t i = n - edge; i < n; ++i) visit(i);
}

void collect(const Part& part, bool summarize, std::vector<Scalar>& out) {
  if (part.rank() == 0) {
    out.push_back(part.element());
    return;
  }
  for_shown(
      part.size(), summarize, [&](int64_t i) { collect(part[i], summarize, out); }, [] {});
}

template <class... A>
std::string printed(const char* format, A... values) {
  char buffer[400];
  const int n = std::snprintf(buffer, sizeof buffer, format, values...);
  return {buffer, static_cast<size_t>(n)};
}

/// Python's float formatting: C's, but for the names of the values that aren't finite.
std::string fixed(double value, int precision) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  return printed("%.*f", precision, value);
}
std::string exponent(double value, int precision) {
  return std::isfinite(value) ? printed("%.*e", precision, value) : fixed(value, 0);
}

/// Of real numbers.
class RealFormatter {
 public:
  RealFormatter(DType dtype, const std::vector<Scalar>& values) : floating_(is_floating(dtype)) {
    if (!floating_) {
      for (const Scalar& v : values) widen(plain(v));
      return;
    }
    double least = INFINITY, most = 0;
    std::vector<double> numbers;
    for (const Scalar& v : values) {
      const double x = v.to_double();
      if (!std::isfinite(x) || x == 0) continue;
      numbers.push_back(x);
      least = std::min(least, std::abs(x));
      most = std::max(most, std::abs(x));
      integers_ &= x == std::ceil(x);
    }
    if (numbers.empty()) return;
    scientific_ = print_options.scientific.value_or(most / least > 1000 || most > 1e8 || least < 1e-4);
    for (double x : numbers) {
      if (scientific_)
        widen(exponent(x, print_options.precision));
      else if (integers_)
        widen(fixed(x, 0) + ".");
      else
        widen(fixed(x, print_options.precision));
    }
  }

  size_t width() const { return width_; }

  std::string operator()(const Scalar& value) const {
    std::string text = shown(value);
    return text.size() < width_ ? std::string(width_ - text.size(), ' ') + text : text;
  }

 private:
  static std::string plain(const Scalar& v) {
    if (v.kind() == Scalar::Kind::Bool) return v.to_bool() ? "True" : "False";
    return v.kind() == Scalar::Kind::Unsigned ? printed("%" PRIu64, v.to_unsigned()) : printed("%" PRId64, v.to_int());
  }
  std::string shown(const Scalar& value) const {
    if (!floating_) return plain(value);
    const double x = value.to_double();
    if (scientific_) return exponent(x, print_options.precision);
    if (!integers_) return fixed(x, print_options.precision);
    return std::isfinite(x) ? fixed(x, 0) + "." : fixed(x, 0);
  }
  void widen(const std::string& text) { width_ = std::max(width_, text.size()); }

  bool floating_;
  bool integers_ = true;
  bool scientific_ = false;
  size_t width_ = 1;
};

/// Complex numbers are two real ones: each part has a format of its own.
class Formatter {
 public:
  Formatter(DType dtype, const std::vector<Scalar>& values)
      : complex_(is_complex(dtype)),
        real_(real_dtype_of(dtype), complex_ ? parts(values, false) : values),
        imag_(real_dtype_of(dtype), complex_ ? parts(values, true) : std::vector<Scalar>()) {}

  size_t width() const { return real_.width() + (complex_ ? imag_.width() + 1 : 0); }

  std::string operator()(const Scalar& value) const {
    if (!complex_) return real_(value);
    const std::string imag = unpadded(imag_(Scalar(value.imag())));
    const bool has_sign = imag.starts_with('-') || imag.starts_with('+');
    return real_(Scalar(value.to_double())) + (has_sign ? "" : "+") + imag + "j";
  }

 private:
  static std::vector<Scalar> parts(const std::vector<Scalar>& values, bool imaginary) {
    std::vector<Scalar> out;
    for (const Scalar& v : values) out.push_back(Scalar(imaginary ? v.imag() : v.to_double()));
    return out;
  }
  static std::string unpadded(const std::string& text) { return text.substr(text.find_first_not_of(' ')); }

  bool complex_;
  RealFormatter real_, imag_;
};

std::string vector_text(const Part& part, size_t indent, bool summarize, const Formatter& format) {
  const int64_t room = print_options.line_width - static_cast<int64_t>(indent);
  const int64_t per_line = std::max<int64_t>(
      1, static_cast<int64_t>(std::floor(static_cast<double>(room) / static_cast<double>(format.width() + 2))));
  std::string text = "[";
  int64_t count = 0;
  const auto append = [&](const std::string& element) {
    if (count > 0) text += count % per_line == 0 ? ",\n" + std::string(indent + 1, ' ') : ", ";
    text += element;
    ++count;
  };
  if (summarize && print_options.edge_items == 0)
    append("...");
  else
    for_shown(
        part.size(), summarize, [&](int64_t i) { append(format(part[i].element())); }, [&] { append(" ..."); });
  return text + "]";
}

std::string part_text(const Part& part, size_t indent, bool summarize, const Formatter& format) {
  if (part.rank() == 0) return format(part.element());
  if (part.rank() == 1) return vector_text(part, indent, summarize, format);
  std::string text = "[";
  const std::string between = "," + std::string(part.rank() - 1, '\n') + std::string(indent + 1, ' ');
  bool first = true;
  const auto append = [&](const std::string& row) {
    text += (first ? "" : between) + row;
    first = false;
  };
  for_shown(
      part.size(), summarize, [&](int64_t i) { append(part_text(part[i], indent + 1, summarize, format)); },
      [&] { append("..."); });
  return text + "]";
}

}  // namespace

std::string elements_text(const TensorImpl& tensor, size_t indent) {
  if (tensor.numel == 0) return "[]";
  const bool summarize = static_cast<double>(tensor.numel) > print_options.threshold;
  const Tensor here = to_host(kept(const_cast<TensorImpl*>(&tensor)));
  const Part all{*here, 0, static_cast<const char*>(here->data())};
  std::vector<Scalar> shown;
  collect(all, summarize, shown);
  return part_text(all, indent, summarize, Formatter(tensor.dtype, shown));
}

}  // namespace terra::hooks
