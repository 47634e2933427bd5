/**
 * Mistakes in keeping faults with their kernel.
 *
 * @module
 */

import { type HarnessMutant, inFile } from "../mutant.ts";

const SUPERVISE = "bench/worker/supervise_test.ts";
const SEARCH = "bench/worker/supervise_search_test.ts";
const ORPHAN = "bench/worker/orphan_watch_test.ts";
const STATE = "backends/cpu/process_state_test.ts";
const TRACES = "bench/measure/traces_test.ts";
const CACHE = "bench/device/binary_cache_test.ts";
const CURRENT_CASE = "session/current_case_test.ts";

/** The mistakes. */
export const KEPT_APART: readonly HarnessMutant[] = [
  ...inFile("bench/worker/attend.ts", [SUPERVISE, SEARCH], [
    [
      "a failed row of a used worker counts",
      "if (this.#ran.size > 0 && !OWN.includes(status) && !isKnown) {",
      "if (false) {",
      "a kernel could make the next one wrong",
    ],
    [
      "others are not told from a wrong kernel itself",
      "[...this.#ran].every((other) => other === kernel)",
      "true",
      "others could make it wrong at shapes where it is right",
    ],
    [
      "a crash of a used worker counts",
      "if (this.#ran.size === 0) return undefined;",
      "return undefined;",
      "a kernel could make the next one crash",
    ],
    [
      "a lost config of a used worker counts",
      "        if (this.#ran.size > 0) {\n          const { key: doubted",
      "        if (false) {\n          const { key: doubted",
      "a kernel could lose another's configs",
    ],
    [
      "peers are doubted",
      "if (!this.#job.peers) this.#ran.add(",
      "this.#ran.add(",
      "each failure of a peer would start Python again",
    ],
  ]),
  ...inFile("bench/worker/supervise.ts", [SUPERVISE, SEARCH], [
    [
      "nothing is said of a failure that is taken back",
      'return text ? [{ event: "notice", text }, finished] : [finished];',
      "return [finished];",
      "nobody would hear of the kernel that left something behind",
    ],
  ]),
  ...inFile("bench/worker/worker_process.ts", [SUPERVISE], [
    [
      "only the group of a worker is ended",
      "    killMarked(this.#mark);\n",
      "",
      "a kernel's child with a session of its own would outlive the run",
    ],
    [
      "orphans that have no mark live on",
      "      killAdopted(new Set([...WorkerProcess.#living, ...this.#strangers]));\n",
      "",
      "a kernel's child with an empty environment would outlive the run",
    ],
  ]),
  ...inFile("bench/worker/orphan_watch.ts", [ORPHAN], [
    [
      "an orphan ends itself only",
      "if (mark) killMarked(mark);\n",
      "",
      "a kernel's child would outlive a run that was killed",
    ],
  ]),
  ...inFile("backends/cpu/process_state.ts", [STATE], [
    [
      "the environment in any order",
      "\n      .toSorted();",
      ";",
      "each kernel would get a process of its own",
    ],
    [
      "daemons are somebody else's children",
      "call.prctl?.(PR_SET_CHILD_SUBREAPER, 1n, 0n, 0n, 0n);",
      "",
      "a daemon would run beside the next kernels",
    ],
    [
      "a thread that works on is a pool",
      "!running && ran === before[i]!.ran",
      "true",
      "it would move the times of the next kernels",
    ],
    [
      "a pool is a thread that works on",
      "if (quiet) return false;",
      "",
      "each kernel with threads would cost a worker",
    ],
  ]),
  ...inFile("bench/measure/traces.ts", [TRACES], [
    [
      "a process in which a kernel was wrong is used again",
      "isWrong && !isContained || watch.spoilt()",
      "watch.spoilt()",
      "what it wrote past its operands would be there",
    ],
    [
      "other kernels follow a wrong one",
      'return isWrong ? "for others" : "for none";',
      'return "for none";',
      "what it wrote beyond its operands would be there",
    ],
    [
      "few timed calls show that there is no leak",
      "Math.max(0, Math.ceil((fit - timed.calls) / calls))",
      "0",
      "a kernel that leaks 4 KiB a call would pass",
    ],
    [
      "calls of many sets count as one",
      "const repeats = Math.ceil(fit / calls);",
      "const repeats = fit;",
      "a case of many sets would be called for seconds",
    ],
  ]),
  ...inFile("bench/device/binary_cache.ts", [CACHE], [
    [
      "a full disk is a kernel that does not compile",
      "      this.#keepingSync(() => assertRoom(draft, `${message}\\n${error.cause}`));\n",
      "",
      "it would replace a good row",
    ],
  ]),
  ...inFile("session/current_case.ts", [CURRENT_CASE], [
    [
      "a case is blamed at once",
      "const STARTS = 2;",
      "const STARTS = 1;",
      "a run that a scheduler killed would have a crash",
    ],
    [
      "a case is never blamed",
      "starts: again ? last.starts + 1 : 1",
      "starts: 1",
      "a kernel could end the program at each start",
    ],
  ]),
];
