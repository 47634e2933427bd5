/**
 * Shares the cases of a sweep among the devices of a host.
 *
 * @module
 */

import { WriteError } from "../../bench/files/disk.ts";
import { counted } from "../../bench/files/terminal_text.ts";
import type { DeviceInfo } from "../../bench/device/device.ts";
import { UserError } from "../../bench/model/errors.ts";
import type { Case } from "../../bench/model/suite.ts";
import { caseText, keyOf } from "../../bench/row/row.ts";
import { weighed } from "../remaining.ts";
import { deal } from "./shards.ts";

/** Cases to share, and how they are measured. */
interface Shared {
  readonly cases: readonly Case[];
  /** Aborting it ends the wait for all devices. */
  readonly signal: AbortSignal;
  /** Those of `cases` that have no row yet. */
  missing(): readonly Case[];
  /**
   * Measures those of `own` that are missing on one device.
   *
   * @throws {UserError} Where the device is of no more use.
   */
  measure(
    own: readonly Case[],
    info: DeviceInfo,
    signal: AbortSignal,
  ): Promise<void>;
}

/** Devices of one kind, until they fail. */
export class Devices {
  #working: readonly DeviceInfo[];
  readonly #note: (text: string) => void;

  /** @param note Takes a line for each device that is left out from then on. */
  constructor(infos: readonly DeviceInfo[], note: (text: string) => void) {
    this.#working = infos;
    this.#note = note;
  }

  /**
   * Measures cases on all devices at once, each case on the same device in each repeat. Those of a
   * device that fails are dealt among the others.
   *
   * @throws {UserError} Where none is left, with what the first one said.
   */
  async run(shared: Shared): Promise<void> {
    const { cases, signal } = shared;
    let left = cases;
    while (!signal.aborted && shared.missing().length > 0) {
      const failed = await this.#round(left, shared);
      const [first] = failed.values();
      if (first === undefined) return;
      this.#working = this.#working.filter((info) => !failed.has(info));
      if (this.#working.length === 0) throw first;
      for (const [{ index }, { message }] of failed) {
        this.#note(
          `Device ${index} is left out, and its cases go to ${
            counted(this.#working.length, "other device")
          }: ${message}`,
        );
      }
      left = shared.missing();
    }
  }

  /** Measures `cases`. @returns The devices that failed. */
  async #round(
    cases: readonly Case[],
    { signal, missing, measure }: Shared,
  ): Promise<ReadonlyMap<DeviceInfo, UserError>> {
    const infos = this.#working;
    const weights = new Map(
      weighed(cases, infos[0]!).map((c) => [caseText(c.key), c.weight]),
    );
    const weigh = (c: Case) => weights.get(caseText(keyOf(c))) ?? 0;
    const left = new Set(missing());
    const failed = new Map<DeviceInfo, UserError>();
    const stop = new AbortController();
    const both = AbortSignal.any([signal, stop.signal]);
    const ends = deal(cases, infos.length, weigh).map(async (own, i) => {
      if (!own.some((c) => left.has(c))) return;
      try {
        await measure(own, infos[i]!, both);
      } catch (error) {
        if (error instanceof UserError && !(error instanceof WriteError)) {
          failed.set(infos[i]!, error);
          return;
        }
        // A full disk or a bug is no device's: nothing measured from now on could be kept.
        stop.abort();
        throw error;
      }
    });
    const bad = (await Promise.allSettled(ends)).find((end) =>
      end.status === "rejected"
    );
    if (bad) throw bad.reason;
    return failed;
  }
}
