// A process that a kill test starts and kills:
//
//   kill_worker write STORE full|relaxed store|stream WRITER FIRST_APPEND [DIE_AT]
//   kill_worker read  STORE full|relaxed store|stream FROM
//
// Neither ends by itself, but for a writer that is to die right after its commit DIE_AT, before the
// bell. What they write to standard output: protocol.h.
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <holdfast/random.h>
#include <holdfast/sqlite_store.h>

#include "kill/protocol.h"
#include "kill/slow_vfs.h"
#include "kill/target.h"

namespace holdfast::kill {
namespace {

void say(const std::string& line) {
  // One write: a pipe keeps it whole whatever happens to this process.
  if (::write(STDOUT_FILENO, line.data(), line.size()) < 0) ::_exit(3);
}

void write_forever(Target& target, std::uint32_t writer, std::uint64_t append) {
  Random random = Random::from_system();
  for (;; ++append) {
    std::vector<std::string> texts;
    for (std::uint32_t i = 0; i < chunks_of(append); ++i) {
      texts.push_back(chunk_text({writer, append, i}));
    }
    target.append(writer, append, {texts.begin(), texts.end()});
    say(fmt::format("ack {}\n", append));
    ::usleep(static_cast<useconds_t>(random.below(300)));
  }
}

void read_forever(Target& target, std::uint64_t from) {
  target.follow(from, [](std::uint64_t offset, BytesView bytes) {
    const auto id = parse_chunk(bytes);
    if (!id) {
      say(fmt::format("fail offset {} holds no whole chunk: '{}'\n", offset, bytes));
      return false;
    }
    say(fmt::format("got {} {} {} {}\n", offset, id->writer, id->append, id->index));
    return true;
  });
}

int run(const std::vector<std::string>& args) {
  SlowUnlock unlock;
  if (args.size() > 7) unlock.die_at = static_cast<std::uint32_t>(std::stoul(args[7]));
  register_slow_vfs(unlock);
  auto store = open_sqlite_store(
      args.at(2), {.durability = args.at(3) == "full" ? Durability::kFull : Durability::kRelaxed,
                   .seal_after_bytes = 64u << 10,
                   .wal_checkpoint_bytes = 256u << 10,
                   .vfs = kSlowVfs});
  if (!store) throw std::runtime_error{store.error().message};
  const auto target =
      make_target(args.at(4) == "stream" ? Kind::kStream : Kind::kStore, **store, true);
  say("up\n");
  if (args.at(1) == "write") {
    write_forever(*target, static_cast<std::uint32_t>(std::stoul(args.at(5))),
                  std::stoull(args.at(6)));
  } else {
    read_forever(*target, std::stoull(args.at(5)));
  }
  return 1;
}

}  // namespace
}  // namespace holdfast::kill

int main(int argc, char** argv) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // never outlive the test
  try {
    return holdfast::kill::run({argv, argv + argc});
  } catch (const std::exception& error) {
    holdfast::kill::say(fmt::format("fail {}\n", error.what()));
    return 2;
  }
}
