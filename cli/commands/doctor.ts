/**
 * `mnkbench doctor`: what works on this machine, and what would fix the rest.
 *
 * @module
 */

import { object } from "@optique/core/constructs";
import { BRIEFS, define } from "../command.ts";
import { toggle } from "../options/flags.ts";
import { EMULATED } from "../../backends/emulator/names.ts";
import { CXX, findCxx } from "../../backends/emulator/emulator.ts";
import { allBackends } from "../../backends/mod.ts";
import { PEERS_BACKEND, PYTHON_VARIABLE } from "../../bench/model/peer.ts";
import { runProgramSync } from "../../bench/files/run_program.ts";
import { EXIT } from "../../bench/model/errors.ts";
import { hostDisturbances } from "../../bench/device/machine.ts";
import {
  attempt,
  examine,
  examineQuiet,
  type Finding,
} from "./doctor/parts.ts";
import { pythonOf } from "../../peers/cases.ts";
import { logLine, printLine } from "../terminal/output.ts";

/** `mnkbench doctor`. */
export const command = define({
  name: "doctor",
  brief: BRIEFS.doctor,
  examples: ["doctor", "doctor --devices"],
  codes: {
    0: "no line says FAIL",
    1: "a line says FAIL: a GPU or a compiler does not work",
    3: "no backend is usable; with --devices, there are no two GPUs",
  },
  flags: () =>
    object({
      devices: toggle(
        "--devices",
        "Measure the same cases alone and together on each GPU, and compare.",
      ),
      json: toggle("--json", "Print the findings as JSON."),
    }),
  run: async ({ devices, json }) => {
    if (!devices) return await doctor({ json });
    const { examineDevices } = await import("./doctor/devices.ts");
    return await examineDevices(json);
  },
});

/** Milliseconds that a program has to say its version. */
const LIMIT_MS = 20_000;

/** Tools that commands start, and who needs them. */
const TOOLS = [
  // A part of macOS.
  { what: "tar", args: ["--version"], fix: "apt-get install tar" },
  {
    what: "xz",
    args: ["--version"],
    fix: Deno.build.os === "darwin"
      ? "brew install xz"
      : "apt-get install xz-utils",
  },
] as const;

const VERSIONS = `from importlib.metadata import version
print(*(f"{name} {version(name)}" for name in ("torch", "triton")), sep=", ")`;

/** Prints a line for each part of the machine. */
async function doctor({ json }: { readonly json: boolean }): Promise<number> {
  const backends = await allBackends();
  const devices = backends.flatMap((backend) => examine(backend));
  const findings = [
    ...devices,
    isSkipped(devices, PEERS_BACKEND)
      ? peersElsewhere()
      : examinePeers(pythonOf(undefined)),
    ...TOOLS.map(examineTool),
    examineEmulator(),
    examineQuiet("host", hostDisturbances()),
  ];
  const names = backends.map(({ name }) => name);
  const levels = graded(findings, names);
  if (json) printLine(JSON.stringify(levels, null, 2));
  else for (const finding of levels) printLine(formatFinding(finding));
  const usable = usableOf(findings, names);
  logLine(
    usable.length > 0 ? `Usable: ${usable.join(", ")}` : "No backend is usable",
  );
  if (usable.length === 0) return EXIT.nothing;
  return levels.some(({ level }) => level === "FAIL") ? EXIT.failed : EXIT.ok;
}

function usableOf(
  findings: readonly Finding[],
  backends: readonly string[],
): readonly string[] {
  return backends.filter((name) =>
    findings.some(({ what, ok }) => ok && what === name)
  );
}

/** A finding, and how much it matters. */
export interface GradedFinding extends Finding {
  readonly level: "PASS" | "WARN" | "FAIL" | "SKIP";
}

/**
 * Returns `findings` with their levels. What does not work is a failure where `bench` needs it: the
 * device that it takes, or would if it worked, and the compiler of that.
 *
 * @param backends In the order in which `bench` prefers them.
 */
export function graded(
  findings: readonly Finding[],
  backends: readonly string[],
): readonly GradedFinding[] {
  const [taken = "cpu"] = usableOf(findings, backends);
  return findings.map((finding): GradedFinding => {
    const { what, ok, skipped, needed } = finding;
    const backend = what.split(" ")[0]!;
    // A second GPU, such as a processor's own, may well be left without its drivers.
    const matters = needed && (taken === "cpu" || backend === taken);
    const level = ok ? "PASS" : skipped ? "SKIP" : matters ? "FAIL" : "WARN";
    return { ...finding, level };
  });
}

/**
 * Formats a finding as one line.
 *
 * @example
 * ```ts
 * import { formatFinding } from "./doctor.ts";
 * import { strictEqual } from "node:assert/strict";
 *
 * const xz = { what: "xz", ok: false, detail: "not found", fix: "apt-get install xz-utils" };
 * strictEqual(
 *   formatFinding({ ...xz, level: "WARN" }),
 *   "WARN xz: not found; fix: apt-get install xz-utils",
 * );
 * ```
 */
export function formatFinding(
  { what, level, detail, fix }: GradedFinding,
): string {
  // Errors of libraries name the command that installs them.
  const isKnown = fix === "" || detail.includes(fix);
  const way = level === "PASS" || level === "SKIP" || isKnown
    ? ""
    : `; fix: ${fix}`;
  return `${level} ${what}: ${detail}${way}`;
}

function isSkipped(findings: readonly Finding[], name: string): boolean {
  return findings.some(({ what, skipped }) => what === name && skipped);
}

function peersElsewhere(): Finding {
  const detail = `they are measured on ${PEERS_BACKEND}`;
  return { what: "peers torch", ok: false, skipped: true, detail, fix: "" };
}

/**
 * Finds out whether `python` has PyTorch and Triton. It imports neither, which takes seconds:
 * the rows of peers say whether PyTorch can use the GPU.
 */
function examinePeers(python: string): Finding {
  const what = "peers torch";
  const fix =
    `pip install torch triton, or name a Python that has them with ${PYTHON_VARIABLE}`;
  return attempt({ what, fix }, () => {
    const { success, stdout } = runProgramSync(python, {
      args: ["-c", VERSIONS],
      limitMs: LIMIT_MS,
    });
    const text = stdout.trim();
    if (success && text !== "") return `${text} of ${python}`;
    throw new Error(`${python} has no PyTorch or no Triton`);
  });
}

/** Finds out whether kernels can be checked without a GPU. */
function examineEmulator(os = Deno.build.os): Finding {
  const what = "emulator";
  const finding = attempt({ what, fix: "apt-get install g++" }, () => {
    const { version } = findCxx(CXX, os);
    return `check --device ${EMULATED.join(", ")}, built by ${version}`;
  });
  return os === "linux" ? finding : { ...finding, skipped: true, fix: "" };
}

function examineTool(tool: typeof TOOLS[number]): Finding {
  return attempt(tool, () => {
    const { args, what } = tool;
    const { success, stdout } = runProgramSync(what, {
      args,
      limitMs: LIMIT_MS,
    });
    if (!success) throw new Error(`${what} --version failed`);
    return stdout.split("\n")[0]!;
  });
}
