#include "rt/deadlines.h"

namespace holdfast::rt {

Due::~Due() { Deadlines::remove(*this); }

Deadlines::Deadlines(Loop& loop, std::chrono::milliseconds wait)
    : wait_{wait}, timer_{loop, [this] { fire(); }} {}

Deadlines::~Deadlines() {
  while (first_ != nullptr) unlink(*first_);
}

void Deadlines::add(Due& item) {
  remove(item);
  item.queue_ = this;
  item.at_ = Loop::now() + wait_;
  item.previous_ = last_;
  item.next_ = nullptr;
  (last_ != nullptr ? last_->next_ : first_) = &item;
  last_ = &item;
  // A timer that is armed fires no later than needed: it was set for something older.
  if (!timer_.armed()) timer_.arm(item.at_);
}

void Deadlines::remove(Due& item) {
  if (item.queue_ != nullptr) item.queue_->unlink(item);
}

void Deadlines::unlink(Due& item) {
  (item.previous_ != nullptr ? item.previous_->next_ : first_) = item.next_;
  (item.next_ != nullptr ? item.next_->previous_ : last_) = item.previous_;
  item.queue_ = nullptr;
  item.previous_ = nullptr;
  item.next_ = nullptr;
  // The timer stays armed: setting and cancelling it for each request would cost more than the one
  // wake-up for nothing when the queue has become empty.
}

void Deadlines::fire() {
  const SteadyTime now = Loop::now();
  while (first_ != nullptr && first_->at_ <= now) {
    Due& item = *first_;
    unlink(item);
    item.due();
  }
  if (first_ != nullptr) timer_.arm(first_->at_);
}

}  // namespace holdfast::rt
