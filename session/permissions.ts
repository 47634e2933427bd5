/**
 * The permissions of Deno that running and building kernels takes.
 *
 * @module
 */

/**
 * Flags of `deno run` for the commands that run or build kernels: the same in tasks, workers
 * and archives, and none for the network.
 *
 * Reading and writing are not scoped: `--out`, `--suite` and `--kernel-cache` may name any
 * folder, and a user's suite may have its sources anywhere.
 */
export const PERMISSIONS: readonly string[] = [
  "--allow-read",
  "--allow-write",
  // Drivers and vendors' libraries.
  "--allow-ffi",
  // Compilers, workers, tar.
  "--allow-run",
  // CUDA_HOME, PATH and the like.
  "--allow-env",
  // The CPU's model, the host's memory.
  "--allow-sys",
];
