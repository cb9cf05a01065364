// What every command gets: the options that hold for all, the ways out, and the store.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include <holdfast/result.h>
#include <holdfast/sqlite_store.h>
#include <holdfast/stream.h>

#include "cli/output/json.h"
#include "cli/output/output.h"
#include "cli/output/progress.h"
#include "cli/output/style.h"

namespace holdfast::cli {

/// The options of the program itself.
struct Globals {
  std::string store{};
  Durability durability = Durability::kFull;
  bool json = false;
  bool version = false;
};

/// A store and its streams, opened together.
struct OpenStore {
  std::unique_ptr<SqliteStore> store;
  Streams streams;
};

/// What a command does with the store that it opens.
enum class Access : std::uint8_t {
  kRead,    ///< must exist; nothing runs in the background
  kWrite,   ///< must exist
  kCreate,  ///< is made if missing
};

class Context {
 public:
  explicit Context(const Globals& globals);

  [[nodiscard]] bool json() const { return globals_.json; }
  [[nodiscard]] const Globals& globals() const { return globals_; }
  /// Standard output, for what was asked for.
  [[nodiscard]] Output& out() { return out_; }
  /// Standard error, for everything else.
  [[nodiscard]] Output& err() { return err_; }
  [[nodiscard]] const Style& out_style() const { return out_style_; }
  [[nodiscard]] const Style& err_style() const { return err_style_; }

  /// --store, else $HOLDFAST_STORE, else "holdfast.db" here.
  [[nodiscard]] std::string store_path() const;
  [[nodiscard]] Result<OpenStore> open(Access access) const;
  /// Opens a stream; if it is not there, the error says which name comes near.
  [[nodiscard]] Result<Stream> open_stream(OpenStore& opened, std::string_view name) const;

  /// A remark for a person on standard error; nothing with --json.
  void note(std::string_view text);
  /// Says what was done on standard output: the text, or with --json the object.
  void report(std::string_view text, const JsonObject& object);
  /// A meter for long work; nothing is shown with --json unless `asked`.
  [[nodiscard]] ProgressMeter::Mode meter_mode(bool asked = false) const;

 private:
  const Globals& globals_;
  Output out_;
  Output err_;
  Style out_style_;
  Style err_style_;
};

}  // namespace holdfast::cli
