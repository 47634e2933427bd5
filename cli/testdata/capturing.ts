/**
 * Captures the mock program.
 *
 * @module
 */

import { join } from "node:path";
import {
  mockFolder,
  mockProgram,
} from "../../backends/cuda/capture/testdata/mocks.ts";
import { type Captured, readCaptured } from "../../bench/model/captured.ts";
import { temporary } from "../../bench/testdata/temporary.ts";
import { program, type Ran } from "./program.ts";

/** The outcome of a capture. */
export interface Recorded extends Ran {
  /** What was written; nothing where nothing was. */
  readonly captured: Captured | undefined;
}

/** Captures the mock program, which does what `what` says. */
export async function captured(
  what: string,
  { options = [], env = {}, path = mockProgram() }: {
    readonly options?: readonly string[];
    readonly env?: Readonly<Record<string, string>>;
    readonly path?: string;
  } = {},
): Promise<Recorded> {
  using folder = temporary();
  const args = ["capture", ...options, "--", path, ...what.split(" ")];
  const ran = await program(args, {
    cwd: folder.path,
    env: { LD_LIBRARY_PATH: mockFolder(), ...env },
  });
  const file = join(folder.path, "captured/captured.json");
  const text = read(file);
  return {
    ...ran,
    captured: text === undefined ? undefined : readCaptured(text, file),
  };
}

/** Reads a file that may not be there. */
export function read(path: string): string | undefined {
  try {
    return Deno.readTextFileSync(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}

/** The calls of each shape. */
export function callsOf(
  { captured }: Recorded,
): Readonly<Record<string, number>> {
  return Object.fromEntries(
    captured!.gemms.map(({ m, n, k, calls }) => [`${m}x${n}x${k}`, calls]),
  );
}

/** The columns of each GEMM that `keys` name, sorted. */
export function columnsOf(
  { captured }: Recorded,
  ...keys: readonly (keyof Captured["gemms"][number])[]
): readonly string[] {
  return captured!.gemms.map((gemm) => keys.map((key) => gemm[key]).join(" "))
    .toSorted();
}
