#include "service/query/client_accounts.hpp"

#include <utility>

namespace pixhist {

ClientAccounts::Ptr ClientAccounts::of(const std::string& routing_id) {
  Ptr& account = accounts_[routing_id];
  if (!account) account = std::make_shared<ClientAccount>();
  return account;
}

SharedBytes ClientAccounts::counted(const Ptr& account, SharedBytes bytes) {
  struct Unread {
    Unread(Ptr of, SharedBytes what) : account(std::move(of)), bytes(std::move(what)) {
      account->unread_.fetch_add(bytes.bytes.size(), std::memory_order_relaxed);
    }
    Unread(const Unread&) = delete;  // counted once
    Unread& operator=(const Unread&) = delete;
    ~Unread() {
      const std::size_t size = bytes.bytes.size();
      bytes.owner.reset();  // first, so that whoever sees the account also finds the memory free
      account->unread_.fetch_sub(size, std::memory_order_release);
    }
    Ptr account;
    SharedBytes bytes;
  };
  const auto span = bytes.bytes;
  return {std::make_shared<Unread>(account, std::move(bytes)), span};
}

void ClientAccounts::forget_idle() {
  std::erase_if(accounts_, [](const auto& entry) {
    const ClientAccount& account = *entry.second;
    return account.requests() == 0 && account.bytes() == 0;
  });
}

}  // namespace pixhist
