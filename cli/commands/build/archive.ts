/**
 * `mnkbench build --pack`: one archive with everything that a box without a network needs.
 *
 * It holds this machine's Deno, the packages, the sources, the kernels built for the
 * wanted architectures, and a launcher: `tar xf mnkbench.tar.xz && mnkbench/mnkbench bench`.
 *
 * @module
 */

import { dirname, join, resolve } from "node:path";
import { manifestIn } from "../../../bench/device/cache_entry.ts";
import { makeTemporary } from "../../../bench/files/lock.ts";
import { privateFolder } from "../../../bench/files/private_folder.ts";
import { replaceBy } from "../../../bench/files/replace.ts";
import {
  ProgramError,
  type ProgramRun,
  runProgram,
} from "../../../bench/files/run_program.ts";
import { EXIT, UserError } from "../../../bench/model/errors.ts";
import { sourceVersion } from "../../../session/commit.ts";
import {
  COMMIT_FILE,
  HOME,
  isPackage,
  kernelCacheOf,
  NAME,
  PERMISSIONS,
  RESULTS,
} from "../../../session/home.ts";
import { Interrupt, logLine, printLine } from "../../terminal/output.ts";

/** 45 MB: files are often handed to a box through a channel that takes this beside the tree. */
export const MOST_BYTES = 43 * 2 ** 20;

/** The parts of the program in an archive. Docs stay, and of recorded results all but their CSVs. */
const SOURCES = [
  "backends",
  "bench",
  "cli",
  "emulator",
  // What `init` copies.
  "examples/c-kernel",
  "examples/ci",
  "examples/cuda-kernel",
  "kernels",
  "peers",
  "report",
  "session",
  "suites",
  "mod.ts",
  "deno.json",
  "deno.lock",
  "LICENSE",
];

/**
 * Packages that stay too: those of `plot`, whose canvas alone would fill the archive, and
 * those of tests. CSVs are drawn where they are copied to.
 */
const LEFT_OUT = [
  "@napi-rs/canvas",
  "chart.js",
  "dejavu-fonts-ttf",
  "esbuild",
  "fast-check",
  "playwright-core",
  "typescript",
  "@valibot/to-json-schema",
];

/** The content of an archive. */
export interface Contents {
  readonly arch: readonly string[];
  readonly kernelCache: string | undefined;
  /** Entries of the kernel cache; missing means all that are for `arch`. */
  readonly entries?: readonly string[];
}

/**
 * Makes the archive `out`. Ctrl-C leaves neither the archive's draft nor what was gathered for it.
 *
 * @throws {UserError} If it was stopped, is too large or cannot be written.
 */
export async function pack(out: string, contents: Contents): Promise<void> {
  const path = resolve(out);
  using interrupt = new Interrupt();
  const { signal: stop } = interrupt;
  using stage = makeTemporary(`${NAME}-pack-`);
  const folder = join(stage.path, NAME);
  await gather(folder, contents, stop);
  logLine("Compressing, which takes about a minute");
  const parts = await partsOf(folder);
  await replaceBy(path, async (draft) => {
    await compress(stage.path, { out: draft, stop });
    const { size } = await Deno.stat(draft);
    if (size <= MOST_BYTES) return;
    throw new UserError(
      `The archive would take ${mebibytes(size)}, more than ${
        mebibytes(MOST_BYTES)
      }; name fewer kernels with --suite or --kernel; before compression: ${parts}`,
      EXIT.failed,
    );
  });
  printLine(path);
  const { size } = await Deno.stat(path);
  logLine(`${mebibytes(size)}; before compression: ${parts}`);
  logLine(`On the other machine: tar xf ${out} && ${NAME}/${NAME} bench`);
}

/**
 * Checks what can be known before kernels are built.
 *
 * @throws {UserError} If `out` cannot be written, and in the npm package.
 */
export async function checkTarget(out: string): Promise<void> {
  if (isPackage()) {
    throw new UserError(
      "Cannot pack the npm package, which has no sources: run it in a clone of the repository",
    );
  }
  const folder = dirname(resolve(out));
  const refuse = (why: string): never => {
    throw new UserError(
      `Cannot write ${out}: ${why}; name another archive with --out FILE`,
    );
  };
  const at = await Deno.stat(folder).catch((error: Error) =>
    refuse(error.message)
  );
  if (!at.isDirectory) refuse(`${folder} is not a folder`);
  const there = await Deno.stat(out).catch(() => undefined);
  if (there !== undefined && !there.isFile) refuse("it is not a regular file");
  try {
    // As tar will: only writing tells whether the folder lets itself be written to.
    await Deno.remove(await Deno.makeTempFile({ dir: folder }));
  } catch (error) {
    refuse(error instanceof Error ? error.message : `${error}`);
  }
}

/** @throws {UserError} If `stop` is aborted. */
function demandGoing(stop: AbortSignal | undefined): void {
  if (!stop?.aborted) return;
  throw new UserError("Stopped before the archive was made", EXIT.failed);
}

/**
 * Fills `folder` with what the archive holds.
 *
 * @param stop Aborting it ends the work with an error.
 * @throws {UserError} If it was stopped, or a tool fails.
 */
export async function gather(
  folder: string,
  { arch, kernelCache, entries }: Contents,
  stop?: AbortSignal,
): Promise<void> {
  await Deno.mkdir(folder);
  for (const name of SOURCES) {
    demandGoing(stop);
    await copyTree(join(HOME, name), join(folder, name));
  }
  await copyResults(join(HOME, RESULTS), join(folder, RESULTS));
  await Deno.writeTextFile(
    join(folder, COMMIT_FILE),
    `${JSON.stringify(await sourceVersion())}\n`,
  );
  await installPackages(folder, stop);
  await Deno.copyFile(Deno.execPath(), join(folder, "deno"));
  await Deno.chmod(join(folder, "deno"), 0o755);
  await Deno.writeTextFile(join(folder, NAME), launcher(), { mode: 0o755 });
  await copyKernels(kernelCacheOf(kernelCache), {
    to: join(folder, ".cache"),
    arch,
    ...(entries && { only: new Set(entries) }),
  });
  demandGoing(stop);
}

/**
 * Puts the packages into `node_modules`, which Deno finds whatever registry the box is
 * set up for; a copy of its own cache would be looked up under that registry's name.
 */
async function installPackages(
  folder: string,
  stop: AbortSignal | undefined,
): Promise<void> {
  await execute(Deno.execPath(), {
    ...(stop && { stop }),
    args: [
      "install",
      "--quiet",
      "--frozen",
      "--node-modules-dir=auto",
      "--entrypoint",
      "cli/main.ts",
    ],
    cwd: folder,
  });
  const modules = join(folder, "node_modules");
  for (const name of LEFT_OUT) {
    await Deno.remove(join(modules, name));
    // With its parts for this machine, which have its name and more, or are in a scope of that name.
    const prefixes = [name.replace("/", "+"), `@${name}+`];
    for await (const entry of Deno.readDir(join(modules, ".deno"))) {
      if (!prefixes.some((prefix) => entry.name.startsWith(prefix))) continue;
      await Deno.remove(join(modules, ".deno", entry.name), {
        recursive: true,
      });
    }
  }
  const path = join(folder, "deno.json");
  const config = JSON.parse(await Deno.readTextFile(path));
  await Deno.writeTextFile(
    path,
    JSON.stringify({ ...config, nodeModulesDir: "manual" }, null, 2) + "\n",
  );
}

/** Copies the CSVs of the devices in `from`: searches begin with the configs in them. */
async function copyResults(from: string, to: string): Promise<void> {
  for await (const device of Deno.readDir(from)) {
    if (!device.isDirectory) continue;
    await Deno.mkdir(join(to, device.name), { recursive: true });
    for await (const { name } of Deno.readDir(join(from, device.name))) {
      const path = join(device.name, name);
      if (name.endsWith(".csv")) {
        await copyTree(join(from, path), join(to, path));
      }
    }
  }
}

function launcher(): string {
  return `#!/bin/sh
# Runs ${NAME} with the Deno, the packages and the kernels beside this file.
here=$(CDPATH= cd -- "$(dirname -- "$(readlink -f -- "$0")")" && pwd) || exit 1
export DENO_DIR="$here/.deno" DENO_NO_UPDATE_CHECK=1
exec "$here/deno" run --quiet --cached-only --no-prompt \\
  ${PERMISSIONS.join(" ")} \\
  "$here/cli/main.ts" "$@"
`;
}

/** Copies the entries of a kernel cache that were built for one of `arch`. */
async function copyKernels(
  from: string,
  { to, arch, only }: {
    readonly to: string;
    readonly arch: readonly string[];
    readonly only?: ReadonlySet<string>;
  },
): Promise<void> {
  privateFolder(to);
  if (arch.length === 0) return;
  for await (const { name, isDirectory } of Deno.readDir(from)) {
    if (!isDirectory || name.startsWith(".")) continue;
    if (only !== undefined && !only.has(name)) continue;
    // A run says what is wrong with an entry that has none, and how to remove it.
    const own = manifestIn(join(from, name))?.arch;
    if (own === undefined || !arch.includes(own)) continue;
    await copyTree(join(from, name), join(to, name));
  }
}

/** Level 6 takes a third of the time of 9 for Deno, and its archive is 2 % larger. */
async function compress(
  stage: string,
  { out, stop }: { readonly out: string; readonly stop: AbortSignal },
): Promise<void> {
  await execute("tar", {
    stop,
    args: ["-cJf", out, "-C", stage, NAME],
    env: { XZ_OPT: "-6e -T0" },
  });
}

async function partsOf(folder: string): Promise<string> {
  const parts: { name: string; bytes: number }[] = [];
  for await (const { name } of Deno.readDir(folder)) {
    parts.push({ name, bytes: await sizeOf(join(folder, name)) });
  }
  return parts.toSorted((a, b) => b.bytes - a.bytes).slice(0, 5)
    .map(({ name, bytes }) => `${name} ${mebibytes(bytes)}`).join(", ");
}

function mebibytes(bytes: number): string {
  return `${(bytes / 2 ** 20).toFixed(1)} MiB`;
}

/** Copies a file or a folder; what is not there is not copied. Links stay links. */
async function copyTree(from: string, to: string): Promise<void> {
  const info = await Deno.lstat(from).catch((error) => {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  });
  if (info === undefined) return;
  if (info.isSymlink) return await Deno.symlink(await Deno.readLink(from), to);
  if (!info.isDirectory) return await Deno.copyFile(from, to);
  await Deno.mkdir(to, { recursive: true });
  for await (const { name } of Deno.readDir(from)) {
    await copyTree(join(from, name), join(to, name));
  }
}

/** Bytes of a file, or of all files of a folder. */
async function sizeOf(path: string): Promise<number> {
  const info = await Deno.lstat(path);
  if (!info.isDirectory) return info.isSymlink ? 0 : info.size;
  let bytes = 0;
  for await (const { name } of Deno.readDir(path)) {
    bytes += await sizeOf(join(path, name));
  }
  return bytes;
}

/** Packing all that there is takes minutes on a slow machine. */
const LIMIT_MS = 3_600_000;

/**
 * Runs `tool` and returns its output.
 *
 * @throws {UserError} If it is not there, is stopped or fails, with its first line on an error.
 */
async function execute(
  tool: string,
  run: Omit<ProgramRun, "limitMs">,
): Promise<string> {
  const env = { NO_COLOR: "1", ...run.env };
  const done = await runProgram(tool, { ...run, env, limitMs: LIMIT_MS })
    .catch((error) => {
      if (!(error instanceof ProgramError)) throw error;
      throw new UserError(`Cannot pack: ${error.message}`, EXIT.failed);
    });
  // The terminal sends Ctrl-C to the tool too, which then fails by itself.
  demandGoing(run.stop);
  if (done.success) return done.stdout.trim();
  const lines = done.stderr.trim().split("\n");
  const why = lines.find((line) => /error/i.test(line)) ?? lines.at(-1);
  throw new UserError(
    `${tool} ${run.args[0]} failed with code ${done.code}: ${why}`,
    EXIT.failed,
  );
}
