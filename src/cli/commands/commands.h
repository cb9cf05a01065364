// The commands, each made with its options; program.cpp hangs them into the tree.
#pragma once

#include <memory>

#include "cli/args/command.h"

namespace holdfast::cli {

using CommandPtr = std::unique_ptr<Command>;

[[nodiscard]] CommandPtr stream_create_command();
[[nodiscard]] CommandPtr stream_append_command();
[[nodiscard]] CommandPtr stream_read_command();
[[nodiscard]] CommandPtr stream_follow_command();
[[nodiscard]] CommandPtr stream_tail_command();
[[nodiscard]] CommandPtr stream_info_command();
[[nodiscard]] CommandPtr stream_ls_command();
[[nodiscard]] CommandPtr stream_close_command();
[[nodiscard]] CommandPtr stream_trim_command();
[[nodiscard]] CommandPtr stream_retain_command();
[[nodiscard]] CommandPtr stream_fork_command();
[[nodiscard]] CommandPtr stream_rm_command();
[[nodiscard]] CommandPtr stream_import_command();
[[nodiscard]] CommandPtr stream_export_command();

[[nodiscard]] CommandPtr store_info_command();
[[nodiscard]] CommandPtr store_check_command();
[[nodiscard]] CommandPtr store_seal_command();
[[nodiscard]] CommandPtr store_compact_command();
[[nodiscard]] CommandPtr store_backup_command();

[[nodiscard]] CommandPtr serve_command();
/// Both print from the tree that `root` tops.
[[nodiscard]] CommandPtr completion_command(const Command& root);
[[nodiscard]] CommandPtr man_command(const Command& root);

}  // namespace holdfast::cli
