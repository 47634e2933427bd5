/**
 * Asks a tool for its version or the like, within a time limit.
 *
 * @module
 */

import { spawnSync } from "node:child_process";
import { basename } from "node:path";
import { CaseError } from "../../bench/model/errors.ts";

/** What a tool printed. */
export interface Answer {
  readonly success: boolean;
  readonly stdout: string;
  readonly stderr: string;
}

/** One that answers does so at once; one on a network's disk may need a while. */
const LIMIT_MS = 20_000;

/** Why tools that hang cannot be used: each is waited for once. */
const hung = new Map<string, string>();

/**
 * What `program` answers to `args`; nothing where there is no such program that may be run.
 *
 * @throws {CaseError} `compile`, where it does not end.
 */
export function askTool(
  program: string,
  args: readonly string[],
  limitMs = LIMIT_MS,
): Answer | undefined {
  const command = [program, ...args].join(" ");
  const known = hung.get(command);
  if (known !== undefined) throw new CaseError("compile", known);
  // Deno's own outputSync() knows no limit.
  const { status, stdout, stderr, error } = spawnSync(program, [...args], {
    timeout: limitMs,
    killSignal: "SIGKILL",
    stdio: ["ignore", "pipe", "pipe"],
    encoding: "utf8",
  });
  if (codeOf(error) === "ETIMEDOUT") {
    const why = `${[basename(program), ...args].join(" ")} did not end within ${
      limitMs / 1000
    } s and was killed; mend it, or put another compiler first in PATH`;
    hung.set(command, why);
    throw new CaseError("compile", why);
  }
  return error === undefined
    ? { success: status === 0, stdout, stderr }
    : undefined;
}

function codeOf(error: Error | undefined): string | undefined {
  return error !== undefined && "code" in error ? `${error.code}` : undefined;
}
