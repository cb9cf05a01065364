// What a user's program does with the installed package: makes ids, and reads an error.
#include <cstdio>

#include <holdfast/ids.h>
#include <holdfast/random.h>
#include <holdfast/result.h>

int main() {
  holdfast::Random random{7};
  const auto id = holdfast::Ulid::make(1'700'000'000'000, random);
  std::printf("%s %s\n", id.text().c_str(),
              holdfast::Ulid::parse("?").has_value() ? "bad" : "good");
  return 0;
}
