/**
 * Device APIs that this version knows of but cannot use.
 *
 * @module
 */

import type { Backend } from "../bench/device.ts";
import { CaseError, EXIT, UserError } from "../bench/errors.ts";

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

/** Apple GPUs. */
export function metal(os: typeof Deno.build.os = Deno.build.os): Backend {
  return absent("metal", {
    title: "Metal",
    missing: () =>
      os === "darwin" ? undefined : `Metal is only on macOS, and this is ${os}`,
  });
}
