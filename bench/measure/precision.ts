/**
 * Measures how precisely a result was summed, in bits, whatever type it was rounded to.
 *
 * @module
 */

import {
  BYTES,
  decode,
  type DType,
  encode,
  reader,
  SIGNIFICANT_BITS,
} from "../model/dtype.ts";
import { type Operand, productsIn, type Reference } from "../model/problem.ts";
import { spreadIndices } from "./spread.ts";

/** Right values: fp32 will do for outputs of 16 bits. */
export type Numbers = Float64Array | Float32Array;

/** Elements of an output, at each of `rows` and `columns`, and the size of their terms. */
export interface Terms {
  readonly rows: readonly number[];
  readonly columns: readonly number[];
  /** √Σ(aₖ·bₖ)² of each, a row after the other. */
  readonly norms: Float64Array;
}

/** An output, what is right, and the terms that its elements are sums of. */
export interface Summed {
  readonly operand: Operand;
  /** As stored, padding included. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** `rows × cols` values, without padding. */
  readonly right: Numbers;
  /** Missing where the operation does not tell. */
  readonly terms?: Terms | undefined;
}

/** The precision of a result. */
export interface Precision {
  /** Effective bits; missing where no element has terms. */
  readonly bits?: number;
  /** What the result looks like, if it has fewer bits than it must; missing otherwise. */
  readonly wrong?: string;
  /** True if most elements are too far off: not a few that are wrong altogether. */
  readonly even?: boolean;
}

/** Sums in fp32 have no more. */
const MOST_BITS = 24;
/** Standard deviation of normal errors over their mean magnitude. */
const DEVIATION = Math.sqrt(Math.PI / 2);
/** Rare normal errors are beyond so many mean magnitudes. */
const RARE = 2.5;
/** A result that was precise enough would be refused once in so many. */
const CHANCE = 1e4;

/** Products of elements that are looked at, and how many elements. */
const PRODUCTS = { most: 2 ** 22, elements: { least: 256, most: 4096 } };

/**
 * Returns the terms of some elements of each output; undefined where `reference` does not tell
 * them. It takes a few milliseconds.
 *
 * @param flops The flops of all outputs.
 */
export function termsOf(
  outputs: readonly Operand[],
  { norms }: Pick<Reference, "norms">,
  flops: number,
): readonly (Terms | undefined)[] {
  const { least, most } = PRODUCTS.elements;
  const products = productsIn({ work: { flops }, operands: outputs });
  const wanted = Math.min(most, Math.max(least, PRODUCTS.most / products)) /
    outputs.length;
  return outputs.map(({ rows: m, cols: n }, output) => {
    if (norms === undefined || m * n === 0) return undefined;
    const height = Math.min(
      m,
      Math.ceil(Math.max(Math.sqrt(wanted), wanted / n)),
    );
    const rows = spreadIndices(m, height);
    const columns = spreadIndices(n, Math.ceil(wanted / height));
    return { rows, columns, norms: norms(output, rows, columns) };
  });
}

/**
 * Returns the effective bits of `outputs`, and whether these are fewer than `asked`.
 *
 * An element c = Σ aₖ·bₖ that was computed as c + ε has bits = −log₂(σ(ε) / √Σ(aₖ·bₖ)²). If
 * each term has an independent relative error of deviation 2⁻ᵖ, there are p bits whatever K is;
 * for terms of random sign √Σ(aₖ·bₖ)² is about √K times the mean of |aₖ·bₖ|, as in N. J.
 * Higham and T. Mary, "A New Approach to Probabilistic Rounding Error Analysis", SIAM J. Sci.
 * Comput. 41 (2019). Operands rounded to a format of p significant bits, two for each term, have
 * p + 0.8 bits; a sum of K terms in one fp32 accumulator has 25.8 − ½·log₂ K.
 *
 * σ(ε) is estimated as √(π/2) times the mean of |round(c + ε) − round(c)|, where round() is to
 * the type of the output. On average over many c this is |ε| even where that is far below the
 * last place of the type, as few elements then change by a whole unit (Widrow and Kollár,
 * "Quantization Noise", 2008, on dither). So the rounding of the output itself does not
 * count. There are at most 24 bits, and at most what so many elements can tell.
 *
 * Too few bits are no proof if the elements are few. By Chernoff's bound for sums of values
 * from 0 to 1, a result with `asked` bits is refused with a probability below 10⁻⁴.
 *
 * @param asked The least bits; undefined if any number will do.
 */
export function precisionOf(
  outputs: readonly Summed[],
  asked?: number,
): Precision {
  let [count, errors, units] = [0, 0, 0];
  let [seen, expected] = [0, 0];
  for (const one of outputs) {
    for (const { error, norm, unit } of errorsOf(one)) {
      count++;
      errors += error / norm;
      units += unit / norm;
      if (asked === undefined) continue;
      const likely = norm * 2 ** -asked / DEVIATION;
      const step = Math.max(unit, RARE * likely);
      seen += Math.min(1, error / step);
      expected += likely / step;
    }
  }
  if (count === 0) return {};
  // Half a unit of one element is the least that can be seen.
  const noise = DEVIATION * Math.max(errors, units / count / 2) / count;
  const bits = Math.min(MOST_BITS, Math.max(0, -Math.log2(noise)));
  if (asked === undefined || bits >= asked || seen <= expected) return { bits };
  const exponent = seen * Math.log(seen / expected) - seen + expected;
  if (exponent < Math.log(CHANCE)) return { bits };
  const narrow = outputs.every(({ operand }) => BYTES[operand.type] === 2);
  const even = bits >= NAMES[0]![0] && seen > count / 2;
  const [has, must] = [bits, asked].map((x) => x.toFixed(1));
  const name = nameOf(bits, narrow);
  const wrong =
    `looks like ${name}: ${has} effective bits, and ${must} are asked`;
  return { bits, wrong, even };
}

/** Yields the errors of the elements of an output of which something is known. */
function* errorsOf({ operand, bytes, right, terms }: Summed): Generator<{
  readonly error: number;
  readonly norm: number;
  /** The last place of the element in its type. */
  readonly unit: number;
}> {
  const { cols, ld, type } = operand;
  if (terms === undefined || !isRounding(type)) return;
  const { rows, columns, norms } = terms;
  const places = rows.flatMap((i) => columns.map((j) => [i, j] as const));
  const wanted = places.map(([i, j]) => right[i * cols + j]!);
  const rounded = decode(encode(wanted, type), type);
  const valueAt = reader(bytes, type);
  for (const [at, [i, j]] of places.entries()) {
    const got = valueAt(i * ld + j);
    const [want, norm] = [rounded[at]!, norms[at]!];
    const error = Math.abs(got - want);
    // A ReLU leaves nothing of what is below 0.
    if (norm > 0 && Number.isFinite(error) && (got !== 0 || want !== 0)) {
      yield { error, norm, unit: unitOf(want, type) };
    }
  }
}

type Rounding = keyof typeof SIGNIFICANT_BITS;

function isRounding(type: DType): type is Rounding {
  return type in SIGNIFICANT_BITS;
}

/** Exponents of the least normal values. */
const LEAST: Readonly<Record<Rounding, number>> = {
  f64: -1022,
  f32: -126,
  f16: -14,
  bf16: -126,
};

function unitOf(x: number, type: Rounding): number {
  const least = LEAST[type];
  const exponent = x === 0 ? least : Math.floor(Math.log2(Math.abs(x)));
  return 2 ** (Math.max(exponent, least) - SIGNIFICANT_BITS[type] + 1);
}

/** Names of what has fewer bits than so many: of a result in 16 bits, and of a wider one. */
const NAMES: readonly (readonly [number, string, string])[] = [
  [6.5, "sums in 16 bits", "sums in 16 bits"],
  [10, "bf16 partial sums or a truncated result", "bf16"],
  [14, "fp16 partial sums", "TF32"],
  [19, "bf16x2", "bf16x2, or a long sum in one fp32 accumulator"],
  [Infinity, "rounded sums", "rounded sums"],
];

function nameOf(bits: number, narrow: boolean): string {
  const [, ofNarrow, ofWide] = NAMES.find(([below]) => bits < below)!;
  return narrow ? ofNarrow : ofWide;
}
