/**
 * Takes PTX and cubins that another compiler made in the place of sources.
 *
 * @module
 */

import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import type { Compiler } from "../../bench/device/device.ts";
import { CaseError } from "../../bench/model/errors.ts";
import { isCubin, smOf } from "./cubin.ts";

/** Returns the "compiler" of a `.ptx` or `.cubin` file for `arch`; nothing of a source. */
export function givenCompiler(
  arch: string,
  source: URL | undefined,
): Compiler | undefined {
  const [, kind] = /\.(ptx|cubin)$/.exec(source?.pathname ?? "") ?? [];
  if (kind === undefined) return undefined;
  return {
    signature: `given ${kind}`,
    async compile(build, binary) {
      const path = fileURLToPath(build.source);
      const bytes = await Deno.readFile(path);
      const refuse = (why: string): never => {
        throw new CaseError("compile", `Cannot load ${basename(path)}: ${why}`);
      };
      const why = kind === "ptx"
        ? misfitOfPtx(new TextDecoder().decode(bytes), arch)
        : misfitOfCubin(bytes, arch);
      if (why !== undefined) refuse(why);
      await Deno.writeFile(binary, bytes);
      // The driver takes PTX as a string of C.
      if (kind === "ptx") {
        await Deno.writeFile(binary, new Uint8Array(1), { append: true });
      }
      return "";
    },
  };
}

/** Returns why the driver of a device of `arch` cannot load a cubin. */
function misfitOfCubin(bytes: Uint8Array, arch: string): string | undefined {
  if (!isCubin(bytes)) {
    return "it is no cubin; name what ptxas or nvcc -cubin wrote";
  }
  const [own, sm] = [numberOf(arch), smOf(bytes)];
  return sm <= own && Math.floor(sm / 10) === Math.floor(own / 10)
    ? undefined
    : misfit(`sm_${sm}`, arch);
}

/** Returns why the driver of a device of `arch` cannot compile PTX. */
function misfitOfPtx(text: string, arch: string): string | undefined {
  const [, target, number, suffix] =
    /^\s*\.target\s+(sm_(\d+)([af]?))\b/m.exec(text) ?? [];
  if (target === undefined) return "it is no PTX: it has no line .target";
  const [own, sm] = [numberOf(arch), Number(number)];
  const fits = suffix === "a" ? sm === own : sm <= own &&
    (suffix === "" || Math.floor(sm / 10) === Math.floor(own / 10));
  return fits ? undefined : misfit(target, arch);
}

function misfit(target: string, arch: string): string {
  return `it is for ${target}, and the device is ${arch}; compile it for ${arch}`;
}

/** Returns the number of an architecture: 90 of `sm_90a`. */
function numberOf(arch: string): number {
  return Number.parseInt(arch.slice("sm_".length), 10);
}
