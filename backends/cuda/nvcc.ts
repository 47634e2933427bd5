/**
 * NVIDIA's compiler as a program.
 *
 * @module
 */

import type { Compiler, Target } from "../../bench/device/device.ts";
import { fileURLToPath } from "node:url";
import { askTool, defines, runCompiler } from "../shared/compiler.ts";
import { find, type Host, type Wanted } from "../shared/find_library.ts";

/** Where the program is, when it is not on the path. */
export const NVCC_WANTED: Wanted = {
  names: ["nvcc"],
  toolkit: ["bin"],
  wheels: ["nvidia/cu13/bin", "nvidia/cuda_nvcc/bin"],
};

/** Returns the first nvcc: on the path, in a toolkit, in a wheel. */
export function findNvcc(host: Host): string | undefined {
  const onPath = (host.env("PATH") ?? "").split(":").find((folder) =>
    folder !== "" && host.list(folder).includes("nvcc")
  );
  return onPath === undefined ? find(NVCC_WANTED, host)[0] : `${onPath}/nvcc`;
}

/**
 * Returns the compiler that the program at `path` is for `target`.
 *
 * @throws {Error} If it cannot be run.
 */
export function nvccCompiler(path: string, target: Target): Compiler {
  const answer = askTool(path, ["--version"]);
  if (!answer) throw new Error(`${path} cannot be run`);
  const version = /release (\d+\.\d+)/.exec(answer.stdout);
  const capability = target.arch.replace("sm_", "");
  return {
    signature: `nvcc ${version?.[1] ?? "of unknown version"}`,
    async compile(build, binary) {
      const source = fileURLToPath(build.source);
      const folder = source.slice(0, source.lastIndexOf("/") + 1);
      return await runCompiler(path, {
        args: [
          "-cubin",
          // Not -arch=sm_90a: that form may also compile for plain sm_90.
          `-gencode=arch=compute_${capability},code=sm_${capability}`,
          ...target.flags,
          `-I${folder}`,
          ...defines(build),
          ...["-o", binary, source],
        ],
        binary,
        folder,
      });
    },
  };
}
