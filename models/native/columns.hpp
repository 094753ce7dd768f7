// Columns between Python and C++.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <vector>

namespace certree {

template <typename T>
using Column = nanobind::ndarray<const T, nanobind::ndim<1>, nanobind::c_contig, nanobind::device::cpu>;

template <typename T>
std::vector<T> copy(const Column<T>& column) {
  return {column.data(), column.data() + column.size()};
}

template <typename T>
nanobind::ndarray<nanobind::numpy, T> to_numpy(const std::vector<T>& values, std::vector<size_t> shape) {
  T* data = new T[values.size()];
  std::copy(values.begin(), values.end(), data);
  nanobind::capsule owner(data, [](void* p) noexcept { delete[] static_cast<T*>(p); });
  return nanobind::ndarray<nanobind::numpy, T>(data, shape.size(), shape.data(), owner);
}

}  // namespace certree
