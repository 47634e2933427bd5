/**
 * Kernels that cheat, and what their rows say.
 *
 * @module
 */

import type { Timer } from "../../../bench/model/settings.ts";

/** A cheat on one backend. */
export interface Cheat {
  /** The kernel's name; its function has underscores in the place of hyphens. */
  readonly name: string;
  /** What the note of its row says. */
  readonly note: RegExp;
  /** @default {"do_bench"} */
  readonly timer?: Timer;
  /** @default {"warm"} */
  readonly cache?: "cold" | "warm";
  /** The operating system that it needs. @default {any} */
  readonly os?: "linux";
}

/** Kernels that cheat, by backend. */
export const CHEATS: Readonly<Record<"cpu", readonly Cheat[]>> = {
  cpu: [
    {
      name: "borrow-an-input",
      note: /^A: is an input, and was written to at byte 0$/,
      os: "linux",
    },
    {
      name: "read-8-bytes-past",
      note: /^B: was touched 4 bytes past its end$/,
      os: "linux",
    },
    {
      name: "read-4-mb-past",
      note: /^B: was touched 4194304 bytes past its end$/,
      os: "linux",
    },
    {
      name: "read-4-mb-before",
      note: /^A: was touched 4194304 bytes before its start$/,
      os: "linux",
    },
    {
      name: "write-64-kb-past",
      note: /^C: was written 65536 bytes past its end$/,
      os: "linux",
    },
    { name: "tf32", note: /^C: \d+ of 256 elements mismatch/ },
    {
      name: "leak",
      note:
        /^suspect: leaked about \d+ KiB of memory in each of its last \d+ calls$/,
    },
    {
      name: "round-upwards",
      note: /^suspect: changed the floating-point environment/,
    },
    {
      name: "flush-denormals",
      note: /^suspect: changed the floating-point environment/,
    },
    { name: "leave-an-alarm", note: /^suspect: left an alarm behind$/ },
    {
      name: "leave-a-limit",
      note: /^suspect: left another limit of CPU time behind$/,
    },
    {
      name: "leave-a-handler",
      note: /^suspect: left another handler of signal 8 behind$/,
    },
    {
      name: "leave-a-thread",
      note: /^suspect: left 1 more thread running$/,
      os: "linux",
    },
    {
      name: "leave-a-process",
      note: /^suspect: left a child process behind$/,
      os: "linux",
    },
  ],
};

/** The kernel that does not cheat. */
export const HONEST = "honest";
