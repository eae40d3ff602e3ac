#pragma once
// Where large host buffers come from, and the account of what is held.
// Thread safety: allocate and release may be called from any thread. A HostMemory outlives its blocks.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>
#include <span>
#include <string>
#include <utility>

namespace pixhist {

/// host: pageable; pinned: page-locked for the device's copy engine; device: the accelerator's own.
enum class MemoryKind : std::uint8_t { host, pinned, device };
inline constexpr std::size_t memory_kind_count = 3;

/// Bytes held now, by kind. `status`, the metrics and the test of --check-config read it.
class MemoryAccount {
 public:
  void add(MemoryKind kind, std::size_t bytes) noexcept {
    at(kind).fetch_add(bytes, std::memory_order_relaxed);
  }
  void remove(MemoryKind kind, std::size_t bytes) noexcept {
    at(kind).fetch_sub(bytes, std::memory_order_relaxed);
  }
  std::size_t bytes(MemoryKind kind) const noexcept {
    return held_[static_cast<std::size_t>(kind)].load(std::memory_order_relaxed);
  }

 private:
  std::atomic<std::size_t>& at(MemoryKind kind) noexcept { return held_[static_cast<std::size_t>(kind)]; }
  std::array<std::atomic<std::size_t>, memory_kind_count> held_{};
};

class HostMemory;

/// Owner of one block, page-aligned. Move-only; gives the block back to its
/// HostMemory.
class HostBlock {
 public:
  HostBlock() = default;
  HostBlock(HostMemory& owner, std::span<std::byte> bytes) : owner_(&owner), bytes_(bytes) {}
  HostBlock(HostBlock&& other) noexcept
      : owner_(std::exchange(other.owner_, nullptr)), bytes_(std::exchange(other.bytes_, {})) {}
  /// Gives back the block held so far at once, not when `other` goes.
  HostBlock& operator=(HostBlock&& other) noexcept {
    HostBlock incoming(std::move(other));
    std::swap(owner_, incoming.owner_);
    std::swap(bytes_, incoming.bytes_);
    return *this;
  }
  ~HostBlock();

  /// Gives the bytes up without giving them back: the caller makes a new owner of them.
  std::span<std::byte> disown() noexcept {
    owner_ = nullptr;
    return std::exchange(bytes_, {});
  }

  std::byte* data() const { return bytes_.data(); }
  std::size_t size() const { return bytes_.size(); }
  std::span<std::byte> bytes() const { return bytes_; }
  template <class T>
  std::span<T> as() const {
    return {reinterpret_cast<T*>(bytes_.data()), bytes_.size() / sizeof(T)};
  }

 private:
  HostMemory* owner_ = nullptr;
  std::span<std::byte> bytes_;
};

/// Page-locking was refused: which limit, and what to do.
class PinningRefused : public std::bad_alloc {
 public:
  explicit PinningRefused(std::string message) : message_(std::move(message)) {}
  const char* what() const noexcept override { return message_.c_str(); }

 private:
  std::string message_;
};

/// populate: touch every page now, so that no page fault comes later in a data path.
enum class Paging : std::uint8_t { on_demand, populate };

class HostMemory {
 public:
  virtual ~HostMemory() = default;
  /// Zeroed, page-aligned; 0 bytes give an empty block. Throws std::bad_alloc; for pinned memory an error
  /// naming the limit and the fix.
  virtual HostBlock allocate(std::size_t bytes, Paging paging) = 0;
  /// For who writes every byte: populated, and it may hold what an earlier user left there.
  virtual HostBlock allocate_to_overwrite(std::size_t bytes) { return allocate(bytes, Paging::populate); }
  virtual MemoryKind kind() const = 0;

 private:
  friend class HostBlock;
  virtual void release(std::span<std::byte> bytes) noexcept = 0;
};

inline HostBlock::~HostBlock() {
  if (owner_ != nullptr) owner_->release(bytes_);
}

/// Anonymous private mappings.
class PageableMemory final : public HostMemory {
 public:
  explicit PageableMemory(MemoryAccount& account) : account_(account) {}
  HostBlock allocate(std::size_t bytes, Paging paging) override;
  MemoryKind kind() const override { return MemoryKind::host; }

 private:
  void release(std::span<std::byte> bytes) noexcept override;
  MemoryAccount& account_;
};

}  // namespace pixhist
