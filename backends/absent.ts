/**
 * Device APIs that this version knows of but cannot use.
 *
 * @module
 */

import type { Backend } from "../bench/device.ts";
import { CaseError, EXIT, UserError } from "../bench/errors.ts";
import { openFirst } from "./find_library.ts";

/** How the API is told from a machine that lacks it. */
export interface Trace {
  /** The API's name in messages. */
  readonly title: string;
  /** Why this machine cannot have it; nothing where it has it. */
  missing(): string | undefined;
}

/** Creates a backend without devices; its reason says what the machine lacks. */
export function absent(name: string, { title, missing }: Trace): Backend {
  const why = () =>
    missing() ??
      `${title} is here, but this version of mnkbench has no ${name} backend yet`;
  return {
    name,
    find: () => ({ devices: [], reason: why() }),
    target: (arch) => ({ arch, extension: name, flags: [] }),
    compiler() {
      throw new CaseError("compile", `Cannot compile for ${title}: ${why()}`);
    },
    open() {
      const message = `Cannot open a device of ${title}: ${why()}`;
      throw new UserError(message, EXIT.nothing);
    },
    instruments: new URL(`./instruments/${name}`, import.meta.url),
  };
}

/** The names under which ROCm installs HIP's runtime, the newest first. */
export const HIP_LIBRARIES = [
  "libamdhip64.so.7",
  "libamdhip64.so.6",
  "libamdhip64.so",
] as const;

/** AMD GPUs. */
export function hip(libraries: readonly string[] = HIP_LIBRARIES): Backend {
  return absent("hip", {
    title: "HIP",
    missing() {
      const opened = openFirst(libraries, (path) => {
        Deno.dlopen(path, {}).close();
      });
      return "reason" in opened
        ? `No HIP runtime: ${opened.reason}`
        : undefined;
    },
  });
}

/** Apple GPUs. */
export function metal(os: typeof Deno.build.os = Deno.build.os): Backend {
  return absent("metal", {
    title: "Metal",
    missing: () =>
      os === "darwin" ? undefined : `Metal is only on macOS, and this is ${os}`,
  });
}
