// Tensors by name in one file that needs no Python: the safetensors format (github.com/huggingface/safetensors).
//
//     8 bytes    length of the header, little-endian
//     header     JSON: {"__metadata__": {key: text}, name: {"dtype": "F32", "shape": [2, 3], "data_offsets": [from,
//     to]}} data       the elements row by row, offsets counted from here, without gaps
//
// Files written here are sealed: the metadata's "crc32" holds checksums of the header (computed with zeros in its own
// place) and of each tensor, so that whatever has changed since is found. Other programs read them like any other file.
#pragma once
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/tensor/tensor.h"

namespace terra {

struct SafeTensors {
  std::vector<std::pair<std::string, Tensor>> tensors;
  std::map<std::string, std::string> metadata;  ///< without the seal

  /// The tensor of that name; undefined if there is none.
  Tensor find(std::string_view name) const;
};

/// The contents of a file. Tensors of any layout are written row by row; the larger their elements, the earlier.
std::string to_safetensors(const SafeTensors& contents);

enum class Seal : uint8_t {
  Optional,  ///< checked where it is there
  Needed,    ///< a file without one is refused
};
/// Reads them back into tensors of their own. Throws Error(RuntimeError) that calls the file `name` and says which byte
/// or tensor is wrong. Takes no more memory than a small multiple of the file's.
SafeTensors from_safetensors(std::string_view bytes, std::string_view name, Seal seal = Seal::Optional);

/// All bytes of a file; written, it replaces what was there. Throws Error(RuntimeError) with the system's reason.
std::string read_bytes(const std::string& path);
void write_bytes(const std::string& path, std::string_view bytes);

}  // namespace terra
