/**
 * Infers the launch shape of a kernel from its source: a thread for each element of C.
 *
 * @module
 */

import type { LaunchShape } from "../../bench/device/queue.ts";
import type { MatmulPoint } from "../../kernels/matmul/point.ts";
import type { SourceFunction } from "./functions.ts";
import { notBytes, notShape, type Refuse } from "./settings.ts";

/** A launch shape and its description. */
export interface Launch {
  readonly text: string;
  shape(point: MatmulPoint): LaunchShape;
}

/** Threads of a block that numbers its elements in one dimension. */
const THREADS = "256";
/** Threads of a square block either way. */
const SQUARE = "16";
/** The most threads of a block, on every GPU. */
const MOST_THREADS = 1024;
/** A constant, of which one named so is the side of a tile, which a square block has. */
const CONSTANT =
  /(?:\b(?:int|unsigned|size_t|auto) +|#define +)(\w+)(?: *= *| +)(\d+)\b/gi;
const SIDE = /TILE|BLOCK|BS/i;

/**
 * Returns the launch shape of a kernel; undefined for a C function, which is called once.
 *
 * @param code The source, whose constants tell the side of a square block.
 * @throws {UserError} Where neither it nor `block` and `grid` tell.
 */
export function launchOf(
  entry: SourceFunction,
  { backend, code, block, grid, shared, refuse }: {
    readonly backend: string;
    readonly code: string;
    readonly block: string | undefined;
    readonly grid: string | undefined;
    readonly shared: string | undefined;
    readonly refuse: Refuse;
  },
): Launch | undefined {
  if (backend === "cpu") {
    if ([block, grid, shared].every((one) => one === undefined)) {
      return undefined;
    }
    return refuse(
      "a C function is called once, without block, grid and shared memory: leave these out",
    );
  }
  const { threadY, blockY } = dimensionsOf(entry);
  const sides = new Set(
    [...code.matchAll(CONSTANT)].flatMap(([, name, side]) =>
      SIDE.test(name!) ? [side!] : []
    ),
  );
  const [side = SQUARE] = sides;
  const isPlain = threadY === blockY && (!threadY || sides.size <= 1);
  const isLarge = threadY && block === undefined &&
    Number(side) ** 2 > MOST_THREADS;
  if (isLarge || !isPlain && (block === undefined || grid === undefined)) {
    const [grids, threads] = [blockY, threadY].map((two) =>
      two ? "two dimensions" : "one"
    );
    const why = isPlain
      ? `a block of ${side} × ${side} threads is larger than ${MOST_THREADS}`
      : threadY === blockY
      ? `its code has several sides of a block, ${[...sides].join(" and ")}`
      : `its grid has ${grids} and its blocks have ${threads}`;
    return refuse(
      `its launch shape cannot be inferred, as ${why}; say it by --block and --grid, such as --block 16,16 --grid n/64,m/64, or in a comment, \`// mnkbench: block=16,16 grid=n/64,m/64\``,
    );
  }
  const [, bounds = THREADS] =
    /__launch_bounds__\s*\(\s*(\d+)/.exec(entry.head) ??
      [];
  const threads = block ?? (threadY ? `${side},${side}` : bounds);
  const [x = "1", y = "1"] = threads.split(/[,x]/);
  const blocks = grid ?? (threadY ? `n/${x},m/${y}` : `m*n/${x}`);
  const three = (text: string, what: "block" | "grid") => {
    const parts = text.split(/[,x]/).map((part) => formula(part));
    if (parts.length <= 3 && parts.every((part) => part !== undefined)) {
      return parts.map((part) => part!);
    }
    return refuse(notShape(text, what));
  };
  const [own, all] = [three(threads, "block"), three(blocks, "grid")];
  const bytes = sharedOf(entry, { backend, code, shared, refuse });
  return {
    text: `in blocks of ${commas(threads)} threads, a grid of ${
      commas(blocks)
    }${
      bytes ? `, with ${shared} bytes of shared memory` : ""
    } (--block and --grid say otherwise)`,
    shape(point) {
      const at = (list: readonly Formula[]) =>
        [0, 1, 2].map((i) => list[i]?.(point) ?? 1) as [number, number, number];
      return {
        grid: at(all),
        block: at(own),
        ...(bytes && { sharedBytes: bytes(point) }),
      };
    },
  };
}

/** An array of dynamic shared memory. */
const DYNAMIC = /\bextern\s+__shared__[^;]*?(\w+)\s*\[\s*\]/g;

/** Returns `code` without what stands in braces. */
function outerOf(code: string): string {
  const inner = code.replaceAll(/\{[^{}]*\}/g, ";");
  return inner === code ? code : outerOf(inner);
}

/**
 * Returns the bytes of dynamic shared memory of a block.
 *
 * @throws {UserError} Where the kernel has some and nobody says how much.
 */
function sharedOf(
  { body }: SourceFunction,
  { backend, code, shared, refuse }: {
    readonly backend: string;
    readonly code: string;
    readonly shared: string | undefined;
    readonly refuse: Refuse;
  },
): Formula | undefined {
  if (shared !== undefined) {
    if (backend === "metal") {
      return refuse(
        "shared is of CUDA and HIP: write a suite file, whose shape has sharedBytes",
      );
    }
    return formula(shared) ?? refuse(notBytes(shared));
  }
  const array = [...body.matchAll(DYNAMIC), ...outerOf(code).matchAll(DYNAMIC)]
    .map(([, name]) => name!)
    .find((name) => new RegExp(`\\b${name}\\b`).test(body));
  return array === undefined ? undefined : refuse(
    `the size of ${array}, its dynamic shared memory, is not in the source: say it by --shared BYTES, such as --shared 65536, or in a comment, \`// mnkbench: shared=65536\``,
  );
}

/** Returns whether a kernel numbers its threads and its blocks in two dimensions. */
function dimensionsOf({ body, parameters }: SourceFunction) {
  const isVector = (what: RegExp) =>
    parameters.some(({ attribute = "", type }) =>
      what.test(attribute) && /[23]$/.test(type)
    );
  return {
    threadY: body.includes("threadIdx.y") || isVector(/^thread_position_in_/),
    blockY: body.includes("blockIdx.y") ||
      isVector(/^thread(?:group)?_position_in_grid$/),
  };
}

function commas(text: string): string {
  return text.replaceAll("x", ",");
}

type Formula = (sizes: Pick<MatmulPoint, "m" | "n" | "k">) => number;

/** Reads products and quotients, from left to right; quotients are rounded up. */
function formula(text: string): Formula | undefined {
  if (
    !/^ *(?:[1-9]\d{0,8}|[mnk])(?: *[*/] *(?:[1-9]\d{0,8}|[mnk]))* *$/i.test(
      text,
    )
  ) {
    return undefined;
  }
  const terms = [...text.toLowerCase().matchAll(/([*/]?) *(\d+|[mnk])/g)];
  return (sizes) =>
    terms.reduce((value, [, operator, term]) => {
      const by = Number(term) || sizes[term as "m" | "n" | "k"];
      return operator === "/" ? Math.ceil(value / by) : value * by;
    }, 1);
}
