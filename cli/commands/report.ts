/**
 * `mnkbench report`: recorded rows as one HTML page, or as tables within a text.
 *
 * @module
 */

import { dirname } from "node:path";
import { object } from "@optique/core/constructs";
import { type InferValue, parse } from "@optique/core/parser";
import { string } from "@optique/core/valueparser";
import { readUtf8IfThere } from "../../bench/files/disk.ts";
import { lockFolder } from "../../bench/files/lock.ts";
import { refuseOther, replaceFile } from "../../bench/files/replace.ts";
import { PAGE } from "../../report/page/html.ts";
import { EXIT, UserError } from "../../bench/model/errors.ts";
import { BRIEFS, define } from "../command.ts";
import {
  maybe,
  paths,
  preset,
  shownCache,
  shownTimer,
  toggle,
} from "../options/flags.ts";
import { number, path } from "../options/readers.ts";
import { recordedPaths, USUAL } from "../options/usual_paths.ts";
import { logLine } from "../terminal/output.ts";
import { inputOf } from "./report/input.ts";
import { formatMessage } from "@optique/core/message";
import {
  type Block,
  contentOf,
  fillBlocks,
  findBlocks,
} from "../../report/table/splice.ts";
import { tableFlags, tableText } from "./table.ts";

/** `mnkbench report`. */
export const command = define({
  name: "report",
  brief: BRIEFS.report,
  examples: [
    "report results/nvidia-h200 --out report.html",
    "report new --against results/nvidia-h200 --threshold 5",
  ],
  codes: {
    0: "the page or the text is written, or up to date",
    1: "with --check: a table is stale",
    3: "no row is there",
  },
  flags,
  run: report,
});

function flags() {
  return object("Reporting", {
    paths: paths("PATH", `CSVs, folders or globs (default: ${USUAL}).`),
    against: maybe(
      "--against",
      string({ metavar: "PATH" }),
      "Older run to compare with; PATH is the newer and has the verdicts.",
    ),
    threshold: maybe(
      "--threshold",
      number("PERCENT", { whole: false }),
      "With --against: smallest difference that counts (default: 3).",
    ),
    timer: shownTimer(),
    cache: shownCache(),
    out: preset("--out", path("FILE"), "The page.", "report.html"),
    splice: maybe(
      "--splice",
      path("FILE"),
      "Remake the tables between the markers of a text, and no page.",
    ),
    check: toggle(
      "--check",
      "With --splice: only list the tables that would change.",
    ),
  });
}

async function report(
  options: InferValue<ReturnType<typeof flags>>,
): Promise<number> {
  const { paths, against, out, splice, check } = options;
  if (splice !== undefined) {
    if (paths.length > 0 || against !== undefined) {
      throw new UserError(
        "--splice takes no other input: the rows are named in the text, at its markers",
      );
    }
    return await spliceTables(splice, { check });
  }
  if (check) {
    throw new UserError(
      "--check is for --splice: name a text, or leave it out",
    );
  }
  if (options.threshold !== undefined && against === undefined) {
    throw new UserError(
      "--threshold is for verdicts: name an older run with --against, or leave it out",
    );
  }
  refuseOther(out, PAGE);
  const { formatReport } = await import("../../report/page/report.ts");
  const html = formatReport(await inputOf(options));
  replaceFile(out, html);
  const megabytes = (new TextEncoder().encode(html).length / 1e6).toFixed(2);
  logLine(`${out}: ${megabytes} MB, needs nothing else to be read`);
  return EXIT.ok;
}

/** The command of a reader of the text, whatever this program was started with. */
const COMMAND = "npx -y deno@2.9.6 task";

/**
 * Makes the tables between the markers of `file` again, or only says which would change.
 *
 * @returns The exit code: 1 where `check` finds a table that would change.
 * @throws {UserError} For a file that cannot be read, a marker that is wrong and a command
 * that fails, with file and line.
 */
async function spliceTables(
  file: string,
  { check }: { check: boolean },
): Promise<number> {
  // Others that splice the same text wait: each fills what the one before has left.
  using _lock = check
    ? undefined
    : await lockFolder(dirname(file), { note: logLine });
  const text = readText(file);
  const blocks = findBlocks(text, file);
  const contents: string[] = [];
  for (const block of blocks) contents.push(await contentFor(block, file));
  const stale = blocks.filter((block, i) => {
    return contentOf(text, block) !== contents[i];
  });
  if (check) {
    for (const { line, command } of stale) {
      logLine(`${file}: line ${line} is stale: ${command}`);
    }
    return stale.length > 0 ? EXIT.failed : EXIT.ok;
  }
  if (stale.length > 0) replaceFile(file, fillBlocks(text, blocks, contents));
  logLine(`${file}: ${blocks.length} tables, ${stale.length} of them changed`);
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
  if (args.some((arg) => /^--(format|row)\b/.test(arg))) {
    throw new UserError(
      `${at} chooses a format, and tables in Markdown are spliced; leave out --format and --row`,
    );
  }
  const flags = tableFlags({ suites: [], kernels: [], backends: [] });
  const result = parse(flags, [...args, "--format", "md"]);
  if (!result.success) {
    const why = formatMessage(result.error, { quotes: false })
      .replaceAll(/\s*\n\s*/g, " ");
    throw new UserError(`${at}: ${why}`);
  }
  // A text is the same whatever was measured last.
  const table = await located(at, () => {
    const paths = recordedPaths(result.value.paths);
    return tableText({ ...result.value, paths });
  });
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
  const text = readUtf8IfThere(file, "save it as UTF-8");
  if (text !== undefined) return text;
  throw new UserError(
    `Cannot splice ${file}: there is no such file; name a text with markers`,
  );
}
