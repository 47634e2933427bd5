/**
 * Says what a worker is at.
 *
 * @module
 */

import { recordsTimes, type Settings } from "../bench/model/settings.ts";
import type { CaseKey } from "../bench/row/row.ts";
import type { Event } from "../bench/worker/protocol.ts";

/** A case for people. */
export function titleOf(
  { suite, kernel, m, n, k, layout, params }: CaseKey,
): string {
  return [suite, kernel, `${m}×${n}×${k}`, layout, params]
    .filter((part) => part !== "").join(" ");
}

/** Says what a worker is at: building, and searching or timing a case. */
export class PhaseNote {
  readonly #work: string;
  #build = "";
  #case = "";

  constructor(
    settings: Pick<Settings, "once" | "checkOnly" | "tune">,
  ) {
    this.#work = recordsTimes(settings) ? "time" : "check";
  }

  /** The note after `event`; nothing where it is as before. */
  take(event: Event): string | undefined {
    const before = this.#text();
    switch (event.event) {
      case "build": {
        const { done, total } = event;
        this.#build = done < total ? `build ${done}/${total}` : "";
        break;
      }
      case "case":
        this.#case = `${this.#work} ${titleOf(event.key)}`;
        break;
      case "progress":
        if (event.trying) this.#case = `search ${titleOf(event.trying.key)}`;
        break;
      case "tuned":
        this.#case = `${this.#work} ${titleOf(event.key)}`;
    }
    const text = this.#text();
    return text === before ? undefined : text;
  }

  #text(): string {
    return [this.#build, this.#case].filter((part) => part !== "").join(", ");
  }
}
