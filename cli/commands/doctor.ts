/**
 * `mnkbench doctor`: what works on this machine, and what would mend the rest.
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
import { EXIT } from "../../bench/model/errors.ts";
import { hostDisturbances } from "../../bench/device/machine.ts";
import {
  attempt,
  examine,
  examineQuiet,
  type Finding,
} from "./doctor/parts.ts";
import { pythonOf } from "../../peers/cases.ts";
import { say, tell } from "../terminal/output.ts";

/** `mnkbench doctor`. */
export const command = define({
  name: "doctor",
  brief: BRIEFS.doctor,
  examples: ["doctor", "doctor --json"],
  codes: {
    0: "a backend is usable",
    1: "this machine has a GPU, and only the CPU is usable",
    3: "no backend is usable",
  },
  flags: () =>
    object({ json: toggle("--json", "Print the findings as JSON.") }),
  run: doctor,
});

/** Tools that commands start, and who needs them. */
const TOOLS = [
  { what: "tar", args: ["--version"], mend: "apt-get install tar" },
  { what: "xz", args: ["--version"], mend: "apt-get install xz-utils" },
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
  if (json) say(JSON.stringify(findings, null, 2));
  else for (const finding of findings) say(formatFinding(finding));
  const names = backends.map(({ name }) => name);
  const usable = findings.filter(({ what, ok }) => ok && names.includes(what));
  if (usable.length > 0) {
    tell(`Usable: ${usable.map(({ what }) => what).join(", ")}`);
    const broken = findings.filter(({ what, ok, skipped }) =>
      !ok && !skipped && names.includes(what)
    );
    // A second GPU, such as a processor's own, may well be left without its drivers.
    const onlyHost = usable.every(({ what }) => what === "cpu");
    return broken.length > 0 && onlyHost ? EXIT.failed : EXIT.ok;
  }
  tell("No backend is usable");
  return EXIT.nothing;
}

/**
 * Formats a finding as one line.
 *
 * @example
 * ```ts
 * import { formatFinding } from "./doctor.ts";
 * import { strictEqual } from "node:assert/strict";
 *
 * const xz = { what: "xz", ok: false, detail: "not found", mend: "apt-get install xz-utils" };
 * strictEqual(formatFinding(xz), "FAIL xz: not found; mend: apt-get install xz-utils");
 * ```
 */
export function formatFinding(
  { what, ok, skipped, detail, mend }: Finding,
): string {
  if (ok) return `PASS ${what}: ${detail}`;
  if (skipped) return `SKIP ${what}: ${detail}`;
  return `FAIL ${what}: ${detail}${mend === "" ? "" : `; mend: ${mend}`}`;
}

function isSkipped(findings: readonly Finding[], name: string): boolean {
  return findings.some(({ what, skipped }) => what === name && skipped);
}

function peersElsewhere(): Finding {
  const detail = `they are measured on ${PEERS_BACKEND}`;
  return { what: "peers torch", ok: false, skipped: true, detail, mend: "" };
}

/**
 * Finds out whether `python` has PyTorch and Triton. It imports neither, which takes seconds:
 * the rows of peers say whether PyTorch can use the GPU.
 */
export function examinePeers(python: string): Finding {
  const what = "peers torch";
  const mend =
    `pip install torch triton, or name a Python that has them with ${PYTHON_VARIABLE}`;
  return attempt({ what, mend }, () => {
    const { success, stdout } = new Deno.Command(python, {
      args: ["-c", VERSIONS],
      stderr: "null",
    }).outputSync();
    const text = new TextDecoder().decode(stdout).trim();
    if (success && text !== "") return `${text} of ${python}`;
    throw new Error(`${python} has no PyTorch or no Triton`);
  });
}

/** Finds out whether kernels can be checked without a GPU. */
export function examineEmulator(os = Deno.build.os): Finding {
  const what = "emulator";
  const finding = attempt({ what, mend: "apt-get install g++" }, () => {
    const { version } = findCxx(CXX, os);
    return `check --device ${EMULATED.join(", ")}, built by ${version}`;
  });
  return os === "linux" ? finding : { ...finding, skipped: true, mend: "" };
}

function examineTool(tool: typeof TOOLS[number]): Finding {
  return attempt(tool, () => {
    const { success, stdout } = new Deno.Command(tool.what, {
      args: [...tool.args],
      stderr: "null",
    }).outputSync();
    if (!success) throw new Error(`${tool.what} --version failed`);
    return new TextDecoder().decode(stdout).split("\n")[0]!;
  });
}
