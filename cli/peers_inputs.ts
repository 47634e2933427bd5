/**
 * The inputs of peers' problems as files, and the right outputs: as for kernels of ours.
 *
 * @module
 */

import type { Settings } from "../bench/config.ts";
import { readBytesIfThere } from "../bench/disk.ts";
import { HOST_FLOPS } from "../bench/reference.ts";
import type { Rig } from "../bench/rig.ts";
import type { Problem } from "../bench/suite.ts";
import { Misspoken } from "./peers_process.ts";

interface Made {
  readonly paths: readonly string[];
  /** One for each output. */
  readonly right: readonly Float64Array[];
}

/** A folder of inputs, and references, each made once. Dispose it to remove the folder. */
export class PeerInputs implements Disposable {
  readonly #made = new Map<Problem, Made>();

  /**
   * @param folder Where the files go; Python's outputs go there too.
   * @param settings What inputs are made from.
   */
  constructor(
    readonly folder: string,
    readonly settings: Pick<Settings, "seed" | "fill">,
  ) {}

  /**
   * One with a folder of its own under `root`; what a process left there that was killed
   * is removed.
   */
  static open(
    root: string,
    settings: Pick<Settings, "seed" | "fill">,
  ): PeerInputs {
    Deno.mkdirSync(root, { recursive: true });
    for (const { name } of [...Deno.readDirSync(root)]) {
      const pid = /^scratch-(\d+)$/.exec(name)?.[1];
      if (pid === undefined || isAlive(pid)) continue;
      Deno.removeSync(`${root}/${name}`, { recursive: true });
    }
    const folder = `${root}/scratch-${Deno.pid}`;
    Deno.mkdirSync(folder, { recursive: true });
    return new PeerInputs(folder, settings);
  }

  /** Makes on the device of `rig` what would take the host too long. */
  async judge(problems: readonly Problem[], rig: Rig): Promise<void> {
    for (const problem of problems.filter(isLarge)) {
      const [set] = rig.operands(problem);
      this.#keep(problem, set!.inputs, await rig.reference(problem));
    }
    rig.dropOperands();
  }

  /** The files and the right outputs of `problem`. */
  get(problem: Problem): Made {
    const known = this.#made.get(problem);
    if (known) return known;
    const { seed, fill } = this.settings;
    const inputs = problem.inputs({ seed, fill });
    const reference = problem.reference(inputs);
    const right = problem.operands.filter(({ role }) => role === "out")
      .map((_, i) => reference.all(i));
    return this.#keep(problem, inputs, right);
  }

  /**
   * Outputs that Python wrote, which are then removed.
   *
   * @throws {Misspoken} Where one is not there.
   */
  take(paths: readonly string[]): Uint8Array<ArrayBuffer>[] {
    const bytes = paths.map((path) => {
      const found = readBytesIfThere(path);
      if (found) return found;
      throw new Misspoken(`wrote no output ${path}`);
    });
    for (const path of new Set(paths)) Deno.removeSync(path);
    return bytes;
  }

  [Symbol.dispose](): void {
    Deno.removeSync(this.folder, { recursive: true });
  }

  #keep(
    problem: Problem,
    inputs: readonly Uint8Array<ArrayBuffer>[],
    right: readonly Float64Array[],
  ): Made {
    const paths = inputs.map((bytes, i) => {
      const path = `${this.folder}/in${this.#made.size}.${i}`;
      Deno.writeFileSync(path, bytes);
      return path;
    });
    const made = { paths, right };
    this.#made.set(problem, made);
    return made;
  }
}

/** Whether a process may be at work; where that cannot be known, it may. */
function isAlive(pid: string): boolean {
  const there = (path: string) => {
    try {
      return Deno.statSync(path).isDirectory;
    } catch (error) {
      if (error instanceof Deno.errors.NotFound) return false;
      throw error;
    }
  };
  return !there("/proc/self") || there(`/proc/${pid}`);
}

/** Whether the host's reference of `problem` would take seconds. */
export function isLarge({ work }: Problem): boolean {
  return work.flops > HOST_FLOPS;
}
