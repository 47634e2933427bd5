/**
 * Tools that are run to their end.
 *
 * @module
 */

import { EXIT, UserError } from "../bench/model/errors.ts";

/** What a tool is run with. */
export interface ExecuteOptions {
  readonly args: readonly string[];
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/**
 * Runs `tool` and returns its output.
 *
 * @throws {UserError} If it is not there or fails, with its first line on an error.
 */
export async function execute(
  tool: string,
  { args, cwd, env }: ExecuteOptions,
): Promise<string> {
  const command = new Deno.Command(tool, {
    args: [...args],
    ...(cwd === undefined ? {} : { cwd }),
    env: { NO_COLOR: "1", ...env },
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  });
  const done = await command.output().catch((error: Error) => {
    throw new UserError(`Cannot run ${tool}: ${error.message}`, EXIT.failed);
  });
  const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes).trim();
  if (done.success) return text(done.stdout);
  const lines = text(done.stderr).split("\n");
  const why = lines.find((line) => /error/i.test(line)) ?? lines.at(-1);
  throw new UserError(
    `${tool} ${args[0]} failed with code ${done.code}: ${why}`,
    EXIT.failed,
  );
}
