#include <cstdio>

int main() {
  std::puts("holdfast");
  return 0;
}
