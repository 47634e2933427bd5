/**
 * What the tests of CPU kernels share: a device, binaries built once, a check.
 *
 * @module
 */

import { ok } from "node:assert/strict";
import { cpuBackend } from "../../../backends/cpu/cpu.ts";
import type { Build, Device } from "../../../bench/device/device.ts";
import { BYTES, decode } from "../../../bench/model/dtype.ts";
import { CaseError } from "../../../bench/model/errors.ts";
import type { Values } from "../../../bench/model/grid.ts";
import type { Kernel } from "../../../bench/model/kernel_spec.ts";
import { elementsOf } from "../../../bench/model/problem.ts";
import { matmul } from "../op.ts";
import type { MatmulPoint } from "../point.ts";

const backend = cpuBackend();
/** This machine. */
export const info = backend.find().devices[0]!;
/** Whether anything but TypeScript can run. */
export const hasCompiler = (() => {
  try {
    backend.compiler(info.arch);
    return true;
  } catch (error) {
    if (error instanceof CaseError) return false;
    throw error;
  }
})();
/** The end of the names of tests that need a compiler. */
export const skip = hasCompiler ? "" : " (ignored: no C compiler)";
/** Of all tests. */
export const INPUTS = { seed: 3, fill: "normal" } as const;

/** Where binaries are until the tests of this file have ended. */
const folder = Deno.makeTempDirSync();
globalThis.addEventListener(
  "unload",
  () => Deno.removeSync(folder, { recursive: true }),
);
const binaries = new Map<string, string>();

/** The binary of `build`, made when first asked for. */
export async function built({ source, defines }: Build): Promise<string> {
  let binary = binaries.get(source.href);
  if (binary === undefined) {
    binary = `${folder}/${binaries.size}.so`;
    await backend.compiler(info.arch).compile({ source, defines }, binary);
    binaries.set(source.href, binary);
  }
  return binary;
}

/** A device that runs kernels. */
export class Bench implements Disposable {
  readonly device: Device = backend.open(info);

  /** Runs `kernel` and gives the bytes of C, which were 0xff before. */
  async run(
    kernel: Kernel<MatmulPoint>,
    { point, config, bytes }: {
      point: MatmulPoint;
      config: Values;
      bytes?: number;
    },
  ): Promise<Uint8Array<ArrayBuffer>> {
    using scope = new DisposableStack();
    const alloc = (bytes: number) => {
      const memory = scope.use(this.device.alloc(bytes));
      memory.fill(0xff);
      return memory;
    };
    const inputs = matmul.inputs(point, INPUTS);
    const operands = Object.fromEntries(
      matmul.operands(point).map((operand, i) => {
        const size = elementsOf(operand) * BYTES[operand.type];
        const memory = alloc(operand.role === "in" ? size : bytes ?? size);
        if (operand.role === "in") memory.upload(inputs[i]!);
        return [operand.name, memory];
      }),
    );
    await Promise.all(kernel.builds(point, config).map(built));
    const plan = kernel.prepare({
      point,
      config,
      device: this.device,
      operands,
      program: ({ source }, entry) =>
        scope.use(this.device.load(binaries.get(source.href)!)).program(entry),
      alloc,
    });
    for (const step of plan.steps) step.enqueue();
    return operands.C!.download();
  }

  [Symbol.dispose](): void {
    this.device[Symbol.dispose]();
  }
}

/** Fails unless `c` is right to the operation's tolerance and its padding untouched. */
export function assertRight(
  point: MatmulPoint,
  c: Uint8Array<ArrayBuffer>,
  what: string,
): void {
  const { m, n, ldc, type } = point;
  const right = matmul.reference(point, matmul.inputs(point, INPUTS)).all(0);
  const { rtol, atol } = matmul.tolerance(point);
  const got = decode(c, type);
  for (let i = 0; i < m * ldc; i++) {
    const [row, column] = [Math.floor(i / ldc), i % ldc];
    if (column >= n) {
      const bytes = c.subarray(i * BYTES[type], (i + 1) * BYTES[type]);
      ok(bytes.every((b) => b === 0xff), `${what}: padding at ${i} written`);
      continue;
    }
    const want = right[row * n + column]!;
    ok(
      Math.abs(got[i]! - want) <= atol + rtol * Math.abs(want),
      `${what}: ${got[i]} at ${row},${column} is not ${want}`,
    );
  }
}

/** A point, for messages. */
export function title(point: MatmulPoint): string {
  const { a_type, layout, m, n, k, params } = matmul.key(point);
  return `${a_type} ${layout} ${m}x${n}x${k} ${params}`;
}

/** Points that fill vectors, tiles and several blocks of a slice, ragged and not. */
export const LARGER: readonly MatmulPoint[] = ["f32", "f16", "bf16"].flatMap((
  type,
) => [
  matmul.point({ m: 64, n: 64, k: 2048, type, epilogue: "relu" }),
  matmul.point({ m: 48, n: 48, k: 1333, type, epilogue: "bias" }),
  matmul.point({ m: 135, n: 150, k: 777, type, lda: 778, layout: "nt" }),
]);
