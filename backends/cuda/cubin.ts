/**
 * Reads what kernels of a cubin take of a multiprocessor, as `ptxas -v` prints it.
 *
 * A cubin is an ELF file of 64 bits (System V ABI). Its section `.nv.info` has records of a
 * format, an attribute, a length and a value, of which NVIDIA documents none; `cuobjdump -elf`
 * shows them by name, and `cubin_test.ts` compares what they say with the log of ptxas.
 *
 * @module
 */

/** The needs of a kernel. */
export interface KernelNeeds {
  readonly name: string;
  /** Registers of a thread. */
  readonly registers: number;
  /** Bytes of local memory of a thread: spilled registers, and arrays that are none. */
  readonly stackBytes: number;
}

const MAGIC = [0x7f, 0x45, 0x4c, 0x46, 2, 1];
/** A record whose value has a length of its own: EIFMT_SVAL. */
const SIZED = 4;
/** EIATTR_FRAME_SIZE and EIATTR_REGCOUNT: a symbol and a number, both of 32 bits. */
const [FRAME, REGISTERS] = [0x11, 0x2f];
/** Bytes of a header, of the file and of a section, and of a symbol. */
const [HEADER, SYMBOL] = [64, 24];

/** Returns whether `bytes` begin as a cubin of 64 bits: EM_CUDA is 190. */
export function isCubin(bytes: Uint8Array): boolean {
  return bytes.length >= HEADER &&
    MAGIC.every((byte, i) => bytes[i] === byte) &&
    bytes[18] === 190;
}

/**
 * Returns the architecture of a cubin, such as 90. The flags of ELF have it, before version 8 of its
 * ABI (CUDA 13) in the lowest byte, since then in the next.
 */
export function smOf(bytes: Uint8Array): number {
  const [abi, flags] = [bytes[8]!, 48];
  return bytes[abi < 8 ? flags : flags + 1]!;
}

/** Returns the needs of each kernel in `bytes`; nothing where these are no such cubin. */
export function needsOf(bytes: Uint8Array): readonly KernelNeeds[] {
  if (MAGIC.some((byte, i) => bytes[i] !== byte)) return [];
  try {
    return parse(bytes);
  } catch (error) {
    // It ends within what it says it has.
    if (error instanceof RangeError) return [];
    throw error;
  }
}

interface Section {
  readonly name: string;
  readonly at: number;
  readonly size: number;
  /** The section that this one refers to: of symbols, their names. */
  readonly link: number;
}

function parse(bytes: Uint8Array): KernelNeeds[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const sections = sectionsOf(view);
  const info = sections.find(({ name }) => name === ".nv.info");
  const symbols = sections.find(({ name }) => name === ".symtab");
  if (info === undefined || symbols === undefined) return [];
  const found = new Map<number, Record<number, number>>();
  const end = info.at + info.size;
  for (let at = info.at; at + 4 <= end;) {
    const [format, attribute] = [view.getUint8(at), view.getUint8(at + 1)];
    const length = view.getUint16(at + 2, true);
    at += 4;
    if (format !== SIZED) continue;
    if (attribute === FRAME || attribute === REGISTERS) {
      const symbol = view.getUint32(at, true);
      const own = found.get(symbol) ?? {};
      own[attribute] = view.getUint32(at + 4, true);
      found.set(symbol, own);
    }
    at += length;
  }
  const names = sections[symbols.link]?.at ?? 0;
  return [...found].flatMap(([symbol, own]) => {
    const registers = own[REGISTERS];
    if (registers === undefined) return [];
    const at = view.getUint32(symbols.at + symbol * SYMBOL, true);
    const name = textAt(view, names + at);
    return [{ name, registers, stackBytes: own[FRAME] ?? 0 }];
  });
}

function sectionsOf(view: DataView): Section[] {
  const from = Number(view.getBigUint64(40, true));
  const [count, ofNames] = [view.getUint16(60, true), view.getUint16(62, true)];
  const all = Array.from({ length: count }, (_, i) => {
    const at = from + i * HEADER;
    return {
      named: view.getUint32(at, true),
      at: Number(view.getBigUint64(at + 24, true)),
      size: Number(view.getBigUint64(at + 32, true)),
      link: view.getUint32(at + 40, true),
    };
  });
  const names = all[ofNames]?.at ?? 0;
  return all.map((one) => ({ ...one, name: textAt(view, names + one.named) }));
}

/** Returns the text at `at`, which ends with a zero. */
function textAt(view: DataView, at: number): string {
  let text = "";
  for (let i = at; view.getUint8(i) !== 0; i++) {
    text += String.fromCharCode(view.getUint8(i));
  }
  return text;
}
