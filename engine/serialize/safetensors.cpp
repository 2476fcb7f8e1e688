#include "engine/serialize/safetensors.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

#include <zlib.h>
#include <nlohmann/json.hpp>

#include "engine/errors/errors.h"
#include "engine/tensor/transfer.h"
#include "kernels/abi/view.h"

namespace terra {
namespace {

using nlohmann::json;

/// By DType. The format has of complex numbers only C64; other programs refuse a tensor of the others.
constexpr std::string_view kNames[kDTypeCount] = {"BOOL", "U8",   "I8",  "I16", "I32", "I64",  "U16", "U32", "U64",
                                                  "F16",  "BF16", "F32", "F64", "C32", "BC32", "C64", "C128"};
constexpr std::string_view kMetadata = "__metadata__", kSeal = "crc32";
constexpr size_t kLengthBytes = 8, kDigits = 8;

uint32_t checksum(std::string_view bytes) {
  return static_cast<uint32_t>(crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}
std::string digits(uint32_t sum) { return fmt::format("{:08x}", sum); }

/// Where the header's own checksum stands in it.
size_t seal_at(std::string_view header) {
  const std::string start = fmt::format("\"{}\":\"", kSeal);
  const size_t at = header.find(start);
  return at == std::string_view::npos || at + start.size() + kDigits > header.size() ? std::string_view::npos
                                                                                     : at + start.size();
}

// ---- writing -------------------------------------------------------------------------------------------------------

void copy_rows(const TensorImpl& t, size_t dim, const char* from, char*& to) {
  const size_t size = size_of(t.dtype);
  if (dim == t.sizes.size()) {
    std::memcpy(to, from, size);
    to += size;
    return;
  }
  for (int64_t i = 0; i < t.sizes[dim]; ++i)
    copy_rows(t, dim + 1, from + i * t.strides[dim] * static_cast<int64_t>(size), to);
}

std::string elements_of(const Tensor& anywhere) {
  const Tensor here = to_host(anywhere);
  const TensorImpl& t = *here;
  std::string bytes(static_cast<size_t>(t.numel) * size_of(t.dtype), '\0');
  char* to = bytes.data();
  if (t.numel == 0) return bytes;
  if (t.is_contiguous())
    std::memcpy(to, t.data(), bytes.size());
  else
    copy_rows(t, 0, static_cast<const char*>(t.data()), to);
  return bytes;
}

// ---- reading -------------------------------------------------------------------------------------------------------

class Reader {
 public:
  Reader(std::string_view bytes, std::string_view name) : bytes_(bytes), name_(name) {}

  SafeTensors run(Seal seal) {
    read_header();
    const json fields = parse_header();
    SafeTensors out;
    for (const auto& [key, value] : fields.items()) {
      if (key == kMetadata)
        read_metadata(value, out.metadata);
      else
        entries_.push_back(entry(key, value));
    }
    std::stable_sort(entries_.begin(), entries_.end(), [](const Entry& a, const Entry& b) {
      return a.begin != b.begin ? a.begin < b.begin : a.end < b.end;
    });
    check_no_gaps();
    check_seal(out.metadata, seal);
    for (const Entry& e : entries_) out.tensors.emplace_back(e.name, tensor(e));
    return out;
  }

 private:
  struct Entry {
    std::string name;
    DType dtype;
    Dims sizes;
    size_t begin, end;
  };

  template <class... A>
  [[noreturn]] void damaged(fmt::format_string<A...> what, A&&... args) const {
    fail(ErrorKind::RuntimeError, "{} is damaged or no safetensors file: {}", name_,
         fmt::format(what, std::forward<A>(args)...));
  }

  void read_header() {
    if (bytes_.size() < kLengthBytes) damaged("it ends at byte {}, within the length of the header", bytes_.size());
    uint64_t length = 0;
    for (size_t i = kLengthBytes; i-- > 0;) length = length << 8 | static_cast<unsigned char>(bytes_[i]);
    if (length > bytes_.size() - kLengthBytes)
      damaged("the header should reach to byte {} and the file ends at byte {}",
              length > SIZE_MAX - kLengthBytes ? length : length + kLengthBytes, bytes_.size());
    header_ = bytes_.substr(kLengthBytes, length);
    data_ = bytes_.substr(kLengthBytes + length);
  }

  json parse_header() const {
    try {
      json fields = json::parse(header_);
      if (!fields.is_object()) damaged("the header at byte {} is no JSON object", kLengthBytes);
      return fields;
    } catch (const json::parse_error& e) {
      damaged("the header is no JSON from byte {} on", kLengthBytes + (e.byte ? e.byte - 1 : 0));
    } catch (const json::exception&) {
      damaged("the header at byte {} has a number that no JSON reader takes", kLengthBytes);
    }
  }

  void read_metadata(const json& value, std::map<std::string, std::string>& metadata) const {
    if (!value.is_object()) damaged("its metadata are no JSON object");
    for (const auto& [key, text] : value.items()) {
      if (!text.is_string()) damaged("'{}' among its metadata is no text", key);
      metadata[key] = text.get<std::string>();
    }
  }

  size_t number(const json& value, const std::string& tensor) const {
    if (!value.is_number_unsigned()) damaged("tensor '{}' has sizes or offsets that are no numbers", tensor);
    return value.get<size_t>();
  }

  Entry entry(const std::string& name, const json& value) const {
    for (const char* key : {"dtype", "shape", "data_offsets"})
      if (!value.is_object() || !value.contains(key)) damaged("tensor '{}' has no '{}'", name, key);
    const json &dtype = value["dtype"], &shape = value["shape"], &offsets = value["data_offsets"];
    const std::string text = dtype.is_string() ? dtype.get<std::string>() : dtype.dump();
    const auto known = std::find(std::begin(kNames), std::end(kNames), text);
    if (known == std::end(kNames)) damaged("tensor '{}' is of dtype {}, which Terra does not have", name, text);
    Entry e{name, static_cast<DType>(known - std::begin(kNames)), {}, 0, 0};
    if (!shape.is_array() || shape.size() > static_cast<size_t>(kMaxRank)) damaged("tensor '{}' has no shape", name);
    int64_t bytes = static_cast<int64_t>(size_of(e.dtype));
    bool is_empty = false;
    for (const json& size : shape) {
      e.sizes.push_back(static_cast<int64_t>(number(size, name)));
      is_empty = is_empty || e.sizes.back() == 0;
      if (e.sizes.back() < 0 || __builtin_mul_overflow(bytes, std::max(e.sizes.back(), int64_t{1}), &bytes))
        damaged("tensor '{}' is larger than any memory", name);
    }
    if (is_empty) bytes = 0;
    if (!offsets.is_array() || offsets.size() != 2) damaged("tensor '{}' has no two offsets", name);
    e.begin = number(offsets[0], name);
    e.end = number(offsets[1], name);
    if (e.end < e.begin || e.end > data_.size())
      damaged("tensor '{}' should reach to byte {} and the file ends at byte {}", name, place(e.end), bytes_.size());
    if (e.end - e.begin != static_cast<size_t>(bytes))
      damaged("tensor '{}' has {} bytes where its shape and dtype need {}", name, e.end - e.begin, bytes);
    return e;
  }

  /// Of a byte of the data in the file.
  size_t place(size_t at) const { return bytes_.size() - data_.size() + at; }

  void check_no_gaps() const {
    size_t at = 0;
    for (const Entry& e : entries_) {
      if (e.begin != at) damaged("tensor '{}' begins at byte {}, not {}", e.name, place(e.begin), place(at));
      at = e.end;
    }
    if (at != data_.size()) damaged("its tensors end at byte {} and the file at byte {}", place(at), bytes_.size());
  }

  void check_seal(std::map<std::string, std::string>& metadata, Seal seal) const {
    const auto found = metadata.find(std::string(kSeal));
    if (found == metadata.end()) {
      if (seal == Seal::Needed) damaged("it has no checksums");
      return;
    }
    const std::string sums = std::move(found->second);
    metadata.erase(found);
    const size_t at = seal_at(header_);
    std::string blank(header_);
    if (at != std::string::npos) blank.replace(at, kDigits, kDigits, '0');
    if (sums.size() != (kDigits + 1) * (entries_.size() + 1) - 1 || sums.substr(0, kDigits) != digits(checksum(blank)))
      damaged("the header, bytes {} to {}, is not what was written", kLengthBytes, place(0));
    for (size_t i = 0; i < entries_.size(); ++i) {
      const Entry& e = entries_[i];
      const auto bytes = data_.substr(e.begin, e.end - e.begin);
      if (sums.substr((kDigits + 1) * (i + 1), kDigits) != digits(checksum(bytes)))
        damaged("the elements of tensor '{}', bytes {} to {}, are not what was written", e.name, place(e.begin),
                place(e.end));
    }
  }

  Tensor tensor(const Entry& e) const {
    const std::string_view bytes = data_.substr(e.begin, e.end - e.begin);
    if (e.dtype == DType::Bool && bytes.find_first_not_of(std::string_view("\0\1", 2)) != std::string_view::npos)
      damaged("tensor '{}' has elements that are neither true nor false", e.name);
    Tensor t = Tensor::empty(e.sizes, e.dtype);
    if (!bytes.empty()) std::memcpy(t->data(), bytes.data(), bytes.size());
    return t;
  }

  const std::string_view bytes_, name_;
  std::string_view header_, data_;
  std::vector<Entry> entries_;
};

}  // namespace

Tensor SafeTensors::find(std::string_view name) const {
  for (const auto& [key, tensor] : tensors)
    if (key == name) return tensor;
  return {};
}

std::string to_safetensors(const SafeTensors& contents) {
  std::vector<const std::pair<std::string, Tensor>*> order;
  for (const auto& named : contents.tensors) order.push_back(&named);
  std::stable_sort(order.begin(), order.end(), [](const auto* a, const auto* b) {
    return size_of(a->second.dtype()) > size_of(b->second.dtype());
  });
  nlohmann::ordered_json entries = nlohmann::ordered_json::object(), metadata = entries, header = entries;
  std::string sums(kDigits, '0'), data;
  for (const auto* named : order) {
    const auto& [name, tensor] = *named;
    const std::string bytes = elements_of(tensor);
    entries[name] = {{"dtype", kNames[static_cast<int>(tensor.dtype())]},
                     {"shape", std::vector<int64_t>(tensor.sizes().begin(), tensor.sizes().end())},
                     {"data_offsets", {data.size(), data.size() + bytes.size()}}};
    data += bytes;
    sums += " " + digits(checksum(bytes));
  }
  metadata[std::string(kSeal)] = sums;
  for (const auto& [key, text] : contents.metadata) metadata[key] = text;
  header[std::string(kMetadata)] = std::move(metadata);
  header.update(entries);
  std::string text = header.dump(-1, ' ', false, json::error_handler_t::replace);
  text.resize((text.size() + 7) / 8 * 8, ' ');
  text.replace(seal_at(text), kDigits, digits(checksum(text)));
  std::string length;
  for (size_t i = 0; i < kLengthBytes; ++i) length += static_cast<char>(text.size() >> (8 * i) & 0xff);
  return length + text + data;
}

SafeTensors from_safetensors(std::string_view bytes, std::string_view name, Seal seal) {
  return Reader(bytes, name).run(seal);
}

std::string read_bytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream bytes;
  if (file && file.peek() != std::ifstream::traits_type::eof()) bytes << file.rdbuf();
  check(file.is_open() && !file.bad() && !bytes.bad(), "{} can't be read: {}", path, std::strerror(errno));
  return std::move(bytes).str();
}

void write_bytes(const std::string& path, std::string_view bytes) {
  std::ofstream file(path, std::ios::binary);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  file.close();
  check(!file.fail(), "{} can't be written: {}", path, std::strerror(errno));
}

}  // namespace terra
