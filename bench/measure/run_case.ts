/**
 * The life of one case, from config to row.
 *
 * @module
 */

import { worse } from "./assert_close.ts";
import { choose } from "../tune/choice.ts";
import { type Choice } from "../tune/chosen.ts";
import type { Telemetry } from "../device/device.ts";
import { CaseError } from "../model/errors.ts";
import { figuresOf } from "./figures.ts";
import { formatValues, type Values } from "../model/grid.ts";
import { provenanceOf } from "./provenance.ts";
import { blame } from "../model/blame.ts";
import { recheck } from "./recheck.ts";
import type { BenchContext, Prepared } from "./context.ts";
import { type Accuracy, keyOf, type Row, type RowBase } from "../row/row.ts";
import type { Case } from "../model/suite.ts";
import { setsOf, type Timed, timedOf } from "./timed.ts";
import { toleranceNote, verify, WrongError } from "./verify.ts";

/** A row, and the samples behind it in nanoseconds, in the order they were taken. */
export interface Outcome {
  readonly row: Row;
  readonly samples?: readonly number[];
}

/**
 * Builds, checks and times `c`. A failing kernel gives a row, not an exception.
 *
 * @throws {ConfigLostError} Where a config of its search made the device unusable: another
 * worker goes on with the others.
 */
export async function run(c: Case, context: BenchContext): Promise<Outcome> {
  const { name: device, arch } = context.device.info;
  let choice: Choice | undefined;
  let plans: readonly Prepared[] = [];
  let accuracy: Accuracy | undefined;
  let telemetry: Telemetry = {};
  const base = (note: string): RowBase => ({
    key: keyOf(c),
    place: { device, arch },
    config: choice ? formatValues(choice.config) : "",
    config_by: choice?.by ?? "",
    note,
    provenance: provenanceOf(context, {
      problem: c.problem,
      choice,
      built: plans[0]?.built ?? [],
      telemetry,
    }),
  });
  using scope = new DisposableStack();
  try {
    const reason = blame(
      "say whether the kernel runs here",
      () => c.unsupported(context.device.info),
    );
    if (reason !== undefined) throw new CaseError("unsupported", reason);

    const operands = () =>
      context.ledger.count(
        "check",
        () => context.operands(c.problem, setsOf(context, c.problem)),
      );
    operands();
    choice = await choose(c, context);
    // A search that met a wrong config has made new ones.
    const sets = operands();
    const { config } = choice;
    plans = await Promise.all(
      sets.map(async ({ memory }) =>
        scope.use(await context.prepare(c, { config, operands: memory }))
      ),
    );

    accuracy = await context.ledger.count(
      "check",
      () => check(c, { context, config, plans }),
    );
    const notes = [choice.note, toleranceNote(c, config)];
    const { once, checkOnly, tune } = context.settings;
    if (once || checkOnly || tune) {
      return { row: { ...base(joined(notes)), status: "checked", accuracy } };
    }

    context.warm();
    sets[0]!.poison();
    const { timed, samples } = context.ledger.count("time", () => {
      const timed = scope.use(timedOf(context, plans, c.problem));
      return { timed, samples: sample(timed, context) };
    });
    // Now, not when the row is written: the check that follows lets the clocks fall.
    telemetry = context.device.telemetry?.() ?? {};
    const after = await context.ledger.count(
      "check",
      () => recheck(c, { context, sets, config, timed }),
    );
    accuracy = { ...accuracy, ...worse(accuracy, after) };
    const figures = figuresOf(c.problem, samples, {
      calibration: context.calibration,
      graph: context.settings.timer === "graph",
    });
    if (figures.median_us < 1.1 * figures.floor_us) {
      notes.push("within 10 % of the timer's floor");
    }
    return {
      row: { ...base(joined(notes)), status: "ok", figures, accuracy },
      samples,
    };
  } catch (error) {
    if (!(error instanceof CaseError)) throw error;
    if (error.failure === "wrong") context.dropOperands();
    return {
      row: {
        ...base(joined([
          error.message,
          choice?.by === "cache" ? "its config is from the timing cache" : "",
        ])),
        status: error.failure,
        ...(error instanceof WrongError ? { accuracy: error.accuracy } : {}),
      },
    };
  }
}

function joined(notes: readonly string[]): string {
  return notes.filter((note) => note !== "").join("; ");
}

/** Runs each plan on poisoned outputs, the first one twice, and compares the first. */
async function check(
  c: Case,
  { context, config, plans }: {
    context: BenchContext;
    config: Values;
    plans: readonly Prepared[];
  },
): Promise<Accuracy> {
  const set = context.operands(c.problem)[0]!;
  const once = () => {
    set.poison();
    plans[0]!.run();
    context.device.synchronize();
    context.pulse.beat();
    return set.outputs();
  };
  const first = once();
  const accuracy = await verify(c, { context, set, config, when: "" });
  if (context.settings.once) return accuracy;
  for (const plan of plans.slice(1)) {
    plan.run();
    context.pulse.beat();
  }
  const second = once();
  const deterministic = first.every(({ bytes }, i) =>
    bytes.every((byte, at) => byte === second[i]!.bytes[at])
  );
  if (deterministic) return { ...accuracy, deterministic };
  const again = await verify(c, {
    ...{ context, set, config },
    when: "on its second run, ",
  });
  return { ...worse(accuracy, again), deterministic };
}

/** Nanoseconds of each sample, by the timer of the settings. */
function sample(timed: Timed, context: BenchContext): number[] {
  const { warmup, rep } = context.settings;
  context.ledger.ask(warmup + rep);
  return timed.sample(warmup, rep);
}
