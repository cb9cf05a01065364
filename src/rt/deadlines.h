// Deadlines for many things with few timers: things that wait equally long stand in one queue, in
// the order in which they fall due, and one timer watches the first.
//
//   Deadlines idle{loop, 60s};
//   idle.add(connection);      // due 60 s from now; adding again begins anew
//   idle.remove(connection);   // O(1)
//
// A queue that stays empty makes no wake-ups. Loop thread only.
#pragma once

#include <chrono>

#include "rt/loop.h"

namespace holdfast::rt {

class Deadlines;

/// Something that can be due. It leaves its queue when it is destroyed.
class Due {
 public:
  Due() = default;
  Due(const Due&) = delete;
  Due& operator=(const Due&) = delete;
  virtual ~Due();
  /// Its time is over; it is out of the queue already. It may destroy itself.
  virtual void due() = 0;

 private:
  friend class Deadlines;
  Deadlines* queue_ = nullptr;
  Due* previous_ = nullptr;
  Due* next_ = nullptr;
  SteadyTime at_{};
};

class Deadlines {
 public:
  /// All that is added falls due after `wait`.
  Deadlines(Loop& loop, std::chrono::milliseconds wait);
  ~Deadlines();
  Deadlines(const Deadlines&) = delete;
  Deadlines& operator=(const Deadlines&) = delete;

  void add(Due& item);
  /// Takes it out of this or any other queue.
  static void remove(Due& item);
  [[nodiscard]] bool empty() const { return first_ == nullptr; }

 private:
  void fire();
  void unlink(Due& item);

  const std::chrono::milliseconds wait_;
  Timer timer_;
  Due* first_ = nullptr;
  Due* last_ = nullptr;
};

}  // namespace holdfast::rt
