/**
 * Kernels that cheat, and what their rows say.
 *
 * @module
 */

import type { Timer } from "../../../bench/model/settings.ts";

/** Where cheats run: C on this machine, CUDA on the lane emulator or on a GPU. */
export type Place = "cpu" | "emulator" | "cuda";

/** A cheat. */
export interface Cheat {
  /** The kernel's name; its function has underscores in the place of hyphens. */
  readonly name: string;
  /** What the note of its row says, by where it runs; a cheat runs nowhere else. */
  readonly notes: Readonly<Partial<Record<Place, RegExp>>>;
  /** The type of its operands. @default {"f32"} */
  readonly type?: "bf16";
  /** @default {"do_bench"} */
  readonly timer?: Timer;
  /** @default {"warm"} */
  readonly cache?: "cold" | "warm";
  /** True if its row is `ok`, and marked as suspect. @default {false} */
  readonly suspect?: boolean;
  /** True if only Linux can tell, of C. @default {false} */
  readonly linux?: boolean;
}

/** What a row says of a cheat. */
export interface Verdict {
  readonly kernel: string;
  readonly status: string;
  readonly note: string;
  /** Microseconds; of a row that is ok. */
  readonly median_us?: number;
}

const ELSEWHERE =
  "the call failed \\(operands unpadded, inputs read-only\\): .*";
/** What CUDA's driver says of an access to what is not mapped. */
const ILLEGAL = new RegExp(`^${ELSEWHERE}CUDA_ERROR_ILLEGAL_ADDRESS`);
const MISMATCH = /^C: \d+ of \d+ elements mismatch/;
const LEAKED =
  /^suspect: leaked about \d+ KiB of memory in each of its last \d+ calls$/;
const ENVIRONMENT = /^suspect: changed the floating-point environment/;

/** Returns the notes of a cheat that reads or writes elsewhere. */
function outside(cpu: RegExp, emulator: string): Cheat["notes"] {
  return {
    cpu,
    emulator: new RegExp(`^${ELSEWHERE}${emulator}`),
    cuda: ILLEGAL,
  };
}

/** Of a copy of the outputs that was made right behind the end of a sample. */
const TIMED =
  /^while timed, at sample \d+ of \d+(, input set \d of 4)?: C \(\d+, \d+\) is \S+ instead of \S+ \(\d+ of \d+ compared elements are wrong\)(: right for|: still poison|$)/;

/** The same, or of a call after the last sample. */
const AGAIN = new RegExp(
  `${TIMED.source}|^right at first, but not when called again after timing: C: |^after timing, C: `,
);

/** The same, or of the second check, before which outputs are filled with another byte. */
const SECOND = new RegExp(`${TIMED.source}|^on its second run, C: `);

const REMEMBERED = /: results may be remembered(; |$)/;

/** That of {@linkcode TIMED}, or of a write that came so late that the memory was somebody else's. */
const LATE = new RegExp(`${TIMED.source}|^The worker was killed by SIG`);

/** Returns one note for all places. */
function everywhere(note: RegExp): Cheat["notes"] {
  return { cpu: note, emulator: note, cuda: note };
}

/** Every cheat. */
export const CHEATS: readonly Cheat[] = [
  { name: "remember-by-pointer", notes: everywhere(TIMED) },
  { name: "remember-by-hash", notes: everywhere(TIMED) },
  { name: "repair-a-few", notes: { cpu: REMEMBERED }, suspect: true },
  { name: "skip-unless-poison", notes: everywhere(SECOND) },
  { name: "skip-if-one-is-right", notes: everywhere(TIMED) },
  { name: "skip-if-one-row-is-right", notes: { cpu: TIMED } },
  { name: "eighth-of-k", notes: everywhere(TIMED) },
  {
    name: "recognise-the-flush",
    notes: { cpu: TIMED, cuda: TIMED },
    cache: "cold",
  },
  { name: "every-second-call", notes: everywhere(AGAIN) },
  { name: "last-tile-of-earlier-call", notes: everywhere(TIMED) },
  { name: "detached-thread", notes: { cpu: LATE } },
  { name: "child-process", notes: { cpu: LATE }, linux: true },
  {
    name: "compute-when-read",
    notes: { cpu: /^suspect: left another handler of signal 11 behind$/ },
    linux: true,
  },
  { name: "copy-first-set", notes: everywhere(TIMED), timer: "batch:4" },
  { name: "zeros-in-other-sets", notes: everywhere(TIMED), timer: "batch:4" },
  { name: "repack-once", notes: everywhere(TIMED) },
  {
    name: "borrow-an-input",
    notes: outside(
      /^A: is an input, and was written to at byte 0$/,
      "writes 4 bytes to global memory that is read-only, at byte 0$",
    ),
    linux: true,
  },
  {
    name: "read-8-bytes-past",
    notes: outside(
      /^B: was touched 4 bytes past its end$/,
      "reads 4 bytes at 0x[0-9a-f]+, which is no memory of the kernel's$",
    ),
    linux: true,
  },
  {
    name: "read-4-mb-past",
    notes: outside(
      /^B: was touched 4194304 bytes past its end$/,
      "reads 4 bytes at 0x[0-9a-f]+, which is no memory of the kernel's$",
    ),
    linux: true,
  },
  {
    name: "read-4-mb-before",
    notes: outside(
      /^A: was touched 4194304 bytes before its start$/,
      "reads 4 bytes at 0x[0-9a-f]+, which is no memory of the kernel's$",
    ),
    linux: true,
  },
  {
    name: "write-64-kb-past",
    notes: outside(
      /^C: was written 65536 bytes past its end$/,
      "writes 4 bytes at 0x[0-9a-f]+, which is no memory of the kernel's$",
    ),
    linux: true,
  },
  {
    name: "tf32",
    notes: everywhere(MISMATCH),
  },
  { name: "bf16x2", notes: everywhere(/looks like/) },
  {
    name: "precise-if-nan",
    notes: { cpu: /^on its second run, C: looks like bf16x2/ },
  },
  {
    name: "precise-if-filled",
    notes: { cpu: /^while timed: C: looks like/ },
  },
  {
    name: "fp16-sums",
    notes: everywhere(/^C: \d+ of \d+ elements mismatch|looks like fp16/),
    type: "bf16",
  },
  { name: "leak", notes: everywhere(LEAKED) },
  {
    name: "find-the-reference",
    notes: {
      cpu: TIMED,
      emulator: /which is no memory of the kernel's$/,
      cuda: TIMED,
    },
    linux: true,
  },
  { name: "another-stream", notes: { cuda: TIMED } },
  {
    name: "access-policy-window",
    notes: { cuda: /^suspect: set \d+ KiB of the cache aside for lines/ },
    cache: "cold",
  },
  { name: "evict-last", notes: { cuda: /^/ }, cache: "cold" },
  {
    name: "round-upwards",
    // Its sums may be too far off before anybody looks.
    notes: { cpu: new RegExp(`${ENVIRONMENT.source}|looks like`) },
  },
  { name: "flush-denormals", notes: { cpu: ENVIRONMENT } },
  {
    name: "leave-an-alarm",
    notes: { cpu: /^suspect: left an alarm behind$/ },
  },
  {
    name: "leave-a-limit",
    notes: { cpu: /^suspect: left another limit of CPU time behind$/ },
  },
  {
    name: "leave-a-handler",
    notes: { cpu: /^suspect: left another handler of signal 8 behind$/ },
  },
  {
    name: "leave-a-thread",
    notes: { cpu: /^suspect: left 1 more thread running$/ },
    linux: true,
  },
  {
    name: "keep-a-thread",
    notes: {
      cpu:
        /^suspect: a thread that it started works on between its calls: results may be computed ahead$/,
    },
    suspect: true,
    linux: true,
  },
  {
    name: "leave-a-process",
    notes: { cpu: /^suspect: left a child process behind$/ },
    linux: true,
  },
];

/** The kernel that does not cheat. */
export const HONEST = "honest";

/** Returns the cheats that run at `place`, on this operating system. */
export function cheatsAt(place: Place): readonly Cheat[] {
  const linux = Deno.build.os === "linux";
  return CHEATS.filter((cheat) =>
    cheat.notes[place] && (linux || place === "cuda" || !cheat.linux)
  );
}
