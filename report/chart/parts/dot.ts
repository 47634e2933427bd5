/**
 * A case as a point of a roofline.
 *
 * @module
 */

/** A case with a time, in the units of a roofline. */
export interface Dot {
  readonly kernel: string;
  /** Flops for each byte. */
  readonly intensity: number;
  /** 10¹² flops/s. */
  readonly tflops: number;
  /** The least to move. */
  readonly bytes: number;
  /** 10⁹ bytes/s. */
  readonly gbps: number;
}
