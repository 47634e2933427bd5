/**
 * Tiles cut along K too, so that all bins are full whatever the tiles are: a bin begins with what
 * the one before had no time for. Its part of that tile's sums is there long before the other
 * bin, at its end, asks for it.
 *
 * @module
 */

import type { Tile } from "./schedule.ts";

/** A tile, or a part of K of one. */
export interface Piece extends Tile {
  /** The first slab, and how many. */
  readonly first: number;
  readonly slabs: number;
  /** Into how many pieces its tile is cut, which of them this is, and which cut tile it is of. */
  readonly pieces: number;
  readonly piece: number;
  readonly cut: number;
}

/** What is to be cut, and for how many bins. */
export interface Stream {
  readonly tiles: readonly Tile[];
  readonly bins: number;
  slabsOf(tile: Tile): number;
  costsOf(tile: Tile): Costs;
}

/** Clocks of a tile besides its slabs, of each of these, and of a piece besides. */
export interface Costs {
  readonly fixed: number;
  readonly slab: number;
  readonly piece: number;
}

/** Slabs that a piece has at least, and of which it has a multiple unless it is the last. */
const [LEAST, STEP] = [4, 2];
const ROUNDS = 20;

/** `tile` as the one piece that it is. */
export function whole(tile: Tile, slabs: number): Piece {
  return { ...tile, first: 0, slabs, pieces: 1, piece: 0, cut: -1 };
}

/** The pieces of each bin, and about how many clocks the fullest takes. */
export function streamed(
  stream: Stream,
): { readonly bins: readonly (readonly Piece[])[]; readonly clocks: number } {
  const total = stream.tiles.reduce((sum, tile) => {
    const { fixed, slab } = stream.costsOf(tile);
    return sum + fixed + slab * stream.slabsOf(tile);
  }, 0);
  let low = total / stream.bins;
  let high = 2 * low;
  let best = filled(stream, high);
  while (best === undefined) best = filled(stream, high *= 2);
  for (let round = 0; round < ROUNDS; round++) {
    const clocks = (low + high) / 2;
    const found = filled(stream, clocks);
    if (found === undefined) low = clocks;
    else [high, best] = [clocks, found];
  }
  return { bins: best, clocks: high };
}

/** Fills one bin after another up to `capacity`, if all tiles have room. */
function filled(stream: Stream, capacity: number): Piece[][] | undefined {
  const bins: Piece[][] = [[]];
  let [room, cuts] = [capacity, 0];
  for (const tile of stream.tiles) {
    const { fixed, slab, piece: more } = stream.costsOf(tile);
    const slabs = stream.slabsOf(tile);
    const parts: { first: number; slabs: number; bin: number }[] = [];
    for (let first = 0; first < slabs;) {
      const whole = first === 0 && fixed + slabs * slab <= room;
      const cost = whole ? fixed : fixed + more;
      const taken = taking(slabs - first, (room - cost) / slab);
      if (taken > 0) {
        parts.push({ first, slabs: taken, bin: bins.length - 1 });
        room -= cost + taken * slab;
        first += taken;
      } else if (room === capacity) return undefined;
      if (first < slabs) {
        if (bins.length === stream.bins) return undefined;
        bins.push([]);
        room = capacity;
      }
    }
    const cut = parts.length > 1 ? cuts++ : -1;
    parts.forEach(({ bin, ...part }, piece) =>
      bins[bin]!.push({ ...tile, ...part, pieces: parts.length, piece, cut })
    );
  }
  return bins;
}

/** How many of `left` slabs are taken where there is room for `room`. */
function taking(left: number, room: number): number {
  if (left <= room) return left;
  const most = Math.min(room, left - LEAST);
  const taken = Math.floor(most / STEP) * STEP;
  return taken < LEAST ? 0 : taken;
}
