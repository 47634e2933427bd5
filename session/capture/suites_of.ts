/**
 * Writes suite files of the GEMMs that a program called.
 *
 * @module
 */

import {
  escapeControls,
  percent,
  shortened,
  wrapText,
} from "../../bench/files/terminal_text.ts";
import type { Captured } from "../../bench/model/captured.ts";
import {
  BOUND,
  type CapturedLine,
  type CapturedStep,
  stepOf,
} from "./lines.ts";

/** A suite file of one operation. */
export interface SuiteFile {
  /** Its name, without a folder: `captured.ts`. */
  readonly file: string;
  readonly text: string;
}

/** For each operation: the names that its suite file imports from `mnkbench`, and its baselines. */
const IMPORTS: Readonly<
  Record<string, { op: string; kernels: string; baselines: readonly string[] }>
> = {
  matmul: {
    op: "matmul",
    kernels: "kernels",
    baselines: [
      ...["cublas", "cublaslt", "hipblas", "mps", "openblas", "naive"],
    ],
  },
  "scaled-matmul": {
    op: "scaledMatmul",
    kernels: "scaledKernels",
    baselines: ["cublaslt", "naive"],
  },
};

/** The most characters of a line of a comment. */
const WIDTH = 96;

/**
 * Returns a suite file for each operation of `captured`, with the shapes in descending order of their
 * cost. The first file is `captured.ts`, others have the operation in their name.
 */
export function capturedSuites(captured: Captured): readonly SuiteFile[] {
  const step = stepOf(captured);
  const groups = Map.groupBy(
    step.gemms.filter(({ point }) => point !== undefined),
    ({ point }) => point!.op,
  );
  const names = [...groups.keys()].map((op, i) =>
    i === 0 ? "captured" : `captured-${op}`
  );
  return [...groups].map(([op, lines], i) => ({
    file: `${names[i]}.ts`,
    text: textOf(captured, step, {
      op,
      lines,
      name: names[i]!,
      others: names.filter((_, other) => other !== i),
    }),
  }));
}

/** The content of a suite file. */
interface Content {
  readonly op: string;
  readonly name: string;
  readonly lines: readonly CapturedLine[];
  /** Names of the other files. */
  readonly others: readonly string[];
}

function textOf(
  captured: Captured,
  step: CapturedStep,
  { op, name, lines, others }: Content,
): string {
  const { op: value, kernels, baselines } = IMPORTS[op]!;
  const program = programOf(captured);
  const of = step.of === "kernels" ? "the time of all kernels" : BOUND;
  const uncovered = step.gemms.filter(({ why }) => why !== undefined);
  const imports = ["defineSuite", value, kernels].toSorted();
  return [
    "/**",
    ...[
      `GEMMs of ${comment(program)}.`,
      "",
      `The most expensive come first. Shares are of ${of}.`,
      ...others.map((other) =>
        `Those of another operation are in ${other}.ts.`
      ),
      ...(uncovered.length > 0
        ? ["", "No operation of mnkbench computes:"]
        : []),
      ...uncovered.map((line) =>
        `- ${shareOf(line)} ${line.label}: ${line.why}`
      ),
    ].flatMap((line) =>
      line === ""
        ? [" *"]
        : wrapText(inert(line), WIDTH, "  ").map((part) => ` * ${part}`)
    ),
    " */",
    "",
    `import { ${imports.join(", ")} } from "mnkbench";`,
    "",
    "const gemms = [",
    ...lines.flatMap((line) => [
      `  // ${
        comment(
          [
            `${shareOf(line)}, ${calls(line.calls!)} a ${step.unit}`,
            line.names.join(", "),
          ].filter(Boolean).join(": "),
        )
      }`,
      `  { ${
        Object.entries(line.point!.values)
          .map(([axis, value]) => `${axis}: ${JSON.stringify(value)}`)
          .join(", ")
      } },`,
    ]),
    "] as const;",
    "",
    "export default defineSuite({",
    `  name: ${JSON.stringify(name)},`,
    `  title: ${JSON.stringify(comment(`GEMMs of ${program}`))},`,
    `  op: ${value},`,
    "  axes: { gemm: gemms },",
    "  quick: { gemm: gemms.slice(0, 3) },",
    kernels === "kernels" ? "  kernels," : `  kernels: ${kernels},`,
    `  baselines: ${JSON.stringify(baselines).replaceAll(",", ", ")},`,
    "});",
    "",
  ].join("\n");
}

/** Returns the command line of the captured program. */
export function programOf({ program }: Captured): string {
  return program.join(" ") || "a program";
}

/** Returns `text` as one line that cannot end a comment. */
function inert(text: string): string {
  return escapeControls(text.replaceAll(/\s+/g, " ").trim()).replaceAll(
    "*/",
    "* /",
  );
}

/** Shortens `text` to a line of a comment. */
function comment(text: string): string {
  return shortened(inert(text), WIDTH);
}

/** Formats a share; an unknown one is a dash. */
function shareOf({ share }: CapturedLine): string {
  return share === undefined ? "-" : percent(share);
}

/** Formats the number of calls in a step. */
function calls(count: number): string {
  const rounded = Number(count.toPrecision(3));
  return count === 1 ? "1 call" : `${rounded} calls`;
}
