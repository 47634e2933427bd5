/**
 * Reads what Linux tells of this process in `/proc/self`. Deno itself reads nothing there without
 * every permission.
 *
 * @module
 */

import { cstring } from "../shared/ffi.ts";

const p = "buffer" as const;
const LIBC = {
  open: { parameters: [p, "i32"], result: "i32" },
  read: { parameters: ["i32", p, "usize"], result: "isize" },
  close: { parameters: ["i32"], result: "i32" },
  opendir: { parameters: [p], result: "pointer" },
  readdir: { parameters: ["pointer"], result: "pointer" },
  closedir: { parameters: ["pointer"], result: "i32" },
  fcntl: { parameters: ["i32", "i32", "i32"], result: "i32" },
  dup2: { parameters: ["i32", "i32"], result: "i32" },
  readlink: { parameters: [p, p, "usize"], result: "isize" },
} as const satisfies Deno.ForeignLibraryInterface;

/** Where the name begins in a `struct dirent` of 64 bits. */
const DIRENT_NAME = 19;
/** Positions in `/proc/self/stat` after the program's name. */
const [STATE, FLAGS, NICE, POLICY] = [0, 6, 16, 38];
/** The flag of a process that is on its way out. */
const EXITING = 4;

/** The descriptor of standard output. */
export const STDOUT = 1;
/** A command of `fcntl`: makes a copy that programs that are started do not get. */
const F_DUPFD_CLOEXEC = 1030;

/** SIGKILL in a mask of signals. */
const KILLED = 1n << 8n;

/** The files of `/proc/self`. What cannot be read is empty. */
export class ProcFiles {
  readonly #output: number;

  private constructor(
    readonly call: Deno.DynamicLibrary<typeof LIBC>["symbols"],
  ) {
    this.#output = call.fcntl(STDOUT, F_DUPFD_CLOEXEC, 3);
  }

  /** Opens them; nothing on other systems than Linux with glibc. */
  static open(): ProcFiles | undefined {
    if (Deno.build.os !== "linux") return undefined;
    try {
      return new ProcFiles(Deno.dlopen("libc.so.6", LIBC).symbols);
    } catch (error) {
      if (error instanceof Error) return undefined;
      throw error;
    }
  }

  /** Has standard output be what it was when this was opened. */
  restoreOutput(): void {
    this.call.dup2(this.#output, STDOUT);
  }

  /** The threads of this process. */
  tasks(): readonly string[] {
    return this.#names("task");
  }

  /** The number of open files, the listing's own among them; nothing where it cannot be listed. */
  openFiles(): number | undefined {
    return this.#names("fd").length || undefined;
  }

  /**
   * The descriptors by which threads of the program wait, each with its kind. They stay open as
   * long as their thread lives; others, such as pipes, are closed when a collector likes. Nothing
   * where they cannot be listed.
   */
  waiting(): readonly string[] | undefined {
    const all = this.#names("fd");
    // The listing has one itself.
    if (all.length === 0) return undefined;
    return all.flatMap((fd) => {
      const bytes = new Uint8Array(256);
      const path = cstring(`/proc/self/fd/${fd}`);
      const size = this.call.readlink(path, bytes, BigInt(bytes.length));
      const kind = textOf(bytes, size);
      return /^anon_inode:\[event(?:poll|fd)\]$/.test(kind)
        ? [`${fd} ${kind}`]
        : [];
    });
  }

  /** The names in a folder of `/proc/self`. */
  #names(name: string): readonly string[] {
    const { call } = this;
    const folder = call.opendir(cstring(`/proc/self/${name}`));
    if (folder === null) return [];
    const names: string[] = [];
    for (let at = call.readdir(folder); at; at = call.readdir(folder)) {
      const name = new Deno.UnsafePointerView(at).getCString(DIRENT_NAME);
      if (!name.startsWith(".")) names.push(name);
    }
    call.closedir(folder);
    return names;
  }

  /** Whether a thread runs or waits for a core; `ran` changes whenever it has run. */
  activity(task: string): { readonly running: boolean; readonly ran: string } {
    return {
      running: fieldsOf(this.#text(`self/task/${task}/stat`))[STATE] === "R",
      ran: this.#text(`self/task/${task}/schedstat`),
    };
  }

  /** A field of `status`. */
  status(field: string): string {
    return fieldOf(this.#text("self/status"), field);
  }

  /** The niceness and the scheduling policy. */
  priority(): string {
    const text = this.#text("self/stat");
    const fields = fieldsOf(text);
    return text && `${fields[NICE]} ${fields[POLICY]}`;
  }

  /** The number of timers by `timer_create`. */
  timers(): number {
    return this.#text("self/timers").match(/^ID:/gm)?.length ?? 0;
  }

  /** Returns whether `pid` is no longer this process's parent, or was killed just now. */
  lost(pid: number): boolean {
    const status = this.#text(`${pid}/status`);
    const pending = BigInt(`0x${fieldOf(status, "SigPnd") || 0}`);
    const flags = Number(fieldsOf(this.#text(`${pid}/stat`))[FLAGS]);
    const parent = this.status("PPid");
    return (flags & EXITING) !== 0 || (pending & KILLED) !== 0n ||
      (parent !== "" && parent !== `${pid}`);
  }

  #text(name: string): string {
    const file = this.call.open(cstring(`/proc/${name}`), 0);
    if (file < 0) return "";
    const bytes = new Uint8Array(8192);
    const size = this.call.read(file, bytes, BigInt(bytes.length));
    this.call.close(file);
    return textOf(bytes, size);
  }
}

/** The text in the first `size` of `bytes`; empty where that is an error. */
function textOf(bytes: Uint8Array, size: bigint): string {
  return new TextDecoder().decode(bytes.subarray(0, Math.max(0, Number(size))));
}

/** A field of a `status`. */
function fieldOf(status: string, field: string): string {
  return new RegExp(`^${field}:\\s*(.*)$`, "m").exec(status)?.[1] ?? "";
}

/** The fields of a `stat` after the second, the program's name, which ends with the last parenthesis. */
function fieldsOf(stat: string): readonly string[] {
  return stat.slice(stat.lastIndexOf(")") + 2).split(" ");
}
