/**
 * MPSMatrixMultiplication of Metal Performance Shaders as the matrix library of Apple GPUs.
 *
 * Its matrices are row-major, as {@linkcode Blas} has them. It has no version but the system's.
 * Source: MPSMatrixMultiplication.h and MPSMatrixTypes.h of macOS.
 *
 * @module
 */

import type { Blas, Gemm, Matrix } from "../../bench/device/blas.ts";
import type { Step } from "../../bench/device/queue.ts";
import { BYTES, type DType } from "../../bench/model/dtype.ts";
import { CaseError } from "../../bench/model/errors.ts";
import { openFirst } from "../shared/find_library.ts";
import { MetalMemory } from "./memory.ts";
import type { Objc, Owned } from "./objc.ts";
import type { MetalQueue } from "./queue.ts";

const MPS = [
  "/System/Library/Frameworks/MetalPerformanceShaders.framework/MetalPerformanceShaders",
  "libMetalPerformanceShaders.dylib",
];

const FRAMEWORK = {
  MPSSupportsMTLDevice: { parameters: ["u64"], result: "u8" },
} as const satisfies Deno.ForeignLibraryInterface;

/** MPSDataTypeFloat32 and MPSDataTypeFloat16. */
const TYPES: Readonly<Partial<Record<DType, number>>> = {
  f32: 0x1000_0020,
  f16: 0x1000_0010,
};

/** The device that the library is opened for. */
interface Opening {
  readonly queue: MetalQueue;
  readonly device: bigint;
  /** The system's version. */
  readonly version: string;
  /** @default {the system's framework} */
  readonly paths?: readonly string[] | undefined;
}

/** Opens the library, or says why there is none. */
export function openMps(
  { queue, device, version, paths = MPS }: Opening,
): { readonly blas: Blas & Disposable } | { readonly blasReason: string } {
  // Loading the framework brings its classes.
  const found = openFirst(
    paths,
    (path) => Deno.dlopen(path, FRAMEWORK).symbols,
  );
  if (!("value" in found)) {
    return { blasReason: `No Metal Performance Shaders: ${found.reason}` };
  }
  if (found.value.MPSSupportsMTLDevice(device) === 0) {
    return { blasReason: "Metal Performance Shaders do not know this GPU" };
  }
  const products = new Products(queue.objc, device);
  return {
    blas: {
      name: "mps",
      version,
      gemm: (gemm) => gemmStep(queue, products, gemm),
      [Symbol.dispose]: () => products[Symbol.dispose](),
    },
  };
}

/** Multiplications by what they are of; they hold no memory of operands. */
class Products implements Disposable {
  readonly #made = new Map<string, Owned>();

  constructor(readonly objc: Objc, readonly device: bigint) {}

  of({ m, n, k, a, b }: Gemm): bigint {
    const transposed = [a, b].map(({ transposed = false }) =>
      Number(transposed)
    ) as [number, number];
    const name = [m, n, k, ...transposed].join(" ");
    const known = this.#made.get(name);
    if (known) return known.object;
    const { objc, device } = this;
    const made = objc.own(objc.calls.product(
      objc.send(objc.class("MPSMatrixMultiplication"), "alloc"),
      objc.sel(
        "initWithDevice:transposeLeft:transposeRight:resultRows:resultColumns:interiorColumns:alpha:beta:",
      ),
      ...[
        device,
        ...transposed,
        BigInt(m),
        BigInt(n),
        BigInt(k),
        1,
        0,
      ] as const,
    ));
    this.#made.set(name, made);
    return made.object;
  }

  [Symbol.dispose](): void {
    for (const made of this.#made.values()) made[Symbol.dispose]();
    this.#made.clear();
  }
}

function gemmStep(queue: MetalQueue, products: Products, gemm: Gemm): Step {
  const { m, n, k, a, b, c, batch = 1 } = gemm;
  if (TYPES[a.type] === undefined || a.type !== b.type || a.type !== c.type) {
    throw new CaseError(
      "unsupported",
      `MPSMatrixMultiplication multiplies f16 or f32 into the same type, not ${a.type} by ${b.type} into ${c.type}`,
    );
  }
  const { objc } = queue;
  const product = products.of(gemm);
  const shapes = [
    [a, a.transposed ? [k, m] : [m, k]],
    [b, b.transposed ? [n, k] : [k, n]],
    [c, [m, n]],
  ] as const;
  const sel = objc.sel(
    "encodeToCommandBuffer:leftMatrix:rightMatrix:resultMatrix:",
  );
  return {
    label: "MPSMatrixMultiplication",
    capturable: false,
    enqueue() {
      // The system may make an encoder and pipelines, and leave them to a pool.
      using _pool = objc.pool();
      for (let i = 0; i < batch; i++) {
        using stack = new DisposableStack();
        const [left, right, result] = shapes.map(([matrix, [rows, columns]]) =>
          stack.use(matrixOf(objc, { matrix, rows, columns, index: i })).object
        ) as [bigint, bigint, bigint];
        // Matrices are kept by the command buffer from here on, as their buffers are.
        objc.calls.send4(product, sel, queue.buffer(), left, right, result);
      }
    },
  };
}

/** Makes the `index`th matrix of a batch; for a call alone, since it keeps its buffer. */
function matrixOf(
  objc: Objc,
  { matrix, rows, columns, index }: {
    readonly matrix: Matrix;
    readonly rows: number;
    readonly columns: number;
    readonly index: number;
  },
): Owned {
  const { memory, type, ld, stride = 0 } = matrix;
  if (!(memory instanceof MetalMemory)) {
    throw new TypeError("Cannot multiply memory of another device");
  }
  const bytes = BYTES[type];
  const descriptor = objc.calls.descriptor(
    objc.class("MPSMatrixDescriptor"),
    objc.sel("matrixDescriptorWithRows:columns:rowBytes:dataType:"),
    ...[BigInt(rows), BigInt(columns), BigInt(ld * bytes)] as const,
    TYPES[type]!,
  );
  const empty = objc.send(objc.class("MPSMatrix"), "alloc");
  return objc.own(objc.send(
    empty,
    "initWithBuffer:offset:descriptor:",
    memory.buffer,
    BigInt(memory.offset + index * stride * bytes),
    descriptor,
  ));
}
