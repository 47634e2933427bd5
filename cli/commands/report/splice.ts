/**
 * Makes the tables of a text again from recorded rows, for `mnkbench report --splice`.
 *
 * @module
 */

import { formatMessage } from "@optique/core/message";
import { parse } from "@optique/core/parser";
import { readIfThere, replaceFile } from "../../../bench/files/disk.ts";
import { EXIT, UserError } from "../../../bench/model/errors.ts";
import {
  type Block,
  contentOf,
  fillBlocks,
  findBlocks,
} from "../../../report/table/splice.ts";
import { asTyped } from "../../../session/home.ts";
import { tableFlags, tableText } from "../table.ts";
import { tell } from "../../terminal/output.ts";

/** The command of a reader of the text, whatever this program was started with. */
const COMMAND = "npx -y deno@2.9.6 task";

/**
 * Makes the tables between the markers of `file` again, or only says which would change.
 *
 * @returns The exit code: 1 where `check` finds a table that would change.
 * @throws {UserError} For a file that cannot be read, a marker that is wrong and a command
 * that fails, with file and line.
 */
export async function splice(
  file: string,
  { check }: { check: boolean },
): Promise<number> {
  const path = asTyped(file);
  const text = readText(path);
  const blocks = findBlocks(text, file);
  const contents: string[] = [];
  for (const block of blocks) contents.push(await contentFor(block, file));
  const stale = blocks.filter((block, i) => {
    return contentOf(text, block) !== contents[i];
  });
  if (check) {
    for (const { line, command } of stale) {
      tell(`${file}: line ${line} is stale: ${command}`);
    }
    return stale.length > 0 ? EXIT.failed : EXIT.ok;
  }
  if (stale.length > 0) replaceFile(path, fillBlocks(text, blocks, contents));
  tell(`${file}: ${blocks.length} tables, ${stale.length} of them changed`);
  return EXIT.ok;
}

async function contentFor(block: Block, file: string): Promise<string> {
  const [name, ...args] = block.words;
  const at = `Cannot splice ${file}: line ${block.line}`;
  if (name !== "table") {
    throw new UserError(
      `${at} asks for ${
        name ?? "nothing"
      }, and only table can be spliced; write <!-- mnkbench:begin table ... -->`,
    );
  }
  // The last of an option given twice would be an error: theirs is refused by name.
  if (args.some((arg) => /^--(format|wide|out)\b/.test(arg))) {
    throw new UserError(
      `${at} chooses a format, and what is spliced is Markdown; leave out --format, --wide and --out`,
    );
  }
  const flags = tableFlags({ suites: [], kernels: [], backends: [] });
  const result = parse(flags, [...args, "--format", "md"]);
  if (!result.success) {
    const why = formatMessage(result.error, { quotes: false })
      .replaceAll(/\s*\n\s*/g, " ");
    throw new UserError(`${at}: ${why}`);
  }
  const table = await located(at, () => tableText(result.value));
  return [
    // A formatter would align the tables, and they would be stale.
    "<!-- deno-fmt-ignore-start -->",
    "",
    table,
    "",
    `Made by \`${COMMAND} ${block.command}\`.`,
    "",
    "<!-- deno-fmt-ignore-end -->",
  ].join("\n");
}

async function located<T>(at: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    if (!(cause instanceof UserError)) throw cause;
    throw new UserError(`${at}: ${cause.message}`, cause.code);
  }
}

function readText(file: string): string {
  const text = readIfThere(file);
  if (text !== undefined) return text;
  throw new UserError(
    `Cannot splice ${file}: there is no such file; name a text with markers`,
  );
}
