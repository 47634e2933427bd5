/**
 * Writes the inputs of peers' problems to files, and makes the right outputs: the same as for
 * kernels of ours.
 *
 * @module
 */

import { CaseError } from "../bench/model/errors.ts";
import type { Settings } from "../bench/model/settings.ts";
import { onDisk, readBytesIfThere } from "../bench/files/disk.ts";
import { type ClaimedFolder, claimFolder } from "../bench/files/lock.ts";
import { privateFolder } from "../bench/files/private_folder.ts";
import { HOST_FLOPS, type Right } from "../bench/measure/operands.ts";
import { termsOf } from "../bench/measure/precision.ts";
import type { BenchContext } from "../bench/measure/context.ts";
import type { Problem } from "../bench/model/suite.ts";
import { ProtocolError } from "./process.ts";

/** The files of a problem. */
interface Made {
  /** The inputs. */
  readonly paths: readonly string[];
  /**
   * Returns the right outputs, which are read from files: those of all problems are gigabytes.
   *
   * @throws {CaseError} Where the operation's reference throws.
   */
  right(): Right;
}

/** A folder of inputs, and references, each made once. Dispose it to remove the folder. */
export class PeerInputs implements Disposable {
  readonly #made = new Map<Problem, Made>();

  /**
   * @param claim Where the files go; Python's outputs go there too.
   * @param settings What inputs are made from.
   */
  private constructor(
    private readonly claim: ClaimedFolder,
    readonly settings: Pick<Settings, "seed" | "fill">,
  ) {}

  /** The path of the folder. */
  get folder(): string {
    return this.claim.path;
  }

  /**
   * One with a folder of its own under `root`; what a process left there that was killed
   * is removed.
   *
   * @throws {UserError} Where the disk refuses.
   */
  static open(
    root: string,
    settings: Pick<Settings, "seed" | "fill">,
  ): PeerInputs {
    return onDisk(root, () => {
      // What Python compiles is kept there too.
      privateFolder(root);
      return new PeerInputs(claimFolder("scratch-", root), settings);
    });
  }

  /** Makes references on the device of `bench` that would take the host too long. */
  async judge(
    problems: readonly Problem[],
    bench: BenchContext,
  ): Promise<void> {
    for (const problem of problems.filter(isLarge)) {
      const [set] = bench.operands(problem);
      const right = await bench.reference(problem).catch(failureOf);
      this.#keep(problem, set!.inputs, right);
    }
    bench.dropOperands();
  }

  /** The files and the right outputs of `problem`. */
  get(problem: Problem): Made {
    const known = this.#made.get(problem);
    if (known) return known;
    const { seed, fill } = this.settings;
    const inputs = problem.inputs({ seed, fill });
    return this.#keep(problem, inputs, rightOf(problem, inputs));
  }

  /**
   * Outputs that Python wrote, which are then removed.
   *
   * @throws {ProtocolError} Where one is not there.
   */
  take(paths: readonly string[]): Uint8Array<ArrayBuffer>[] {
    const bytes = paths.map((path) => {
      const found = readBytesIfThere(path);
      if (found) return found;
      throw new ProtocolError(`wrote no output ${path}`);
    });
    for (const path of new Set(paths)) Deno.removeSync(path);
    return bytes;
  }

  [Symbol.dispose](): void {
    this.claim[Symbol.dispose]();
  }

  #keep(
    problem: Problem,
    inputs: readonly Uint8Array<ArrayBuffer>[],
    right: Right | CaseError,
  ): Made {
    const number = this.#made.size;
    const write = (name: string, bytes: Uint8Array) => {
      const path = `${this.folder}/${name}`;
      Deno.writeFileSync(path, bytes);
      return path;
    };
    const paths = inputs.map((bytes, i) => write(`in${number}.${i}`, bytes));
    if (right instanceof CaseError) {
      const made: Made = {
        paths,
        right() {
          throw right;
        },
      };
      this.#made.set(problem, made);
      return made;
    }
    const stored = right.values.map((values, i) => ({
      path: write(
        `right${number}.${i}`,
        new Uint8Array(values.buffer, values.byteOffset, values.byteLength),
      ),
      Numbers: values instanceof Float32Array ? Float32Array : Float64Array,
    }));
    const { terms } = right;
    const made: Made = {
      paths,
      right: () => ({
        values: stored.map(({ path, Numbers }) =>
          new Numbers(Deno.readFileSync(path).buffer)
        ),
        terms,
      }),
    };
    this.#made.set(problem, made);
    return made;
  }
}

/** The right outputs of `problem`, or why its operation does not tell them. */
function rightOf(
  problem: Problem,
  inputs: readonly Uint8Array<ArrayBuffer>[],
): Right | CaseError {
  try {
    const reference = problem.reference(inputs);
    const outputs = problem.operands.filter(({ role }) => role === "out");
    return {
      values: outputs.map((_, i) => reference.all(i)),
      terms: termsOf(outputs, reference, problem.work.flops),
    };
  } catch (error) {
    return failureOf(error);
  }
}

/** Returns `error` where it is a row's, and throws any other. */
function failureOf(error: unknown): CaseError {
  if (error instanceof CaseError) return error;
  throw error;
}

/** Tells whether the host's reference of `problem` would take seconds. */
export function isLarge({ work }: Problem): boolean {
  return work.flops > HOST_FLOPS;
}
